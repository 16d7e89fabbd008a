package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
)

// CLI-1702, CLI-1718: a release for all systems has its files. From another folder it has the same bytes. A changed
// byte in each file is found.
func TestSystems(t *testing.T) {
	if os.Getenv("MCPBASH_TEST_LONG") == "" {
		t.Skip("left out: it builds all programs for six systems, twice; set MCPBASH_TEST_LONG=1")
	}
	var systems []string
	for _, one := range runtimes.Targets {
		systems = append(systems, one.String())
	}
	dir := t.TempDir()
	checkout := filepath.Join(dir, "a copy")
	copyTree(t, "..", checkout)
	options := []string{"-targets", strings.Join(systems, ","), "-commit", commitOf(t, ".."),
		"-base-url", "https://github.com/me/mcp-bash/releases/download"}
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	start := time.Now()
	if err := run("..", first, "022", options, "TZ=UTC"); err != nil {
		t.Fatal(err)
	}
	t.Logf("the first took %v", time.Since(start).Round(time.Second))
	if err := run(checkout, second, "077", options, "TZ=Asia/Kathmandu", "GOAMD64=v3"); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("diff", "-rq", first, second).CombinedOutput(); err != nil {
		t.Errorf("the second differs: %s", out)
	}

	list, err := os.ReadDir(first)
	if err != nil {
		t.Fatal(err)
	}
	// Versions, systems and processors are replaced, so the files of each kind have one name.
	replaced := regexp.MustCompile(`(windows|linux|darwin|win32)[-_](amd64|arm64|x64)|py3-none-.*[46]|` +
		`(amd64|arm64)\.deb|(x86_64|aarch64)\.rpm`)
	kinds, sizes, total := map[string]int{}, map[string]int64{}, int64(0)
	for _, d := range list {
		info, err := d.Info()
		if err != nil {
			t.Fatal(err)
		}
		kind := replaced.ReplaceAllString(strings.ReplaceAll(d.Name(), cli.Version, "V"), "S")
		kinds[kind]++
		sizes[kind] += info.Size()
		total += info.Size()
	}
	want := map[string]int{
		"mcp-bash-vV-S.tar.gz": 4, "mcp-bash-vV-S.tar.gz.minisig": 4, "mcp-bash-vV-S.tar.gz.cdx.json": 4,
		"mcp-bash-vV-S.zip": 2, "mcp-bash-vV-S.zip.minisig": 2, "mcp-bash-vV-S.zip.cdx.json": 2,
		"mcp-otel-vV-S.tar.gz": 4, "mcp-otel-vV-S.tar.gz.minisig": 4, "mcp-otel-vV-S.tar.gz.cdx.json": 4,
		"mcp-otel-vV-S.zip": 2, "mcp-otel-vV-S.zip.minisig": 2, "mcp-otel-vV-S.zip.cdx.json": 2,
		"mcp-bash_V_S": 2, "mcp-bash-V-1.S": 2, "mcp_bash-V-S.whl": 6,
		"mcp-bash-V.tgz": 1, "mcp-bash-tools-S-V.tgz": 6, "mcp-bash-runtime-S-V.tgz": 6,
		"mcp-bash-vV-runtimes.tar.gz": 1, "mcp-bash-vV-sbom.cdx.json": 1, "mcp-bash-vV-provenance.intoto.json": 1,
		"mcp-bash.rb": 1, "mcp-bash.json": 1, "mcp-bash.aqua.yaml": 1, "mcp-bash.pub": 1, "README.md": 1, "install.sh": 1,
		"SHA256SUMS": 1, "SHA256SUMS.minisig": 1, "SHA256SUMS.sig": 1,
	}
	for kind, number := range want {
		if kinds[kind] != number {
			t.Errorf("%d files %s, not %d", kinds[kind], kind, number)
		}
		t.Logf("%2d %-36s %10d bytes", number, kind, sizes[kind])
	}
	for kind := range kinds {
		if want[kind] == 0 {
			t.Errorf("the release has %s", kind)
		}
	}
	t.Logf("%d files, %d bytes", len(list), total)
	checkRelease(t, first)
	if left, err := filepath.Glob(filepath.Join(dir, ".release.*")); err != nil || !slices.Equal(left, nil) {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
