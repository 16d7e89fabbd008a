package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/internal/web"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/test/ownprogram"
)

// TestMain makes the test binary a mcp-bash that sends requests.
func TestMain(m *testing.M) { ownprogram.Main(m) }

// H-610: the digest of the base is the hash of the index in the registry.
func TestAskDigest(t *testing.T) {
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/token" && r.URL.Query().Get("scope") == "repository:library/debian:pull":
			w.Write([]byte(`{"token":"secret"}`))
		case r.URL.Path == "/v2/library/debian/manifests/stable-slim" && r.Header.Get("Authorization") == "Bearer secret" &&
			strings.Contains(r.Header.Get("Accept"), "index"):
			w.Write([]byte("index"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer registry.Close()
	client := web.Client{Program: ownprogram.Path(t)}
	digest, err := askDigest(t.Context(), client, registry.URL, registry.URL)
	if err != nil || digest != "sha256:1bc04b5291c26a46d918139138b992d2de976d6851d0893b0476b85bfbdfc6e6" {
		t.Errorf("%s, %v", digest, err)
	}
	if _, err := askDigest(t.Context(), client, registry.URL, registry.URL+"/none"); err == nil {
		t.Error("a missing image has a digest")
	}
}

// LOCK-22: a file at any position of an archive is found without reading the archive again. Two files with one name are
// an error, because programs differ in which one they read.
func TestInTar(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name, text string) {
		t.Helper()
		err := mcpb.Bytes(name, false, []byte(text)).WriteTar(w, tar.Header{Name: name})
		if err != nil {
			t.Fatal(err)
		}
	}
	long := strings.Repeat("long/", 60) + "name"
	add("index.json", "{}")
	add(long, "first")
	add("last", strings.Repeat("x", 5000))
	once := bytes.Clone(b.Bytes())
	open, err := InTar(io.NewSectionReader(bytes.NewReader(append(once, make([]byte, 1024)...)), 0, int64(len(once)+1024)))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for name, want := range map[string]string{"index.json": "{}", long: "first", "last": strings.Repeat("x", 5000)} {
			in, err := open(name)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(in); err != nil || string(text) != want {
				t.Errorf("%s: %q, %v", name, text, err)
			}
		}
	}
	if _, err := open("other"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	add("index.json", "[]")
	w.Close()
	if _, err := InTar(io.NewSectionReader(bytes.NewReader(b.Bytes()), 0, int64(b.Len()))); err == nil ||
		!strings.Contains(err.Error(), "twice") {
		t.Error(err)
	}
}
