//go:build unix

package clients

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
	"mcp-bash/test/internet"
)

// The address of the tests' one server on the internet, which programs reach
// through a proxy. It is one for documentation: nothing routes it.
const publicHost = "203.0.113.1"

// site is what the server at [publicHost] has: a few pages, and the repository
// of pkg/provider/git/testdata.
func site(t *testing.T) http.Handler {
	pack, err := os.ReadFile(filepath.Join(checkout.Root(), "pkg", "provider", "git", "testdata", "offset.pack"))
	if err != nil {
		t.Fatal(err)
	}
	const commit = "1327f98184bb6d9a924707e1c8d5e5b4fe4c5a79"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		fmt.Fprintf(w, "for %s\n", q.UserAgent())
	})
	mux.HandleFunc("GET /picture", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		w.Write([]byte("\x89PNG\r\n\x00\xff"))
	})
	mux.HandleFunc("GET /moved", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "https://10.0.0.1/page")
		w.WriteHeader(http.StatusFound)
	})
	mux.HandleFunc("GET /large", func(w http.ResponseWriter, _ *http.Request) { io.CopyN(w, zeros{}, 2<<20) })
	mux.HandleFunc("GET /stuck", func(w http.ResponseWriter, q *http.Request) {
		io.WriteString(w, "the beginning")
		w.(http.Flusher).Flush()
		<-q.Context().Done()
	})
	mux.HandleFunc("GET /docs.git/info/refs", func(w http.ResponseWriter, _ *http.Request) {
		line := commit + " HEAD\x00shallow ofs-delta\n"
		fmt.Fprintf(w, "%04x%s0000", len(line)+4, line)
	})
	mux.HandleFunc("POST /docs.git/git-upload-pack", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "0034shallow %s00000008NAK\n%s", commit, pack)
	})
	return mux
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// online is the environment in which a program reaches that server.
func online(t *testing.T) map[string]string {
	in := internet.New(t)
	in.Host(publicHost, publicHost, internet.HTTP(site(t)))
	const scripts = "HTTPS_PROXY SSL_CERT_FILE GORACE MCP_DOWNLOAD_CONFIG" // scripts get these variables too
	return map[string]string{
		"HTTPS_PROXY": in.Proxy(), "SSL_CERT_FILE": in.RootsAt,
		"MCPBASH_HTTPS_ALLOW_HOSTS": publicHost, "MCPBASH_GIT_ALLOW_HOSTS": publicHost,
		"MCPBASH_ENABLE_GIT_PROVIDER": "true",
		"MCPBASH_TOOL_ENV_MODE":       "allowlist", "MCPBASH_TOOL_ENV_ALLOWLIST": scripts,
		"MCPBASH_PROVIDER_ENV_MODE": "allowlist", "MCPBASH_PROVIDER_ENV_ALLOWLIST": scripts,
	}
}

// Resources from the network, read by a client (RES-40, RES-110,
// RES-113, RES-121).
func TestNetworkResources(t *testing.T) {
	t.Parallel()
	project := checkout.Directory(t)
	write(t, `{"name":"net"}`, project, "server.d", "server.meta.json")
	// A project's provider that hands over to the built-in one (RES-2).
	write(t, `exec "${MCPBASH_HOME}/providers/https.sh" "https://`+publicHost+`/${1#site://}"`, project, "providers",
		"site.sh")
	write(t, `{"name":"site","uriTemplate":"site://{page}"}`, project, "resources", "site.meta.json")
	s := open(t, project, opening{env: online(t)})
	const numbers = "1\n2\n3\n4\n5\n"
	for uri, want := range map[string]mcp.ResourceContents{
		"https://" + publicHost + "/page": {MIMEType: "text/markdown", Text: "for mcpbash/2.0.0\n"},
		"https://" + publicHost + "/picture": {MIMEType: "image/png",
			Blob: []byte("\x89PNG\r\n\x00\xff")},
		"git+https://" + publicHost + "/docs.git#a/base":    {MIMEType: "text/plain", Text: numbers},
		"git+https://" + publicHost + "/docs.git#:a%2Flink": {MIMEType: "text/plain", Text: numbers},
		"site://page": {MIMEType: "text/plain", Text: "for mcpbash/2.0.0\n"},
	} {
		result, err := s.ReadResource(s.deadline(), &mcp.ReadResourceParams{URI: uri})
		if err != nil || len(result.Contents) != 1 {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		got := result.Contents[0]
		if got.URI != uri || got.MIMEType != want.MIMEType || !strings.HasPrefix(got.Text, want.Text) ||
			!bytes.Equal(got.Blob, want.Blob) {
			t.Errorf("%s: %+v", uri, got)
		}
	}
	for uri, want := range map[string]string{
		"https://" + publicHost + "/moved": "redirect:https://10.0.0.1/page",
		"https://" + publicHost + "/none":  "HTTP error: 404",
		"https://10.0.0.1/page":            "HTTPS provider blocked host 10.0.0.1",
		"https://203.0.113.2/page":         "HTTPS provider blocked host 203.0.113.2",
		"site://moved":                     "redirect:https://10.0.0.1/page",
		"git+https://" + publicHost + "/none.git#x": "Failed to clone https://" + publicHost +
			"/none.git @ HEAD",
		"git+https://" + publicHost + "/docs.git#none": "Resource not found",
		"git+https://" + publicHost + "/docs.git#main:a/b": "Failed to clone https://" + publicHost +
			"/docs.git @ main",
		"git+https://[::1]/docs.git#x": "git provider blocked host ::1",
	} {
		if _, err := s.ReadResource(s.deadline(), &mcp.ReadResourceParams{URI: uri}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", uri, err, want)
		}
	}
}

// examples/07-download with the real provider and a server to download from.
func TestNetworkDownload(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "07-download")
	env := online(t)
	env["MCP_DOWNLOAD_CONFIG"] = `{"allow":["` + publicHost + `"]}`
	s := open(t, project, opening{env: env})
	s.succeed("fetch", arguments{"url": "https://" + publicHost + "/page", "name": "page.txt"})
	if data, err := os.ReadFile(filepath.Join(project, "downloads", "page.txt")); err != nil ||
		string(data) != "for mcpbash/2.0.0 (tool-sdk)\n" {
		t.Errorf("%q, %v", data, err)
	}
	for path, kind := range map[string]string{"/moved": "redirect", "/large": "size_exceeded",
		"/none": "network_error"} { // SDK-162
		s.refuse("fetch", arguments{"url": "https://" + publicHost + path, "name": "nothing"}, kind)
	}
	s.refuse("fetch", arguments{"url": "https://10.0.0.1/page", "name": "nothing"}, "host_blocked")
	if list, err := os.ReadDir(filepath.Join(project, "downloads")); err != nil || len(list) != 1 {
		t.Errorf("%v, %v: more than the page", list, err)
	}
}

// The provider as a program (RES-2): whole or not at all, also when it
// is ended.
func TestNetworkProgram(t *testing.T) {
	t.Parallel()
	env := environment("", checkout.Directory(t), online(t))
	provider := func(uri string) (*exec.Cmd, *bytes.Buffer, *bytes.Buffer) {
		var out, errOut bytes.Buffer
		cmd := exec.Command(filepath.Join(bin, "mcp-bash"), "provider", "https", uri)
		cmd.Env, cmd.Stdout, cmd.Stderr = env, &out, &errOut
		return cmd, &out, &errOut
	}
	cmd, out, errOut := provider("https://" + publicHost + "/picture")
	if err := cmd.Run(); err != nil || out.String() != "\x89PNG\r\n\x00\xff" || errOut.Len() > 0 {
		t.Errorf("%v, %q, %q", err, out, errOut)
	}
	for path, want := range map[string]struct {
		code   int
		output string
	}{"/moved": {7, "redirect:https://10.0.0.1/page\n"}, "/none": {5, "HTTP error: 404\n"}} {
		cmd, out, errOut := provider("https://" + publicHost + path)
		if cmd.Run(); cmd.ProcessState.ExitCode() != want.code || out.Len() > 0 || errOut.String() != want.output {
			t.Errorf("%s: %v, %q, %q", path, cmd.ProcessState, out, errOut)
		}
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd, out, _ := provider("https://" + publicHost + "/stuck")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmd.Process.Signal(signal)
		cmd.Wait()
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != signal ||
			out.Len() > 0 {
			t.Errorf("%v: %v, %q", signal, cmd.ProcessState, out)
		}
	}
}
