package product

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/project"
)

// An entry is an entry of an archive. Without a kind it is a regular file.
type entry struct {
	name, text string
	kind       byte
}

func files(pairs ...string) (list []entry) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, entry{name: pairs[i], text: pairs[i+1]})
	}
	return list
}

func tarOf(t testing.TB, list []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range list {
		h := &tar.Header{Name: e.name, Mode: 0o755, Typeflag: e.kind, Size: int64(len(e.text))}
		if e.kind == tar.TypeSymlink || e.kind == tar.TypeLink {
			h.Linkname, h.Size = e.text, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			w.Write([]byte(e.text))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	return b.Bytes()
}

func zipOf(t testing.TB, list []entry) []byte {
	t.Helper()
	var packed []mcpb.File
	for _, e := range list {
		packed = append(packed, mcpb.Bytes(e.name, true, []byte(e.text)))
	}
	var b bytes.Buffer
	if err := mcpb.Write(t.Context(), &b, packed, mcpb.Epoch, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// layout returns the files of an OCI layout with an image for each platform, of the layers.
func layout(t testing.TB, env string, platforms map[string][][]byte) []entry {
	t.Helper()
	var list []entry
	put := func(text []byte) string {
		sum := fmt.Sprintf("%x", sha256.Sum256(text))
		if !slices.ContainsFunc(list, func(e entry) bool { return strings.HasSuffix(e.name, sum) }) {
			list = append(list, entry{name: "blobs/sha256/" + sum, text: string(text)})
		}
		return "sha256:" + sum
	}
	document := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return put(text)
	}
	type object = map[string]any
	var images []object
	for _, arch := range slices.Sorted(maps.Keys(platforms)) {
		var layers []object
		for _, layer := range platforms[arch] {
			layers = append(layers, object{"digest": put(layer), "size": len(layer)})
		}
		config := document(object{"os": "linux", "architecture": arch, "config": object{"Env": []string{env}}})
		images = append(images, object{"digest": document(object{"config": object{"digest": config}, "layers": layers})})
	}
	index := object{"manifests": images}
	if len(images) > 1 {
		index = object{"manifests": []object{{"mediaType": "application/vnd.oci.image.index.v1+json",
			"digest": document(index)}}}
	}
	text, _ := json.Marshal(index)
	return append(list, files("index.json", string(text), "oci-layout", "{}")...)
}

const served = "MCPBASH_PROJECT_ROOT=/srv/project"

func save(t testing.TB, text []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "product")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func folderOf(t testing.TB, list []entry) string {
	t.Helper()
	dir := t.TempDir()
	for _, e := range list {
		file := filepath.Join(dir, e.name)
		err := os.MkdirAll(filepath.Dir(file), 0o755)
		if e.kind == tar.TypeSymlink {
			err = errors.Join(err, os.Symlink(e.text, file))
		} else {
			err = errors.Join(err, os.WriteFile(file, []byte(e.text), 0o755))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// in returns files with a folder prepended to their names.
func in(dir string, list []entry) (moved []entry) {
	for _, e := range list {
		e.name = dir + e.name
		moved = append(moved, e)
	}
	return moved
}

var demo = files("server.d/server.meta.json", `{"name": "demo"}`, "tools/a/tool.sh", "echo")

// LOCK-20: Open finds the project in every kind of product, as an archive and as a folder.
func TestOpen(t *testing.T) {
	npm := files("package.json", `{"mcpBash": {"project": "server"}}`, "start.js", "")
	plugin := append(files(".claude-plugin/plugin.json", "{}"), in("server/", demo)...)
	bundle := append(files("manifest.json", "{}"), in("server/", demo)...)
	wheel := append(files("demo-1.0.dist-info/METADATA", "Name: demo"),
		in("demo-1.0.data/data/share/demo/project/", demo)...)
	layer := gzipped(tarOf(t, in("srv/project/", demo)))
	base := gzipped(tarOf(t, files("opt/mcp-bash/bin/mcp-bash", "ELF", "usr/bin/env", "ELF")))
	oci := layout(t, served, map[string][][]byte{"amd64": {base, layer}, "arm64": {layer}})
	for _, tc := range []struct {
		name, file string
		kind       Kind
		prefix     string
		files      int
	}{
		{"bundle", save(t, zipOf(t, bundle)), Bundle, "server/", 3},
		{"bundle folder", folderOf(t, bundle), Bundle, "server/", 3},
		{"plugin archive", save(t, zipOf(t, plugin)), kindPlugin, "server/", 3},
		{"plugin folder", folderOf(t, append(plugin, files("server.d/server.meta.json", "{}")...)), kindPlugin, "server/", 4},
		{"npm", save(t, gzipped(tarOf(t, in("package/", append(npm, in("server/", demo)...))))), NPM, "server/", 4},
		{"npm folder", folderOf(t, append(npm, in("server/", demo)...)), NPM, "server/", 4},
		{"npm runtime", save(t, gzipped(tarOf(t, files("package/package.json", "{}", "package/bin/mcp-bash", "ELF")))),
			NPM, "", 2},
		{"wheel", save(t, zipOf(t, wheel)), Wheel, "demo-1.0.data/data/share/demo/project/", 3},
		{"image", save(t, tarOf(t, oci)), Image, "srv/project/", 6},
		{"image folder", folderOf(t, oci), Image, "srv/project/", 6},
		{"project", folderOf(t, append(demo, files("package.json", "{}", "manifest.json", "{}", ".git/x", "")...)),
			kindProject, "", 4},
		{"project with links", folderOf(t, append(demo, entry{"out", "/etc/passwd", tar.TypeSymlink})), kindProject, "", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := Open(project.OSEnv(), tc.file)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if p.Kind != tc.kind || p.Prefix != tc.prefix || len(p.Files) != tc.files || len(p.Document) == 0 {
				t.Errorf("%s %q %q %v", p.Kind, p.Prefix, p.Document, p.Files)
			}
			if tc.name == "npm runtime" {
				if p.Dir != "" {
					t.Errorf("%q", p.Dir)
				}
				return
			}
			text, err := os.ReadFile(filepath.Join(p.Dir, "tools", "a", "tool.sh"))
			want := File{4, true, fmt.Sprintf("%x", sha256.Sum256([]byte("echo")))}
			if err != nil || string(text) != "echo" || p.Files[p.Prefix+"tools/a/tool.sh"] != want {
				t.Errorf("%q %v %v", text, err, p.Files)
			}
		})
	}
}

// LOCK-22: hostile products are errors, and leave nothing in the temporary directory.
func TestHostile(t *testing.T) {
	root := t.TempDir()
	env := project.Env{"MCPBASH_TMP_ROOT": root}
	npm := files("package/package.json", `{"mcpBash": {"project": "server"}}`)
	packed := func(list ...entry) string {
		return save(t, gzipped(tarOf(t, append(append(npm, in("package/server/", demo)...), list...))))
	}
	layer := gzipped(tarOf(t, in("srv/project/", demo)))
	pictured := func(layers ...[]byte) string {
		return save(t, tarOf(t, layout(t, served, map[string][][]byte{"amd64": layers})))
	}
	more := func(list ...entry) string { return pictured(layer, gzipped(tarOf(t, list))) }
	damaged := layout(t, served, map[string][][]byte{"amd64": {layer}})
	damaged[0].text = damaged[0].text[:4] + "\x01" + damaged[0].text[5:]
	wheel := append(files("a-1.dist-info/METADATA", "x"), in("a-1.data/data/share/a/project/", demo)...)
	for name, tc := range map[string]struct{ file, want string }{
		"missing":           {filepath.Join(root, "missing"), "no such file"},
		"empty":             {save(t, nil), "not a bundle"},
		"text":              {save(t, []byte("text")), "not a bundle"},
		"other archive":     {save(t, zipOf(t, files("a", "b"))), "not a bundle"},
		"empty folder":      {t.TempDir(), "not a bundle"},
		"gzip of text":      {save(t, gzipped([]byte("text"))), "unexpected EOF"},
		"leads out":         {packed(entry{name: "package/../../x"}), "not a regular file in the folder package"},
		"out of the folder": {packed(entry{name: "other/x"}), "not a regular file in the folder package"},
		"backslash":         {packed(entry{name: `package/a\b`}), "backslash"},
		"link":              {packed(entry{"package/server/l", "/etc/passwd", tar.TypeSymlink}), "not a regular file"},
		"hard link":         {packed(entry{"package/server/l", "package/start.js", tar.TypeLink}), "not a regular file"},
		"device":            {packed(entry{"package/server/l", "", tar.TypeChar}), "not a regular file"},
		"twice":             {packed(entry{name: "package/server/tools/a/tool.sh"}), "twice"},
		"case":              {packed(entry{name: "package/server/TOOLS/a/tool.sh"}), "one name on macOS"},
		"another project":   {packed(in("package/project/", demo)...), "two documents or two projects"},
		"two documents":     {packed(npm...), "two documents or two projects"},
		"two wheels":        {save(t, zipOf(t, append(wheel, files("b-1.dist-info/METADATA", "")...))), "two documents"},
		"two wheel projects": {save(t, zipOf(t, append(wheel, in("a-1.data/data/share/b/project/", demo)...))),
			"two projects"},
		"after the end":  {save(t, gzipped(append(tarOf(t, npm), "hidden"...))), "bytes after the end"},
		"second archive": {save(t, gzipped(append(tarOf(t, npm), tarOf(t, npm)...))), "bytes after the end"},
		"plugin with a link": {folderOf(t, append(append(files(".claude-plugin/plugin.json", "{}"), in("server/", demo)...),
			entry{"server/l", "/etc/passwd", tar.TypeSymlink})), "not a regular file"},
		"other hash":          {save(t, tarOf(t, damaged)), "another hash"},
		"no layer":            {pictured(), "not in one layer"},
		"other root":          {save(t, tarOf(t, layout(t, "A=b", map[string][][]byte{"amd64": {layer}}))), "does not serve"},
		"no images":           {save(t, tarOf(t, files("index.json", "{}"))), "an index of 0 images"},
		"missing blob":        {save(t, tarOf(t, damaged[1:])), "not exist"},
		"upper layer":         {more(entry{name: "srv/project/tools/a/tool.sh", text: "evil"}), "not in one layer"},
		"upper layer by dots": {more(entry{name: "./srv/../srv/project/x", text: "evil"}), "not in one layer"},
		"absolute name":       {more(entry{name: "/srv/project/x", text: "evil"}), "not in one layer"},
		"whiteout":            {more(entry{name: "srv/project/tools/a/.wh.tool.sh"}), "not in one layer"},
		"whiteout of project": {more(entry{name: "srv/.wh.project"}), "not in one layer"},
		"opaque":              {more(entry{name: "srv/.wh..wh..opq"}), "not in one layer"},
		"whiteout of srv":     {more(entry{name: ".wh.srv"}), "not in one layer"},
		"link above":          {more(entry{"srv", "evil", tar.TypeSymlink}), "not in one layer"},
		"link in the project": {pictured(gzipped(tarOf(t, append(in("srv/project/", demo),
			entry{"srv/project/l", "/", tar.TypeSymlink})))), "not a regular file"},
		"other platform": {save(t, tarOf(t, layout(t, served, map[string][][]byte{"amd64": {layer},
			"arm64": {gzipped(tarOf(t, files("srv/project/x", "evil")))}}))), "not in one layer"},
		"server twice": {pictured(layer, gzipped(tarOf(t, files("opt/mcp-bash/bin/mcp-bash", "1"))),
			gzipped(tarOf(t, files("opt/mcp-bash/bin/mcp-bash", "2")))), "twice"},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Open(env, tc.file)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
			if p != nil {
				t.Error("a product, too")
			}
		})
	}
	if list, err := os.ReadDir(root); err != nil || len(list) > 0 {
		t.Errorf("%v %v", list, err)
	}
}

// LOCK-22: the limits on sizes, on files and on documents.
func TestLimits(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	w.WriteHeader(&tar.Header{Name: "package/package.json", Size: mcpb.MaxManifest + 1, Mode: 0o644})
	w.Write(make([]byte, mcpb.MaxManifest+1))
	w.Close()
	z.Close()
	if _, err := Open(project.OSEnv(), save(t, b.Bytes())); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Error(err)
	}
	list := files("package/package.json", "{}")
	for i := range mcpb.MaxEntries {
		list = append(list, entry{name: fmt.Sprintf("package/%d", i)})
	}
	if _, err := Open(project.OSEnv(), save(t, gzipped(tarOf(t, list)))); err == nil ||
		!strings.Contains(err.Error(), "50000 files") {
		t.Error(err)
	}
	b.Reset()
	z.Reset(&b)
	w = tar.NewWriter(z)
	w.WriteHeader(&tar.Header{Name: "package/package.json", Mode: 0o644, Size: 2})
	w.Write([]byte("{}"))
	w.WriteHeader(&tar.Header{Name: "package/bomb", Size: mcpb.MaxTotal, Mode: 0o644})
	w.Flush()
	z.Close()
	if _, err := Open(project.OSEnv(), save(t, b.Bytes())); err == nil {
		t.Error("a bomb")
	}
}

// LOCK-22: any bytes are an error, or a product whose files have valid names. Files of the project are copied.
func FuzzOpen(f *testing.F) {
	f.Add(zipOf(f, append(files("manifest.json", "{}"), in("server/", demo)...)))
	f.Add(gzipped(tarOf(f, in("package/", append(files("package.json", `{"mcpBash": {"project": "server"}}`),
		in("server/", demo)...)))))
	f.Add(tarOf(f, layout(f, served, map[string][][]byte{"amd64": {tarOf(f, in("srv/project/", demo))}})))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Open(project.Env{"MCPBASH_TMP_ROOT": t.TempDir()}, save(t, text))
		if err != nil {
			return
		}
		defer p.Close()
		for name, file := range p.Files {
			if !filepath.IsLocal(name) || len(file.SHA256) != 64 {
				t.Fatalf("%q %v", name, file)
			}
			if rest, ok := strings.CutPrefix(name, p.Prefix); ok && p.Dir != "" {
				if info, err := os.Lstat(filepath.Join(p.Dir, rest)); err != nil || info.Size() != file.Size {
					t.Fatal(err)
				}
			}
		}
	})
}

// The documents of products have their names, versions and servers.
func TestAbout(t *testing.T) {
	for _, tc := range []struct {
		kind Kind
		text string
		want About
	}{
		{NPM, `{"name":"@you/demo","version":"1.0.0","description":"d","mcpName":"a/bb","bin":"start.js"}`,
			About{Name: "@you/demo", Version: "1.0.0", Description: "d", Servers: []string{"a/bb"}}},
		{Bundle, `{"name":"demo","version":"1.0.0","display_name":"Demo"}`,
			About{Name: "demo", Version: "1.0.0", Title: "Demo"}},
		{Wheel, "Metadata-Version: 2.1\r\nName: demo\r\nVersion: 1.0rc1\r\nSummary: It: shows\r\n\r\n" +
			"mcp-name: a/bb\r\nName: other\n<!-- mcp-name: c/dd--> mcp-name: e/ff. \n",
			About{Name: "demo", Version: "1.0rc1", Description: "It: shows", Servers: []string{"a/bb", "c/dd", "e/ff."}}},
		{Wheel, "Name: demo\nSummary: mcp-name: a/bb", About{Name: "demo", Description: "mcp-name: a/bb"}},
		{Image, `{"config":{"Labels":{"io.modelcontextprotocol.server.name":"a/bb",
			"org.opencontainers.image.title":"Demo","org.opencontainers.image.version":"1",
			"org.opencontainers.image.description":"d"}}}`,
			About{Title: "Demo", Version: "1", Description: "d", Servers: []string{"a/bb"}}},
		{Image, `{"config":{}}`, About{}},
	} {
		p := Product{Kind: tc.kind, Document: []byte(tc.text)}
		if got, err := p.About(); err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %+v, %v", tc.text, got, err)
		}
	}
	if _, err := (&Product{Kind: NPM, Document: []byte("{")}).About(); err == nil {
		t.Error("no error")
	}
}

// FuzzAbout reads documents of products, which are foreign.
func FuzzAbout(f *testing.F) {
	f.Add(`{"name":"demo","version":"1","mcpName":"a/b","bin":"x"}`)
	f.Add("Name: demo\nVersion: 1\n\nmcp-name: a/b-->")
	f.Add(`{"config":{"Labels":{"io.modelcontextprotocol.server.name":"a/b"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []Kind{Bundle, kindPlugin, NPM, Wheel, Image, kindProject} {
			if a, err := (&Product{Kind: kind, Document: []byte(text)}).About(); err != nil && a.Name != "" {
				t.Fatalf("%+v, %v", a, err)
			}
		}
	})
}
