// Package oidc verifies the access tokens of an OpenID provider, or of another OAuth 2.0
// authorization server that signs its tokens. The server is an OAuth 2.1 resource server: it accepts
// only tokens that were issued for it.
package oidc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/strict64"
	"mcp-bash/pkg/text/weburl"
)

// A Config is the input of [Open].
type Config struct {
	Issuer   string // of the tokens, and the place of the provider's description
	Audience string // that tokens must name
	Log      func(line string)

	Client *http.Client     // nil: one with the certificates and the proxy of the system
	Now    func() time.Time // nil: [time.Now]
}

// A Verifier verifies tokens, an [auth.Authenticator]. Its methods are safe for concurrent use.
type Verifier struct {
	Config
	keys *keys

	mu    sync.Mutex
	known map[[sha256.Size]byte]known // by the hash of the token
}

type known struct {
	identity *auth.Identity
	until    time.Time
	keys     int // the version of the keys
}

const (
	maxKnown  = 10_000
	keepKnown = 5 * time.Minute
	startTime = 10 * time.Second // for the first attempt to reach the provider
)

// algorithms are the accepted signatures. All are asymmetric, so no public key is ever taken for a
// shared secret.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512,
	oidc.EdDSA,
}

// Open asks the provider for its keys. If it cannot reach the provider, it logs that and tries again later. Until then,
// no token is accepted. An error means that the configuration cannot work.
func Open(ctx context.Context, c Config) (*Verifier, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Client == nil {
		c.Client = &http.Client{Timeout: requestTime}
	}
	if c.Audience == "" {
		return nil, errors.New("the audience of tokens is missing")
	}
	if err := checkURL(c.Issuer); err != nil {
		return nil, fmt.Errorf("issuer %q: %w", c.Issuer, err)
	}
	client := *c.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Client = &client
	v := &Verifier{Config: c, known: map[[sha256.Size]byte]known{}}
	v.keys = &keys{issuer: c.Issuer, client: c.Client, log: c.Log, now: c.Now}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if err := v.keys.update(ctx); err != nil {
		if wrong, ok := errors.AsType[*wrongError](err); ok {
			return nil, fmt.Errorf("issuer %s: %w", c.Issuer, wrong)
		}
		c.Log(fmt.Sprintf("issuer %s: %v; nobody is let in until it answers", c.Issuer, err))
	}
	return v, nil
}

// Watch calls w with the keys of the provider, now and after each refresh.
func (v *Verifier) Watch(w auth.Watcher) {
	v.keys.mu.Lock()
	defer v.keys.mu.Unlock()
	v.keys.watcher = w
	v.keys.report()
}

// checkURL checks that an address can be trusted to be the provider's: https, or this machine.
func checkURL(text string) error {
	u, err := weburl.Parse(text)
	switch {
	case err == weburl.ErrPort:
		return err
	case err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("not a URL such as https://login.example.com")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && weburl.IsLoopback(u.Hostname()):
		return nil
	}
	return errors.New("it must begin with https://")
}

// Usable returns an [*auth.Error] while no token can be verified. It then refreshes the keys in the background, because
// otherwise only a token causes that.
func (v *Verifier) Usable() error { return v.keys.usable() }

// Authenticate verifies a token. A token that was verified a moment ago costs one hash.
func (v *Verifier) Authenticate(ctx context.Context, token string) (*auth.Identity, error) {
	hash := sha256.Sum256([]byte(token))
	now := v.Now()
	v.mu.Lock()
	k, found := v.known[hash]
	v.mu.Unlock()
	if found && now.Before(k.until) && k.keys == v.keys.current(now) {
		return k.identity, nil
	}
	identity, expires, version, err := v.verify(ctx, token)
	if err != nil {
		return nil, err
	}
	if until := now.Add(keepKnown); expires.After(until) {
		expires = until
	}
	v.remember(hash, known{identity, expires, version}, now)
	return identity, nil
}

func (v *Verifier) remember(hash [sha256.Size]byte, k known, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.known) >= maxKnown {
		maps.DeleteFunc(v.known, func(_ [sha256.Size]byte, old known) bool { return !now.Before(old.until) })
	}
	for other := range v.known { // any one
		if len(v.known) < maxKnown {
			break
		}
		delete(v.known, other)
	}
	v.known[hash] = k
}

// verify returns the identity of a token, when it expires, and the version of the keys.
func (v *Verifier) verify(ctx context.Context, token string) (*auth.Identity, time.Time, int, error) {
	fail := func(err error) (*auth.Identity, time.Time, int, error) {
		if e, ok := errors.AsType[*auth.Error](err); ok {
			return nil, time.Time{}, 0, e
		}
		reason := "the token is invalid"
		if _, expired := errors.AsType[*oidc.TokenExpiredError](err); expired {
			reason = "the token has expired"
		}
		return nil, time.Time{}, 0, &auth.Error{Kind: auth.Invalid, Reason: reason, Err: err}
	}
	id, algorithm, err := parseHeader(token)
	if err != nil {
		return fail(err)
	}
	set := &keySet{keys: v.keys, id: id, algorithm: algorithm}
	verifier := oidc.NewVerifier(v.Issuer, set, &oidc.Config{
		ClientID: v.Audience, SupportedSigningAlgs: algorithms, Now: v.Now,
	})
	verified, err := verifier.Verify(ctx, token)
	if set.failure != nil {
		return fail(set.failure)
	}
	if err != nil {
		return fail(err)
	}
	var text json.RawMessage
	if err := verified.Claims(&text); err != nil {
		return fail(errors.New("its claims are invalid"))
	}
	client, scopes, err := parseClaims(text)
	if err != nil {
		return fail(err)
	}
	i := &auth.Identity{Name: cmp.Or(client, verified.Subject), Issuer: v.Issuer, Scopes: scopes,
		Subject: verified.Subject, Accepts: func() bool { return v.Now().Before(verified.Expiry) }}
	for _, text := range []string{i.Name, i.Subject} {
		if len(text) > maxText || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fail(errors.New("its client or subject is not a plain text"))
		}
	}
	if i.Name == "" {
		return fail(errors.New("it names no client and no subject"))
	}
	return i, verified.Expiry, set.version, nil
}

const (
	maxText   = 1 << 10 // bytes of a name
	maxScopes = 256
)

// parseHeader checks the members of a token's header that determine its type and its signature. It returns the id and
// the algorithm of its key.
func parseHeader(token string) (key, algorithm string, err error) {
	first, rest, found := strings.Cut(token, ".")
	if !found || strings.Count(rest, ".") != 1 {
		return "", "", errors.New("it is not a signed JSON Web Token")
	}
	text, err := strict64.URL(first)
	if err != nil {
		return "", "", errors.New("its header is invalid")
	}
	for part := range strings.SplitSeq(rest, ".") {
		if _, err := strict64.URL(part); err != nil {
			return "", "", errors.New("its claims or its signature have an invalid form")
		}
	}
	h, err := parseObject(text, "typ", "kid", "crit", "alg")
	if err != nil {
		return "", "", fmt.Errorf("its header is invalid: %w", err)
	}
	kind, isText := h.text("typ")
	key, valid := h.text("kid")
	algorithm, _ = h.text("alg")
	switch kind = strings.TrimPrefix(ascii.Lower(kind), "application/"); {
	case !isText || kind != "" && kind != "jwt" && kind != "at+jwt":
		return "", "", errors.New("its type is not that of an access token")
	case h["crit"] != nil:
		return "", "", errors.New("it has critical extensions")
	case !slices.Contains(algorithms, algorithm):
		return "", "", fmt.Errorf("the algorithm %.64q is not accepted, only %s", algorithm, strings.Join(algorithms, ", "))
	case !valid || len(key) > maxKeyID:
		return "", "", errors.New("the id of its key is invalid")
	}
	return key, algorithm, nil
}

// deciding are the claims that this server or the library uses to accept or reject a token.
var deciding = []string{
	"iss", "sub", "aud", "exp", "nbf", "iat", "client_id", "azp", "scope", "scp", "typ", "at_hash", "c_hash", "events",
	"cnf",
}

// parseClaims returns the client and the scopes of a token. The library has checked other claims. It rejects valid
// tokens other than access tokens, and tokens that are bound to their sender, which the server cannot verify.
func parseClaims(text []byte) (client string, scopes []string, err error) {
	o, err := parseObject(text, deciding...)
	if err != nil {
		return "", nil, err
	}
	texts := map[string]string{}
	for _, name := range []string{"client_id", "azp", "typ"} {
		var ok bool
		if texts[name], ok = o.text(name); !ok {
			return "", nil, fmt.Errorf("its claim %s is not a text", name)
		}
	}
	isEmpty := func(v json.RawMessage) bool { return rawjson.Absent(v) || string(v) == `""` }
	switch kind := texts["typ"]; { // of Keycloak
	case !isEmpty(o["at_hash"]) || !isEmpty(o["c_hash"]),
		slices.Contains([]string{"ID", "Refresh", "Offline", "Logout"}, kind):
		return "", nil, errors.New("it is not an access token")
	case o["events"] != nil:
		return "", nil, errors.New("it is a token of events")
	case o["cnf"] != nil:
		return "", nil, errors.New("it is bound to a key of its owner, which this server does not check")
	}
	scopes, err = parseScopes(o["scope"], o["scp"])
	return cmp.Or(texts["client_id"], texts["azp"]), scopes, err
}

// parseScopes reads the scopes of a token: a text with spaces, or an array.
func parseScopes(claims ...json.RawMessage) (scopes []string, err error) {
	for _, claim := range claims {
		list, ok := rawjson.Strings(claim) // none if it is absent
		if text, isText := rawjson.Text(claim); isText {
			list, ok = ascii.Words(text), true
		}
		if !ok {
			return nil, errors.New("its scopes are invalid")
		}
		for _, scope := range list {
			if !auth.IsScope(scope) {
				return nil, fmt.Errorf("%.140q is not a scope of OAuth", scope)
			}
		}
		scopes = append(scopes, list...)
	}
	if len(scopes) > maxScopes {
		return nil, errors.New("it has too many scopes")
	}
	slices.Sort(scopes)
	return slices.Compact(scopes), nil
}

// An object has members of a JSON object.
type object map[string]json.RawMessage

// parseObject reads the members with these names. Each may occur once, and no other member may have such a name in
// another case. Readers that ignore the case, such as Go's own, would mistake it for the member itself.
func parseObject(text []byte, names ...string) (object, error) {
	doc, err := rawjson.Check(text)
	if err != nil || rawjson.KindOf(doc) != rawjson.Object {
		return nil, errors.New("it is not a JSON object")
	}
	o := object{}
	for name, value := range rawjson.All(doc) {
		at := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
		switch {
		case at < 0:
			continue
		case name != names[at]:
			return nil, fmt.Errorf("%.64q can be taken for %s", name, names[at])
		case o[name] != nil:
			return nil, fmt.Errorf("%s occurs twice", name)
		}
		o[name] = value
	}
	return o, nil
}

// text returns the text of a member, or "" without one. ok is false for another kind of value.
func (o object) text(name string) (text string, ok bool) {
	if rawjson.Absent(o[name]) {
		return "", true
	}
	return rawjson.Text(o[name])
}
