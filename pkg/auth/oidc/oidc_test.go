package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/text/secrets"
)

const audience = "https://mcp.example.com/mcp"

// A provider is an OpenID provider that the tests control.
type provider struct {
	*httptest.Server
	mu       sync.Mutex
	keys     []jose.JSONWebKey
	down     bool
	answers  map[string]string // by path, in place of the right ones
	requests atomic.Int32
	time     time.Time
	log      []string
}

func newProvider(t *testing.T, keys ...jose.JSONWebKey) *provider {
	t.Helper()
	p := &provider{keys: keys, answers: map[string]string{}, time: time.Now()}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.requests.Add(1)
		p.mu.Lock()
		defer p.mu.Unlock()
		answer, given := p.answers[r.URL.Path]
		switch {
		case p.down:
			http.Error(w, "down", http.StatusServiceUnavailable)
		case given && answer == "":
			http.NotFound(w, r)
		case given && strings.HasPrefix(answer, "http"):
			http.Redirect(w, r, answer, http.StatusFound)
		case given:
			io.WriteString(w, answer)
		case strings.HasSuffix(r.URL.Path, "/.well-known/openid-configuration"):
			fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, p.URL, p.URL+"/keys")
		case r.URL.Path == "/keys":
			json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: p.keys})
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) set(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (p *provider) config() Config {
	return Config{Issuer: p.URL, Audience: audience, Now: p.now,
		Log: func(line string) { p.set(func() { p.log = append(p.log, line) }) }}
}

func (p *provider) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.time
}

// pass moves the provider's clock.
func (p *provider) pass(d time.Duration) {
	p.set(func() { p.time = p.time.Add(d) })
}

// refreshed waits until no refresh of the keys runs in the background.
func refreshed(v *Verifier) {
	v.keys.background.Wait()
}

func (p *provider) open(t *testing.T) *Verifier {
	t.Helper()
	v, err := Open(t.Context(), p.config())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// claims returns the claims of a valid token, with changes. nil removes a claim.
func (p *provider) claims(changes map[string]any) map[string]any {
	c := map[string]any{
		"iss": p.URL, "aud": audience, "sub": "ada", "client_id": "app", "scope": "read write", "iat": p.time.Unix(),
		"exp": p.time.Add(time.Hour).Unix(),
	}
	for name, value := range changes {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, header map[string]any, claims any) string {
	t.Helper()
	o := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{}}
	for name, value := range header {
		o.ExtraHeaders[jose.HeaderKey(name)] = value
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := s.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// forge makes a token whose header and signature are as given.
func forge(header, claims any, sign func(text []byte) []byte) string {
	h, _ := json.Marshal(header)
	c, _ := json.Marshal(claims)
	text := base64.RawURLEncoding.EncodeToString(h) + "." + base64.RawURLEncoding.EncodeToString(c)
	return text + "." + base64.RawURLEncoding.EncodeToString(sign([]byte(text)))
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func public(id string, key crypto.Signer) jose.JSONWebKey {
	return jose.JSONWebKey{Key: key.Public(), KeyID: id, Use: "sig"}
}

// kind returns the kind of the error for a token, or -1 if the token is accepted.
func kind(t *testing.T, v *Verifier, token string) auth.Kind {
	t.Helper()
	_, err := v.Authenticate(t.Context(), token)
	if err == nil {
		return -1
	}
	e, ok := errors.AsType[*auth.Error](err)
	if !ok {
		t.Fatal(err)
	}
	if token != "" && (strings.Contains(e.Reason, token) || e.Err != nil && strings.Contains(e.Err.Error(), token)) {
		t.Errorf("the error contains the token: %v, %v", e, e.Err)
	}
	return e.Kind
}

// H-231: the identity of a valid token.
func TestIdentity(t *testing.T) {
	key := newKey(t)
	p := newProvider(t, public("1", key))
	v := p.open(t)
	for name, test := range map[string]struct {
		changes map[string]any
		want    auth.Identity
	}{
		"usual": {nil, auth.Identity{Name: "app", Subject: "ada", Scopes: []string{"read", "write"}}},
		"azp": {map[string]any{"client_id": nil, "azp": "other"}, auth.Identity{Name: "other", Subject: "ada",
			Scopes: []string{"read", "write"}}},
		"subject": {map[string]any{"client_id": nil}, auth.Identity{Name: "ada", Subject: "ada",
			Scopes: []string{"read", "write"}}},
		"scp": {map[string]any{"scope": nil, "scp": []string{"b", "a", "b"}}, auth.Identity{Name: "app",
			Subject: "ada", Scopes: []string{"a", "b"}}},
		"both": {map[string]any{"scp": []string{"a", "read"}}, auth.Identity{Name: "app", Subject: "ada",
			Scopes: []string{"a", "read", "write"}}},
		"spaces": {map[string]any{"scope": " a  !b:c#[] "}, auth.Identity{Name: "app", Subject: "ada",
			Scopes: []string{"!b:c#[]", "a"}}},
		"no scopes": {map[string]any{"scope": "", "scp": []string{}}, auth.Identity{Name: "app", Subject: "ada"}},
		"none":      {map[string]any{"scope": nil}, auth.Identity{Name: "app", Subject: "ada"}},
		"audiences": {map[string]any{"aud": []string{"x", audience}}, auth.Identity{Name: "app", Subject: "ada",
			Scopes: []string{"read", "write"}}},
	} {
		token := sign(t, jose.ES256, key, map[string]any{"kid": "1", "typ": "at+jwt"}, p.claims(test.changes))
		test.want.Issuer = p.URL
		for range 2 { // the second time from memory
			i, err := v.Authenticate(t.Context(), token)
			if err != nil || i.Key() != test.want.Key() {
				t.Errorf("%s: %+v, %v", name, i, err)
			}
		}
	}
}

// H-232, H-233: tokens of every wrong kind are rejected.
func TestForgedTokens(t *testing.T) {
	key, stranger := newKey(t), newKey(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := newProvider(t, public("ec", key), public("rsa", rsaKey))
	fetched := false
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fetched = true
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public("ec", stranger)}})
	}))
	defer evil.Close()
	v := p.open(t)
	good := map[string]any{"alg": "ES256", "kid": "ec"}
	token := sign(t, jose.ES256, key, map[string]any{"kid": "ec"}, p.claims(nil))
	if kind(t, v, token) != -1 {
		t.Fatal("a valid token is rejected")
	}
	parts := strings.Split(token, ".")
	hs := func(secret []byte) func([]byte) []byte {
		return func(text []byte) []byte {
			mac := hmac.New(sha256.New, secret)
			mac.Write(text)
			return mac.Sum(nil)
		}
	}
	none := func([]byte) []byte { return nil }
	der, err := x509.MarshalPKIXPublicKey(&rsaKey.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	jwk, err := json.Marshal(public("rsa", rsaKey))
	if err != nil {
		t.Fatal(err)
	}
	type m = map[string]any
	tokens := map[string]string{
		"expired": sign(t, jose.ES256, key, m{"kid": "ec"},
			p.claims(m{"exp": p.time.Add(-time.Second).Unix()})),
		"no end": sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"exp": nil})),
		"not yet": sign(t, jose.ES256, key, m{"kid": "ec"},
			p.claims(m{"nbf": p.time.Add(time.Hour).Unix()})),
		"another audience":        sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"aud": "https://other.example"})),
		"no audience":             sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"aud": nil})),
		"a longer audience":       sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"aud": audience + "/x"})),
		"another issuer":          sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"iss": "https://evil.example"})),
		"issuer with a slash":     sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"iss": p.URL + "/"})),
		"no issuer":               sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"iss": nil})),
		"an ID token":             sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"at_hash": "x"})),
		"a refresh token":         sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"typ": "Refresh"})),
		"a logout token":          sign(t, jose.ES256, key, m{"kid": "ec", "typ": "logout+jwt"}, p.claims(nil)),
		"events":                  sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"events": m{}})),
		"a bound token":           sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"cnf": m{"jkt": "x"}})),
		"type dpop":               sign(t, jose.ES256, key, m{"kid": "ec", "typ": "dpop+jwt"}, p.claims(nil)),
		"scopes of numbers":       sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"scope": 7})),
		"a scope that is none":    sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"scope": "read\u00a0admin"})),
		"a tab":                   sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"scope": "read\tadmin"})),
		"quotes":                  sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"scope": `"admin"`})),
		"a list with a space":     sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"scp": []string{"read admin"}})),
		"a list with nothing":     sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"scp": []string{"read", ""}})),
		"a list with a null":      sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"scp": []any{"read", nil}})),
		"another case":            sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"Scope": "admin"})),
		"another s":               sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"\u017fcp": []string{"admin"}})),
		"another audience's case": sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"AUD": audience})),
		"a name of numbers":       sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"client_id": 7})),
		"type in another case":    sign(t, jose.ES256, key, m{"kid": "ec", "Typ": "at+jwt"}, p.claims(nil)),
		"too many scopes":         sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"scp": many(maxScopes + 1)})),
		"nobody":                  sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"sub": nil, "client_id": nil})),
		"a line break":            sign(t, jose.ES256, key, m{"kid": "ec"}, p.claims(m{"client_id": "a\nb"})),
		"claims of a list":        sign(t, jose.ES256, key, m{"kid": "ec"}, []int{1}),

		"a stranger's key": sign(t, jose.ES256, stranger, m{"kid": "ec"}, p.claims(nil)),
		"an unknown key":   sign(t, jose.ES256, stranger, m{"kid": "new"}, p.claims(nil)),
		"a key without id": sign(t, jose.ES256, stranger, nil, p.claims(nil)),
		"key of a path":    sign(t, jose.ES256, stranger, m{"kid": "../../dev/null"}, p.claims(nil)),
		"key of a query":   sign(t, jose.ES256, stranger, m{"kid": "ec' OR '1'='1"}, p.claims(nil)),
		"a long key id":    sign(t, jose.ES256, key, m{"kid": strings.Repeat("x", maxKeyID+1)}, p.claims(nil)),
		"jku":              sign(t, jose.ES256, stranger, m{"kid": "ec", "jku": evil.URL}, p.claims(nil)),
		"x5u":              sign(t, jose.ES256, stranger, m{"kid": "ec", "x5u": evil.URL}, p.claims(nil)),
		"jwk": sign(t, jose.ES256, stranger, m{"kid": "ec", "jwk": public("ec", stranger)},
			p.claims(nil)),
		"crit":           sign(t, jose.ES256, key, m{"kid": "ec", "crit": []string{"exp"}}, p.claims(nil)),
		"RSA id, EC key": sign(t, jose.ES256, key, m{"kid": "rsa"}, p.claims(nil)),
		"none":           forge(m{"alg": "none"}, p.claims(nil), none),
		"None":           forge(m{"alg": "None", "kid": "ec"}, p.claims(nil), none),
		"nOnE":           forge(m{"alg": "nOnE", "kid": "ec"}, p.claims(nil), none),
		"none, signed": forge(m{"alg": "none", "kid": "ec"}, p.claims(nil),
			func([]byte) []byte { return []byte(parts[2]) }),
		"no algorithm":    forge(m{"kid": "ec"}, p.claims(nil), none),
		"no signature":    forge(good, p.claims(nil), none),
		"zero signature":  forge(good, p.claims(nil), func([]byte) []byte { return make([]byte, 64) }),
		"HS with the PEM": forge(m{"alg": "HS256", "kid": "rsa"}, p.claims(nil), hs(publicPEM)),
		"HS with the DER": forge(m{"alg": "HS256", "kid": "rsa"}, p.claims(nil), hs(der)),
		"HS with the JWK": forge(m{"alg": "HS256", "kid": "rsa"}, p.claims(nil), hs(jwk)),
		"HS with nothing": forge(m{"alg": "HS256", "kid": "rsa"}, p.claims(nil), hs(nil)),
		"another's signature": parts[0] + "." + strings.Split(sign(t, jose.ES256, key, nil,
			p.claims(m{"sub": "root"})), ".")[1] + "." + parts[2],
		"unsigned claims": parts[0] + "." + parts[1] + ".",
		"two parts":       parts[0] + "." + parts[1],
		"another text":    token + "=",
		"bits at the end": token[:len(token)-1] + unused(token[len(token)-1]),
		"a broken claim":  parts[0] + "." + parts[1] + "+." + parts[2],
		"five parts":      token + "." + parts[1] + "." + parts[2],
		"JSON": fmt.Sprintf(`{"payload":%q,"signatures":[{"protected":%q,"signature":%q}]}`, parts[1], parts[0],
			parts[2]),
		"nothing": "", "dots": "..", "text": "hello",
	}
	for name, forged := range tokens {
		for _, moment := range []time.Duration{0, pause} { // the provider is asked for unknown keys once more
			p.pass(moment)
			if got := kind(t, v, forged); got != auth.Invalid {
				t.Errorf("%s: %v", name, got)
			}
		}
		p.pass(-pause)
		checkLogged(t, v, forged)
	}
	if fetched {
		t.Error("keys were fetched from an address in a token")
	}
}

// H-216: nothing in the reason that is logged is taken for a secret, which would hide the reason.
func checkLogged(t *testing.T, v *Verifier, token string) {
	t.Helper()
	_, err := v.Authenticate(t.Context(), token)
	e, ok := errors.AsType[*auth.Error](err)
	if !ok || e.Err == nil {
		t.Fatal(err)
	}
	if reason := e.Err.Error(); secrets.Text(reason) != reason {
		t.Errorf("%q is logged as %q", reason, secrets.Text(reason))
	}
}

// unused returns the letter of base64 that has other bits where a decoder may ignore them.
func unused(letter byte) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(letters[strings.IndexByte(letters, letter)^1])
}

// H-232: a key verifies only its own algorithm, and only signatures.
func TestPurposeOfKey(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for want, changed := range map[auth.Kind]jose.JSONWebKey{
		-1:           {Algorithm: "PS256", Use: "sig"},
		auth.Invalid: {Algorithm: "RS256", Use: "sig"},
	} {
		changed.Key, changed.KeyID = key.Public(), "1"
		p := newProvider(t, changed)
		if got := kind(t, p.open(t), sign(t, jose.PS256, key, map[string]any{"kid": "1"}, p.claims(nil))); got != want {
			t.Errorf("a key for %s: %v", changed.Algorithm, got)
		}
	}
	p := newProvider(t, public("2", newKey(t)), jose.JSONWebKey{Key: key.Public(), KeyID: "1", Use: "enc"})
	token := sign(t, jose.PS256, key, map[string]any{"kid": "1"}, p.claims(nil))
	if got := kind(t, p.open(t), token); got != auth.Invalid {
		t.Errorf("a key for encryption: %v", got)
	}
}

func many(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(i))
	}
	return list
}

// H-234: the provider adds and removes keys.
func TestRotation(t *testing.T) {
	first, second := newKey(t), newKey(t)
	p := newProvider(t, public("1", first))
	v := p.open(t)
	var seen []string
	v.Watch(func(hashes map[string][sha256.Size]byte, err error) {
		seen = append(seen, fmt.Sprint(slices.Sorted(maps.Keys(hashes)), err))
	})
	old := sign(t, jose.ES256, first, map[string]any{"kid": "1"}, p.claims(nil))
	fresh := sign(t, jose.ES256, second, map[string]any{"kid": "2"}, p.claims(nil))
	if kind(t, v, old) != -1 || kind(t, v, fresh) != auth.Invalid {
		t.Error("before")
	}
	p.set(func() { p.keys = append(p.keys, public("2", second)) })
	p.pass(pause)
	if kind(t, v, fresh) != -1 || kind(t, v, old) != -1 {
		t.Error("the new key is not known")
	}
	p.set(func() { p.keys = p.keys[1:] })
	p.pass(refreshKeys + time.Second)
	kind(t, v, old) // begins to refresh the keys
	refreshed(v)
	if kind(t, v, old) != auth.Invalid {
		t.Error("the removed key is used")
	}
	if kind(t, v, fresh) != -1 {
		t.Error("the other key is not known")
	}
	if got := strings.Join(slices.Compact(seen), "; "); got != "[1] <nil>; [1 2] <nil>; [2] <nil>" {
		t.Error(got)
	}
}

// H-234: a client with a forged token that leaves at once does not keep the server from reading new keys.
func TestClientLeaves(t *testing.T) {
	first, second := newKey(t), newKey(t)
	p := newProvider(t, public("1", first))
	v := p.open(t)
	p.set(func() { p.keys = []jose.JSONWebKey{public("2", second)} })
	p.pass(pause)
	gone, leave := context.WithCancel(t.Context())
	leave()
	forged := sign(t, jose.ES256, newKey(t), map[string]any{"kid": "x"}, p.claims(nil))
	if _, err := v.Authenticate(gone, forged); err == nil {
		t.Error("a forged token is accepted")
	}
	if k := kind(t, v, sign(t, jose.ES256, second, map[string]any{"kid": "2"}, p.claims(nil))); k != -1 {
		t.Errorf("a token with a new key is rejected: %v", k)
	}
}

// H-234: unknown keys do not let a client send requests to the provider.
func TestRequestsAreFew(t *testing.T) {
	key := newKey(t)
	p := newProvider(t, public("1", key))
	v := p.open(t)
	before := p.requests.Load()
	for i := range 100 {
		kind(t, v, sign(t, jose.ES256, key, map[string]any{"kid": fmt.Sprint("unknown", i)}, p.claims(nil)))
	}
	p.pass(pause)
	var wait sync.WaitGroup
	for i := range 20 {
		token := sign(t, jose.ES256, key, map[string]any{"kid": fmt.Sprint("unknown", i)}, p.claims(nil))
		wait.Go(func() { v.Authenticate(context.Background(), token) })
	}
	wait.Wait()
	if n := p.requests.Load() - before; n != 1 {
		t.Errorf("%d requests", n)
	}
}

// H-235: while the provider does not answer, every token is rejected, and the log has a line about it.
func TestProviderDown(t *testing.T) {
	key := newKey(t)
	p := newProvider(t, public("1", key))
	p.down = true
	v := p.open(t)
	token := sign(t, jose.ES256, key, map[string]any{"kid": "1"},
		p.claims(map[string]any{"exp": p.time.Add(9 * time.Hour).Unix()}))
	if kind(t, v, token) != auth.Unavailable || len(p.log) != 1 || !strings.Contains(p.log[0], "503") {
		t.Error(p.log)
	}
	p.set(func() { p.down = false })
	p.pass(pause)
	if kind(t, v, token) != -1 {
		t.Error("the provider is back")
	}
	p.set(func() { p.down = true })
	p.pass(expireKeys)
	if kind(t, v, token) != -1 {
		t.Error("keys are used for an hour")
	}
	refreshed(v)
	p.pass(pause)
	if kind(t, v, token) != auth.Unavailable {
		t.Error("keys are used after an hour")
	}
	p.set(func() { p.down = false })
	p.pass(pause)
	if kind(t, v, token) != -1 {
		t.Error("the provider is back again")
	}
}

type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// H-235: a provider that accepts a request and never answers delays the start and a token by ten seconds.
func TestProviderHangs(t *testing.T) {
	key := newKey(t)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		v, err := Open(t.Context(), Config{Issuer: "https://x", Audience: audience, Log: func(string) {},
			Client: &http.Client{Transport: hanging{}}})
		if err != nil || time.Since(began) != startTime {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		time.Sleep(pause)
		began = time.Now()
		token := sign(t, jose.ES256, key, map[string]any{"kid": "1"}, map[string]any{"iss": "https://x", "aud": audience,
			"exp": began.Add(time.Hour).Unix()})
		if got := kind(t, v, token); got != auth.Unavailable || time.Since(began) != requestTime {
			t.Errorf("%v after %v", got, time.Since(began))
		}
	})
}

// H-235, H-4: a server whose provider does not answer asks it again, although nobody sends tokens.
func TestUsable(t *testing.T) {
	p := newProvider(t, public("1", newKey(t)))
	p.down = true
	v := p.open(t)
	e, ok := errors.AsType[*auth.Error](v.Usable())
	if !ok || e.Kind != auth.Unavailable {
		t.Fatal(e)
	}
	p.set(func() { p.down = false })
	p.pass(pause + 1)
	v.Usable()
	refreshed(v)
	if err := v.Usable(); err != nil {
		t.Error(err)
	}
}

// H-235: a provider that cannot be right ends the start.
func TestWrongProvider(t *testing.T) {
	key := newKey(t)
	discovery := "/.well-known/openid-configuration"
	for name, answers := range map[string]map[string]string{
		"no description":  {discovery: ""},
		"no JSON":         {discovery: "<html>"},
		"another issuer":  {discovery: `{"issuer":"https://evil.example","jwks_uri":"https://evil.example/keys"}`},
		"no keys":         {"/keys": `{"keys":[]}`},
		"keys of no JSON": {"/keys": `nothing`},
		"a shared secret": {"/keys": `{"keys":[{"kty":"oct","k":"AAAA"}]}`},
		"missing keys":    {"/keys": ""},
		"a redirect":      {"/keys": "https://evil.example/keys"},
		"large":           {"/keys": strings.Repeat(" ", maxAnswer+1)},
		"many keys":       {"/keys": `{"keys":[` + strings.Repeat("{},", maxKeys) + `{}]}`},
	} {
		p := newProvider(t, public("1", key))
		p.answers = answers
		if v, err := Open(t.Context(), p.config()); err == nil || v != nil {
			t.Errorf("%s: opened", name)
		}
	}
	p := newProvider(t, public("1", key))
	p.answers[discovery] = fmt.Sprintf(`{"issuer":%q,"jwks_uri":"http://keys.example/"}`, p.URL)
	if _, err := Open(t.Context(), p.config()); err == nil {
		t.Error("keys without TLS")
	}
	for _, issuer := range []string{"", "example.com", "http://example.com", "ftp://example.com",
		"https://a@example.com", "https://x/?q", "https://x/#f", "http://127.0.0.1:99999",
		"https://x:0"} {
		c := p.config()
		c.Issuer = issuer
		if _, err := Open(t.Context(), c); err == nil {
			t.Errorf("issuer %q", issuer)
		}
	}
	c := p.config()
	c.Audience = ""
	if _, err := Open(t.Context(), c); err == nil {
		t.Error("no audience")
	}
}

// An authorization server without OpenID has another description (RFC 8414).
func TestAuthorizationServer(t *testing.T) {
	key := newKey(t)
	p := newProvider(t, public("1", key))
	p.answers["/tenant/.well-known/openid-configuration"] = ""
	p.answers["/.well-known/oauth-authorization-server/tenant"] = fmt.Sprintf(`{"issuer":%q,"jwks_uri":%q}`,
		p.URL+"/tenant", p.URL+"/keys")
	c := p.config()
	c.Issuer += "/tenant"
	v, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if kind(t, v, sign(t, jose.ES256, key, nil, p.claims(map[string]any{"iss": c.Issuer}))) != -1 {
		t.Error("the token is rejected")
	}
}

// H-234: the verified tokens that are remembered have a limit.
func TestRemembered(t *testing.T) {
	p := newProvider(t, public("1", newKey(t)))
	v := p.open(t)
	for i := range maxKnown + 10 {
		v.remember([32]byte{byte(i), byte(i >> 8)}, known{until: p.time.Add(time.Hour)}, p.time)
	}
	if len(v.known) > maxKnown {
		t.Errorf("%d tokens are remembered", len(v.known))
	}
}

// A token ends although it was verified a moment before.
func TestKnownTokenExpires(t *testing.T) {
	key := newKey(t)
	p := newProvider(t, public("1", key))
	v := p.open(t)
	token := sign(t, jose.ES256, key, nil, p.claims(map[string]any{"exp": p.time.Add(time.Minute).Unix()}))
	if kind(t, v, token) != -1 {
		t.Error("rejected")
	}
	p.pass(time.Minute + time.Second)
	_, err := v.Authenticate(t.Context(), token)
	if e, ok := errors.AsType[*auth.Error](err); !ok || e.Kind != auth.Invalid || e.Reason != "the token has expired" {
		t.Error(err)
	}
}

// No token and no set of keys causes a panic. Tokens without a valid signature are rejected.
func FuzzToken(f *testing.F) {
	for _, token := range []string{
		"a.b.c", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJFUzI1NiIsImtpZCI6IjEifQ.eyJpc3MiOiJ4In0.AAAA", "..", "{}",
	} {
		f.Add(token, []byte(`{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"EC","crv":"P-`+`256","x":"AA","y":"AA"}]}`))
	}
	f.Fuzz(func(t *testing.T, token string, set []byte) {
		k := &keys{now: time.Now, read: time.Now(), tried: time.Now(), log: func(string) {}}
		var err error
		if k.set, err = parseKeys(set); err != nil {
			k.set = []jose.JSONWebKey{}
		}
		v := &Verifier{Config: Config{Issuer: "https://x", Audience: "y", Now: time.Now}, keys: k,
			known: map[[32]byte]known{}}
		if _, err := v.Authenticate(context.Background(), token); err == nil {
			t.Errorf("%q is accepted with %q", token, set)
		}
	})
}

func BenchmarkKnown(b *testing.B) {
	k := &keys{now: time.Now, read: time.Now(), tried: time.Now(), set: []jose.JSONWebKey{{}}}
	v := &Verifier{Config: Config{Now: time.Now}, keys: k, known: map[[32]byte]known{
		sha256.Sum256([]byte("x")): {identity: &auth.Identity{}, until: time.Now().Add(time.Hour)},
	}}
	for b.Loop() {
		if _, err := v.Authenticate(b.Context(), "x"); err != nil {
			b.Fatal(err)
		}
	}
}

// No claims cause a panic. Each scope is one that RFC 6749 allows, and none is a part of a word.
func FuzzClaims(f *testing.F) {
	for _, text := range []string{
		`{"scope":"a b","scp":["c"]}`, `{"scope":"a\u00a0b"}`, `{"scope":"a","Scope":"b"}`, `{"scope":"a","scope":"b"}`,
		`{"scp":[null]}`, `[]`, `{"client_id":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, scopes, err := parseClaims(text)
		if err != nil {
			return
		}
		var again struct {
			Scope any `json:"scope"`
			Scp   any `json:"scp"`
		}
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatalf("%q is accepted: %v", text, err)
		}
		words := map[string]bool{}
		for _, claim := range []any{again.Scope, again.Scp} {
			switch claim := claim.(type) {
			case string:
				for word := range strings.SplitSeq(claim, " ") {
					words[word] = true
				}
			case []any:
				for _, word := range claim {
					words[word.(string)] = true
				}
			}
		}
		for _, scope := range scopes {
			if !auth.IsScope(scope) || !words[scope] {
				t.Errorf("%q has no scope %q", text, scope)
			}
		}
	})
}
