//go:build registry && linux

package registry

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"mcp-bash/test/internet"
)

// A world has the registry and all hosts that it asks.
type world struct {
	*testing.T
	key   *rsa.PrivateKey // of GitHub
	roots string          // the file with the authority that all hosts have

	mu       sync.Mutex
	packages map[string]any    // by the path in the registry of npm or PyPI
	releases map[string]bool   // the paths of files on GitHub
	images   map[string]string // folders with an OCI layout, by the name of the image without its tag
}

// newWorld starts everything. It ends with the test.
func newWorld(t *testing.T) *world {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	in := internet.New(t)
	w := &world{T: t, key: key, roots: in.RootsAt, packages: map[string]any{}, releases: map[string]bool{},
		images: map[string]string{}}
	backend := w.startRegistry(w.startDatabase())
	mux := http.NewServeMux()
	mux.Handle("registry.modelcontextprotocol.io/", httputil.NewSingleHostReverseProxy(backend))
	mux.HandleFunc("registry.npmjs.org/", w.serveDocument)
	mux.HandleFunc("pypi.org/", w.serveDocument)
	mux.HandleFunc("ghcr.io/v2/", w.serveImage)
	mux.HandleFunc("github.com/", w.serveRelease)
	mux.HandleFunc("token.actions.githubusercontent.com/", w.serveIdentity)
	l, err := tls.Listen("tcp", address+":443", &tls.Config{
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			c := in.Certificate(hello.ServerName, nil)
			return &c, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: mux}
	t.Cleanup(func() { server.Close() })
	go server.Serve(l)
	return w
}

// startDatabase starts PostgreSQL, which Debian calls so, and returns its address. It refuses to run as root.
func (w *world) startDatabase() string {
	w.Helper()
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		w.Fatal("this test needs PostgreSQL; on Debian: apt-get install postgresql")
	}
	dir, err := os.MkdirTemp("", "pg.") // short, because the socket is in it
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { os.RemoveAll(dir) })
	owner, err := user.Lookup("postgres")
	if err != nil {
		w.Fatal(err)
	}
	uid, _ := strconv.ParseUint(owner.Uid, 10, 32)
	gid, _ := strconv.ParseUint(owner.Gid, 10, 32)
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		w.Fatal(err)
	}
	run := func(program string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(found[len(found)-1], program), args...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return cmd
	}
	data := filepath.Join(dir, "data")
	if out, err := run("initdb", "--auth", "trust", "--no-sync", "--pgdata", data).CombinedOutput(); err != nil {
		w.Fatalf("initdb: %v\n%s", err, out)
	}
	// pg_ctl waits until the server is ready, which keeps its output open
	start := run("pg_ctl", "start", "--wait", "--silent", "--pgdata", data, "--log", filepath.Join(dir, "log"),
		"--options", "-c listen_addresses='' -c fsync=off -k "+dir)
	if err := start.Run(); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		w.Fatalf("pg_ctl: %v\n%s", err, log)
	}
	w.Cleanup(func() { run("pg_ctl", "stop", "--mode", "immediate", "--silent", "--pgdata", data).Run() })
	return "postgres://postgres@/postgres?host=" + dir + "&sslmode=disable"
}

// startRegistry starts the registry and waits until it answers.
func (w *world) startRegistry(database string) *url.URL {
	w.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	at := l.Addr().String()
	l.Close() // nothing else is in the namespace
	secret := make([]byte, 32)
	rand.Read(secret)
	logs, err := os.Create(filepath.Join(w.TempDir(), "log"))
	if err != nil {
		w.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(os.Getenv(inside), "registry"))
	cmd.Stdout, cmd.Stderr = logs, logs
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+w.roots)
	for name, value := range map[string]string{
		"SERVER_ADDRESS": at, "DATABASE_URL": database, "JWT_PRIVATE_KEY": hex.EncodeToString(secret),
		"DATABASE_MAX_CONNECTIONS": "10", "DATABASE_MIN_CONNECTIONS": "1", "ENABLE_REGISTRY_VALIDATION": "true",
		"GITHUB_OIDC_AUDIENCE": "https://registry.modelcontextprotocol.io",
	} {
		cmd.Env = append(cmd.Env, "MCP_REGISTRY_"+name+"="+value)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; {
		response, err := http.Get("http://" + at + "/v0/ping")
		if err == nil {
			response.Body.Close()
			return &url.URL{Scheme: "http", Host: at}
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(logs.Name())
			w.Fatalf("the registry does not answer: %v\n%s", err, text)
		}
		time.Sleep(20 * time.Millisecond) // until it answers
	}
}

func (w *world) serveDocument(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	document, ok := w.packages[r.URL.Path]
	if !ok {
		http.NotFound(rw, r)
		return
	}
	json.NewEncoder(rw).Encode(document)
}

// serveRelease redirects to the file, as GitHub does. The registry does not follow.
func (w *world) serveRelease(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.releases[r.URL.Path] {
		http.NotFound(rw, r)
		return
	}
	http.Redirect(rw, r, "https://objects.example/file", http.StatusFound)
}

// serveImage serves the manifests and blobs of a layout. Every tag leads to the image.
func (w *world) serveImage(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name, rest, isManifest := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v2/"), "/manifests/")
	if !isManifest {
		name, rest, _ = strings.Cut(name, "/blobs/")
	}
	dir, ok := w.images[name]
	switch {
	case r.URL.Path == "/v2/":
		return
	case !ok:
		http.NotFound(rw, r)
		return
	case isManifest && !strings.HasPrefix(rest, "sha256:"):
		var index struct{ Manifests []struct{ Digest string } }
		text, err := os.ReadFile(filepath.Join(dir, "index.json"))
		if err == nil {
			err = json.Unmarshal(text, &index)
		}
		if err != nil || len(index.Manifests) != 1 {
			http.Error(rw, fmt.Sprint(err), http.StatusInternalServerError)
			return
		}
		rest = index.Manifests[0].Digest
	}
	text, err := os.ReadFile(filepath.Join(dir, "blobs", strings.Replace(rest, ":", "/", 1)))
	if err != nil {
		http.NotFound(rw, r)
		return
	}
	if isManifest {
		var manifest struct{ MediaType string }
		json.Unmarshal(text, &manifest)
		rw.Header().Set("Content-Type", manifest.MediaType)
		rw.Header().Set("Docker-Content-Digest", rest)
	}
	rw.Write(text)
}

// serveIdentity gives a workflow of the owner in the path a token about itself.
func (w *world) serveIdentity(rw http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/.well-known/jwks" {
		public := jose.JSONWebKey{Key: w.key.Public(), KeyID: "k", Use: "sig"}
		json.NewEncoder(rw).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}})
		return
	}
	owner := strings.TrimPrefix(r.URL.Path, "/id/")
	if r.Header.Get("Authorization") != "Bearer "+asking(owner) {
		http.Error(rw, "whose workflow is it?", http.StatusUnauthorized)
		return
	}
	key := jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: w.key, KeyID: "k"}}
	signer, err := jose.NewSigner(key, nil)
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	token, err := jwt.Signed(signer).Claims(map[string]any{
		"iss": "https://token.actions.githubusercontent.com", "aud": r.URL.Query().Get("audience"),
		"sub": "repo:" + owner + "/demo:ref:refs/tags/v1.0.0", "repository_owner": owner,
		"exp": time.Now().Add(time.Minute).Unix(),
	}).Serialize()
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	json.NewEncoder(rw).Encode(map[string]string{"value": token})
}

// asking is the secret with which a workflow of an owner asks for its token.
func asking(owner string) string { return "secret-of-" + owner }

// workflow returns the variables of a workflow of an owner.
func (w *world) workflow(owner string) []string {
	return append(os.Environ(), "PATH="+os.Getenv(inside)+":"+os.Getenv("PATH"), "SSL_CERT_FILE="+w.roots,
		"GITHUB_REPOSITORY_OWNER="+owner, "ACTIONS_ID_TOKEN_REQUEST_TOKEN="+asking(owner),
		"ACTIONS_ID_TOKEN_REQUEST_URL=https://token.actions.githubusercontent.com/id/"+owner+"?api-version=2.0")
}
