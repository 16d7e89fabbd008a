package oidc

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/auth/oidc"
	"mcp-bash/test/checkout"
)

const audience = "https://mcp.example.com/mcp"

// A provider is an OpenID provider whose clients are services with JWT access tokens.
type provider struct {
	*storage.Storage
	url string

	mu       sync.Mutex
	audience string
	lifetime time.Duration
	key      *key
	keys     []op.Key
}

type key struct {
	id      string
	private *rsa.PrivateKey
}

func (k *key) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k *key) Key() any                                    { return k.private }
func (k *key) ID() string                                  { return k.id }

type publicKey struct{ *key }

func (k publicKey) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k publicKey) Use() string                        { return "sig" }
func (k publicKey) Key() any                           { return &k.private.PublicKey }

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{audience: audience, lifetime: time.Hour}
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w,
			r)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	p.Storage = storage.NewStorage(storage.NewUserStore(p.url))
	p.rotate(t, "first")
	made, err := op.NewProvider(&op.Config{CodeMethodS256: true}, p, op.StaticIssuer(p.url), op.WithAllowInsecure())
	if err != nil {
		t.Fatal(err)
	}
	handler = made
	return p
}

// rotate signs with another key from now on, and forgets the former one.
func (p *provider) rotate(t *testing.T, id string) {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key = &key{id, private}
	p.keys = []op.Key{publicKey{p.key}}
}

func (p *provider) SigningKey(context.Context) (op.SigningKey, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.key, nil
}

func (p *provider) KeySet(context.Context) ([]op.Key, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys, nil
}

// A client has JWT access tokens. The clients of the library's example have opaque ones.
type client struct{ op.Client }

func (client) AccessTokenType() op.AccessTokenType { return op.AccessTokenTypeJWT }

func (p *provider) ClientCredentials(ctx context.Context, id, secret string) (op.Client, error) {
	c, err := p.Storage.ClientCredentials(ctx, id, secret)
	return client{c}, err
}

// A request is a request for a token of an audience.
type request struct {
	op.TokenRequest
	audience string
}

func (r request) GetAudience() []string { return []string{r.audience} }

func (p *provider) ClientCredentialsTokenRequest(ctx context.Context, id string, scopes []string) (op.TokenRequest,
	error) {
	r, err := p.Storage.ClientCredentialsTokenRequest(ctx, id, scopes)
	p.mu.Lock()
	defer p.mu.Unlock()
	return request{r, p.audience}, err
}

func (p *provider) CreateAccessToken(ctx context.Context, r op.TokenRequest) (string, time.Time, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return "token", time.Now().Add(p.lifetime), nil
}

// GetPrivateClaimsFromScopes adds the scopes to tokens, as RFC 9068 wants.
func (p *provider) GetPrivateClaimsFromScopes(_ context.Context, _, _ string, scopes []string) (map[string]any, error) {
	return map[string]any{"scope": strings.Join(scopes, " ")}, nil
}

// token asks the provider for an access token, as a client that knows the issuer only.
func (p *provider) token(t *testing.T, issuer string) string {
	t.Helper()
	var description struct {
		Token string `json:"token_endpoint"`
	}
	getJSON(t, issuer+"/.well-known/openid-configuration", &description)
	response, err := http.PostForm(description.Token, url.Values{
		"grant_type": {"client_credentials"}, "client_id": {"sid1"}, "client_secret": {"verysecret"},
		"scope": {"openid read"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || strings.Count(answer.Token, ".") != 2 {
		t.Fatalf("%s: %s", response.Status, text)
	}
	return answer.Token
}

func getJSON(t *testing.T, address string, v any) {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(v); err != nil || response.StatusCode != 200 {
		t.Fatal(address, response.Status, err)
	}
}

// H-231 to H-235: tokens of the provider, its keys, and its absence.
func TestVerifier(t *testing.T) {
	p := newProvider(t)
	now := time.Now()
	v, err := oidc.Open(t.Context(), oidc.Config{
		Issuer: p.url, Audience: audience, Log: func(line string) { t.Error(line) },
		Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	verify := func(token string) (*auth.Identity, *auth.Error) {
		i, err := v.Authenticate(t.Context(), token)
		e, _ := errors.AsType[*auth.Error](err)
		return i, e
	}
	first := p.token(t, p.url)
	if i, e := verify(first); e != nil || i.Subject != "sid1" || i.Issuer != p.url ||
		!strings.Contains(strings.Join(i.Scopes, " "), "read") {
		t.Errorf("%+v, %v", i, e)
	}
	p.rotate(t, "second")
	second := p.token(t, p.url)
	now = now.Add(20 * time.Second)
	if _, e := verify(second); e != nil {
		t.Errorf("the new key: %v", e.Err)
	}
	if _, e := verify(first); e == nil || e.Kind != auth.Invalid {
		t.Errorf("the old key: %v", e)
	}
	p.audience = "https://other.example"
	if _, e := verify(p.token(t, p.url)); e == nil || e.Kind != auth.Invalid {
		t.Errorf("another audience: %v", e)
	}
	p.audience, p.lifetime = audience, -time.Hour
	if _, e := verify(p.token(t, p.url)); e == nil || e.Reason != "the token has expired" {
		t.Errorf("expired: %v", e)
	}
	other := newProvider(t)
	if _, e := verify(other.token(t, other.url)); e == nil || e.Kind != auth.Invalid {
		t.Errorf("another issuer: %v", e)
	}
}

const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{}}}}`

// H-230: a client that knows the server only finds the provider, and is let in with its token.
func TestServer(t *testing.T) {
	p := newProvider(t)
	bin := t.TempDir()
	if err := checkout.Build(bin, "mcp-bash/cmd/mcp-bash"); err != nil {
		t.Fatal(err)
	}
	project := t.TempDir()
	if err := os.Mkdir(filepath.Join(project, "server.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "server.d", "server.meta.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(filepath.Join(bin, "mcp-bash"), "serve", "--http", "127.0.0.1:0",
		"--oidc-issuer", p.url, "--oidc-audience", audience)
	server.Env = append(os.Environ(), "MCPBASH_PROJECT_ROOT="+project, "MCPBASH_LOG_LEVEL=debug")
	stderr, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var endpoint string
	var log strings.Builder
	lines := bufio.NewScanner(stderr)
	for endpoint == "" && lines.Scan() {
		log.WriteString(lines.Text() + "\n")
		endpoint, _ = strings.CutPrefix(lines.Text(), "mcp-bash: serving ")
		if !strings.HasPrefix(endpoint, "http") {
			endpoint = ""
		}
	}
	if endpoint == "" {
		t.Fatal(log.String())
	}
	ask := func(token string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "POST", endpoint, strings.NewReader(list))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list",
		} {
			r.Header.Set(name, value)
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response
	}
	response := ask("")
	m := regexp.MustCompile(`resource_metadata="([^"]+)"`).FindStringSubmatch(response.Header.Get("WWW-Authenticate"))
	if response.StatusCode != 401 || m == nil {
		t.Fatal(response.Status, response.Header)
	}
	var resource struct {
		Servers []string `json:"authorization_servers"`
	}
	getJSON(t, m[1], &resource)
	if len(resource.Servers) != 1 || resource.Servers[0] != p.url {
		t.Fatal(resource)
	}
	token := p.token(t, resource.Servers[0])
	if response := ask(token); response.StatusCode != 200 {
		t.Error(response.Status, response.Header)
	}
	p.audience = "https://other.example"
	foreign := p.token(t, p.url)
	response = ask(foreign)
	if response.StatusCode != 401 || !strings.Contains(response.Header.Get("WWW-Authenticate"),
		`error="invalid_token"`) {
		t.Error(response.Status, response.Header)
	}
	server.Process.Signal(os.Interrupt)
	for lines.Scan() {
		log.WriteString(lines.Text() + "\n")
	}
	server.Wait()
	if text := log.String(); strings.Contains(text, token) || strings.Contains(text, foreign) ||
		!strings.Contains(text, "rejected") {
		t.Error(text)
	}
}
