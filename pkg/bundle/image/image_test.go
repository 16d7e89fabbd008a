package image

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/internal/web"
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
