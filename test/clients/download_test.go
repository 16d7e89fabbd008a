//go:build unix

package clients

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
	"mcp-bash/test/checkout"
)

// examples/07-download. An https provider in this test's tree serves invented pages (SDK-163).
func TestDownload(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "07-download")
	env := map[string]string{
		"MCPBASH_HOME":        installation(t, filepath.Join("testdata", "provider")),
		"MCP_DOWNLOAD_CONFIG": `{"allow":["files.example","example.com"],"timeout":9}`,
	}
	s := open(t, project, opening{env: env})

	type answer struct {
		Success bool
		Bytes   int
		Path    string
	}
	const want = "at most 1048576 bytes in 9 seconds\n" // the example's and the operator's settings, merged (SDK-150)
	got := structured[answer](t, s.succeed("fetch", arguments{"url": "https://files.example/page", "name": "page.txt"}))
	if got != (answer{true, len(want), "downloads/page.txt"}) {
		t.Errorf("%+v", got)
	}
	if data, err := os.ReadFile(filepath.Join(project, "downloads", "page.txt")); err != nil || string(data) != want {
		t.Errorf("%q, %v", data, err)
	}
	s.succeed("fetch", arguments{"url": "https://files.example/flaky", "name": "flaky.txt"}) // SDK-164

	for url, kind := range map[string]string{ // SDK-161, SDK-162
		"https://secret.example/page": "host_blocked", "https://files.example/moved": "redirect",
		"https://files.example/large": "size_exceeded", "http://files.example/page": "invalid_url",
	} {
		s.refuse("fetch", arguments{"url": url, "name": "nothing"}, kind)
	}
	s.fail("fetch", arguments{"url": "https://files.example/page", "name": "../page"}, -32602,
		".name must be a plain file name")
	if list, err := os.ReadDir(filepath.Join(project, "downloads")); err != nil || len(list) != 2 {
		t.Errorf("%v, %v: more than the two pages", list, err)
	}
}

// examples/07-download as it comes, with the file config/download.json.
func TestDownloadConfigFile(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "07-download")
	env := map[string]string{"MCPBASH_HOME": installation(t, filepath.Join("testdata", "provider"))}
	s := open(t, project, opening{env: env})
	s.refuse("fetch", arguments{"url": "https://files.example/page", "name": "a"}, "host_blocked")
	write(t, `{"allow":["files.example"]}`, project, "config", "download.json")
	s.succeed("fetch", arguments{"url": "https://files.example/page", "name": "a"})
}

// The same with the tree that is in the binary: its provider is the real one,
// which refuses without a network (SDK-163, README decision 8).
func TestDownloadRefused(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "07-download")
	env := map[string]string{"MCP_DOWNLOAD_CONFIG": `{"allow":["localhost","127.0.0.1","10.0.0.1"]}`}
	s := open(t, project, opening{env: env})
	for _, host := range []string{"example.org", "localhost", "127.0.0.1", "10.0.0.1:8443", "0x7f000001",
		"user@localhost"} {
		s.refuse("fetch", arguments{"url": "https://" + host + "/", "name": "nothing"}, "host_blocked")
	}
}

// installation makes a tree as an installation has it, with these providers.
func installation(t *testing.T, providers string) string {
	t.Helper()
	home := checkout.Directory(t)
	write(t, cli.Version+"\n", home, "VERSION")
	for from, to := range map[string]string{
		filepath.Join(checkout.Root(), "sdk"): "sdk", filepath.Join(checkout.Root(), "lib"): "lib", providers: "providers",
	} {
		files, err := filepath.Glob(filepath.Join(from, "*.sh"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %q, %v", from, files, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			write(t, string(data), home, to, strings.TrimPrefix(file, from+string(filepath.Separator)))
		}
	}
	return home
}
