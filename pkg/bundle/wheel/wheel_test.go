package wheel

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
)

// PKG-202: names and versions become those of pip, or are refused with the remedy.
func TestNames(t *testing.T) {
	for _, c := range []struct{ name, version, want string }{
		{"My.Tools", "1.0.0", "my-tools my_tools-1.0.0"},
		{"a__b", "2024.1", "a-b a_b-2024.1"},
		{"tools", "1.0.0-rc.1", "tools tools-1.0.0rc1"},
		{"tools", "1.0.0-beta.2", "tools tools-1.0.0b2"},
		{"tools", "1.0.0-nightly", "--version"},
		{"tools", "v1", "--version"},
		{"-tools", "1.0.0", "--name"},
		{"my tools", "1.0.0", "--name"},
		{"mcp_bash", "1.0.0", "--name"},
	} {
		w, err := describe(stage.Identity{Name: c.name, Version: c.version})
		if err == nil && w.Name+" "+w.base() != c.want || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %+v, %v; want %s", c.name, c.version, w, err, c.want)
		}
	}
}

// read lists the files of a wheel with Python: the mode, and whether RECORD has the hash and the size.
const read = `
import base64, csv, hashlib, io, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
infos = z.infolist()
record = [i.filename for i in infos if i.filename.endswith(".dist-info/RECORD")][0]
rows = {r[0]: r[1:] for r in csv.reader(io.StringIO(z.read(record).decode()))}
assert sorted(rows) == sorted(i.filename for i in infos), rows
for i in infos:
    body = z.read(i)
    digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
    if i.filename != record:
        assert rows[i.filename] == ["sha256=" + digest, str(len(body))], i.filename
    print(oct(i.external_attr >> 16), i.filename)
`

// PKG-201: the files of a wheel as Python reads them. The same files make the same bytes.
func TestWheelFiles(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("program"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := &Wheel{stage.Identity{Name: "my-tools", Version: "1.0.0", Description: "a\nb"}, ""}
	bin := runtimes.Binary{Target: runtimes.Target{OS: "linux", Arch: "amd64"}, File: program, Size: 7}
	content := []mcpb.File{
		mcpb.Bytes("LICENSE", false, []byte("free")),
		mcpb.Bytes("README.md", false, []byte("read")),
		mcpb.Bytes("server/.mcp-bash/bin/mcp-bash", true, nil),
		mcpb.Bytes("server/run-server.sh", true, nil),
		mcpb.Bytes("server/tools/a, b/tool.sh", true, []byte("#!/bin/sh\n")),
	}
	files, err := w.Complete(w.files(content, bin, "LICENSE"), bin.Target)
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := mcpb.Write(t.Context(), out, files, mcpb.Epoch, nil); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "w.whl")
	if err := os.WriteFile(file, first.Bytes(), 0o600); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Fatal("not the same bytes", err)
	}
	got, err := exec.Command(python, "-c", read, file).CombinedOutput()
	const want = `0o100755 my_tools-1.0.0.data/data/share/my-tools/project/tools/a, b/tool.sh
0o100755 my_tools-1.0.0.data/scripts/my-tools
0o100644 my_tools-1.0.0.dist-info/METADATA
0o100644 my_tools-1.0.0.dist-info/WHEEL
0o100644 my_tools-1.0.0.dist-info/licenses/LICENSE
0o100644 my_tools-1.0.0.dist-info/RECORD
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// PKG-203: a space follows the server's name, and no value adds a line.
func TestMetadata(t *testing.T) {
	w := &Wheel{stage.Identity{Description: "a\nName: b", RegistryName: "io.github.me/x"}, ""}
	text := string(w.metadata())
	if !strings.Contains(text, "\nSummary: a Name: b\n") ||
		!strings.HasSuffix(text, "\n<!-- mcp-name: io.github.me/x -->\n") {
		t.Error(text)
	}
}
