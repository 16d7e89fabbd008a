package publish

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/mcpb"
)

// packed returns an archive with files, whose names and contents take turns.
func packed(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &tar.Header{Name: files[i], Mode: 0o644, Size: int64(len(files[i+1])), Typeflag: tar.TypeReg}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, files[i+1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func inArchive(archive io.Reader) func(visitor) error {
	return func(visit visitor) error { return inTar(archive, false, visit) }
}

// A package has one description, and at most one project. Documents have a limit.
func TestDocuments(t *testing.T) {
	const name, project = "package/package.json", "package/server/server.d/server.meta.json"
	for _, tc := range []struct {
		files []string
		want  string // the error
	}{
		{[]string{name, "{}", project, "[]", "package/a/b/server.d/server.meta.json", "x"}, ""},
		{[]string{name, strings.Repeat(" ", mcpb.MaxManifest)}, ""},
		{[]string{name, strings.Repeat(" ", mcpb.MaxManifest+1)}, "a document of more than"},
		{[]string{name, "{}", name, "{}"}, "two files package/package.json"},
		{[]string{name, "{}", project, "{}", "package/b/server.d/server.meta.json", "{}"}, "two files package/b/server.d"},
		{[]string{"other/package.json", "{}"}, "neither a package of npm nor a wheel"},
	} {
		description, found, err := documents(inArchive(bytes.NewReader(packed(t, tc.files...))))
		switch {
		case tc.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tc.want)):
			t.Errorf("%v, not %s", err, tc.want)
		case tc.want == "" && (err != nil || len(tc.files) > 2 && (string(description) != "{}" || string(found) != "[]")):
			t.Errorf("%s, %s, %v", description, found, err)
		}
	}
}

// zeros are endless.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// An archive has limits on its files and its bytes.
func TestArchiveLimits(t *testing.T) {
	none := func(string, io.Reader) error { return nil }
	for _, n := range []int{maxFiles - 1, maxFiles} {
		archive := bytes.Repeat(packed(t, "a", "")[:512], n)
		err := inTar(io.MultiReader(bytes.NewReader(archive), io.LimitReader(zeros{}, 1024)), false, none)
		if (n == maxFiles) != (err != nil) {
			t.Errorf("%d files: %v", n, err)
		}
	}
	var b bytes.Buffer
	if err := tar.NewWriter(&b).WriteHeader(&tar.Header{Name: "a", Size: maxArchive, Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if err := inTar(io.MultiReader(&b, zeros{}), false, none); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a large archive: %v", err)
	}
}

// layoutOf returns the reader of a layout with so many indexes in each other around an image.
func layoutOf(indexes int, config string) func(name string) ([]byte, error) {
	hash := func(i int) string { return fmt.Sprintf("%064x", i) }
	files := map[string]string{"blobs/sha256/" + hash(0): config,
		"blobs/sha256/" + hash(1): `{"config":{"digest":"sha256:` + hash(0) + `"}}`}
	for i := 2; i < indexes+1; i++ {
		files["blobs/sha256/"+hash(i)] = `{"manifests":[{"digest":"sha256:` + hash(i-1) + `"}]}`
	}
	files["index.json"] = `{"manifests":[{"digest":"sha256:` + hash(99) + `","platform":{"os":"linux","architecture":"arm64"}},
		{"digest":"sha256:` + hash(indexes) + `","platform":{"os":"linux","architecture":"amd64"}}]}`
	return func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}
}

// The configuration is that for linux/amd64. Indexes in each other have a limit.
func TestConfigOf(t *testing.T) {
	for indexes := 1; indexes < maxIndexes; indexes++ {
		if text, err := configOf(layoutOf(indexes, "c")); err != nil || string(text) != "c" {
			t.Errorf("%d: %s, %v", indexes, text, err)
		}
	}
	if _, err := configOf(layoutOf(maxIndexes, "c")); err == nil || err.Error() != "more than 3 indexes in each other" {
		t.Error(err)
	}
	empty := func(string) ([]byte, error) { return []byte("{}"), nil }
	if _, err := configOf(empty); err == nil || err.Error() != "an OCI layout without an image" {
		t.Error(err)
	}
}

// FuzzOpen opens products of untrusted bytes.
func FuzzOpen(f *testing.F) {
	f.Add(packed(f, "package/package.json", `{"name":"a","version":"1","bin":"x"}`))
	f.Add([]byte(`{"manifests":[{"digest":"sha256:a"}]}`))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, content []byte) {
		in := bytes.NewReader(content)
		for _, each := range []func(visitor) error{
			inArchive(bytes.NewReader(content)),
			func(visit visitor) error { return inTar(bytes.NewReader(content), true, visit) },
			func(visit visitor) error { return inWheel(in, in.Size(), visit) },
		} {
			if description, _, err := documents(each); err == nil && description == nil {
				t.Fatal("no description, and no error")
			}
		}
		configOf(func(string) ([]byte, error) { return content, nil })
	})
}
