//go:build registry && linux

package registry

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// publishPackages makes a package of npm and a wheel in a folder of products. Then the hosts have all its products.
func (w *world) publishPackages(dist string) {
	w.Helper()
	const packageJSON = `{"name":"@ada/greeter","version":"1.0.0","bin":"start.js","mcpName":"io.github.ada/greeter"}`
	const metadata = "Metadata-Version: 2.1\nName: greeter\nVersion: 1.0.0\nSummary: Greets people\n\n" +
		"# Greeter\n\n<!-- mcp-name: io.github.ada/greeter -->\n"
	dir := filepath.Join(w.TempDir(), "package")
	if err := os.Mkdir(dir, 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(packageJSON), 0o644); err != nil {
		w.Fatal(err)
	}
	archive := filepath.Join(dist, "greeter.tgz")
	pack := exec.Command("tar", "-C", filepath.Dir(dir), "-czf", archive, "package/package.json")
	if out, err := pack.CombinedOutput(); err != nil {
		w.Fatalf("%v\n%s", err, out)
	}
	var wheel bytes.Buffer
	z := zip.NewWriter(&wheel)
	in, err := z.Create("greeter-1.0.0.dist-info/METADATA")
	if err != nil {
		w.Fatal(err)
	}
	io.WriteString(in, metadata)
	if err := z.Close(); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dist, "greeter-1.0.0-py3-none-any.whl"), wheel.Bytes(), 0o644); err != nil {
		w.Fatal(err)
	}
	_, description, _ := strings.Cut(metadata, "\n\n")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.packages["/@ada/greeter/1.0.0"] = map[string]string{"mcpName": "io.github.ada/greeter"}
	w.packages["/pypi/greeter/1.0.0/json"] = map[string]any{"info": map[string]string{"description": description}}
	w.releases[release] = true
	w.images["ada/greeter"] = filepath.Join(dist, "image")
}
