package oidc

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"mcp-bash/pkg/auth"
)

// keys are the public keys of the provider. They are fetched again when they are old, and when a token names an
// unknown key. So the provider can add and remove keys at any time.
//
// go-oidc's remote set of keys fetches them for each token with an unknown key. It never forgets removed keys, and
// reads responses of any length. A client with limits cannot add the rest: the set has no age, and is empty until the
// first token.
type keys struct {
	issuer string
	client *http.Client
	log    func(line string)
	now    func() time.Time

	updating sync.Mutex // one request to the provider at a time

	mu      sync.Mutex
	address string // of the keys, as the provider's description names it
	set     []jose.JSONWebKey
	version int       // counts changes of set
	read    time.Time // when the set was read
	tried   time.Time // when an attempt to read it began
	fault   error     // of the last attempt
	watcher auth.Watcher

	refreshing bool // in the background
	background sync.WaitGroup
}

const (
	requestTime = 10 * time.Second
	maxAnswer   = 1 << 20 // bytes
	maxKeys     = 100
	maxKeyID    = 1 << 10
	refreshKeys = 5 * time.Minute  // after which keys are read again
	expireKeys  = time.Hour        // after which keys are no longer used
	pause       = 10 * time.Second // between two attempts
)

// A wrongError is an answer of the provider that another attempt would not change.
type wrongError struct{ text string }

func (e *wrongError) Error() string { return e.text }

func wrong(format string, args ...any) error { return &wrongError{fmt.Sprintf(format, args...)} }

// current returns the version of the keys, or -1 if they are too old. It refreshes old keys in the
// background.
func (k *keys) current(now time.Time) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.set == nil || now.Sub(k.read) > expireKeys {
		return -1
	}
	if now.Sub(k.read) > refreshKeys {
		k.refreshSoon(now)
	}
	return k.version
}

// refreshSoon refreshes the keys in the background, unless that was tried a moment ago. k.mu is locked.
func (k *keys) refreshSoon(now time.Time) {
	if now.Sub(k.tried) <= pause || k.refreshing {
		return
	}
	k.refreshing = true
	k.background.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), requestTime)
		defer cancel()
		k.update(ctx)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.refreshing = false
	})
}

// usable implements [Verifier.Usable].
func (k *keys) usable() error {
	now := k.now()
	if k.current(now) >= 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refreshSoon(now)
	return k.unavailable()
}

// unavailable returns the error while there are no keys. k.mu is locked.
func (k *keys) unavailable() error {
	return &auth.Error{
		Kind: auth.Unavailable, Reason: "the OpenID provider does not answer, so tokens cannot be checked", Err: k.fault,
	}
}

// find returns the keys that may have signed a token. id is the key that the token names, or "".
func (k *keys) find(ctx context.Context, id string) (found []jose.JSONWebKey, version int, err error) {
	found, version, early, err := k.look(id)
	if len(found) == 0 && !early {
		// A client that leaves must not end the attempt, because the next attempt must wait for the pause.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTime)
		defer cancel()
		k.update(ctx)
		found, version, _, err = k.look(id)
	}
	return found, version, err
}

// look is find without asking the provider. early means that the last attempt to ask is too recent.
func (k *keys) look(id string) (found []jose.JSONWebKey, version int, early bool, err error) {
	now := k.now()
	version = k.current(now)
	k.mu.Lock()
	defer k.mu.Unlock()
	early = now.Sub(k.tried) < pause
	if version < 0 {
		return nil, 0, early, k.unavailable()
	}
	for _, key := range k.set {
		if id == "" || key.KeyID == "" || key.KeyID == id {
			found = append(found, key)
		}
	}
	return found, version, early, nil
}

// update reads the keys. Only one goroutine asks the provider at a time.
func (k *keys) update(ctx context.Context) error {
	before := k.now()
	k.updating.Lock()
	defer k.updating.Unlock()
	k.mu.Lock()
	if k.tried.After(before) { // another goroutine has just asked
		defer k.mu.Unlock()
		return k.fault
	}
	k.tried = k.now()
	address, began := k.address, k.tried
	k.mu.Unlock()
	set, address, err := k.fetch(ctx, address)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		if k.fault == nil && k.set != nil {
			k.log(fmt.Sprintf("issuer %s: %v; its keys are used until %s", k.issuer, err,
				k.read.Add(expireKeys).UTC().Format(time.TimeOnly)))
		}
		k.fault, k.address = err, ""
		k.report()
		return err
	}
	if k.fault != nil {
		k.log(fmt.Sprintf("issuer %s: it answers again", k.issuer))
	}
	if !reflect.DeepEqual(k.set, set) {
		k.version++
	}
	k.address, k.set, k.read, k.fault = address, set, began, nil
	k.report()
	return nil
}

// report calls the watcher with the keys. k.mu is locked.
func (k *keys) report() {
	if k.watcher == nil {
		return
	}
	hashes := make(map[string][sha256.Size]byte, len(k.set))
	for i := range k.set {
		hashes[k.set[i].KeyID] = auth.Digest(&k.set[i])
	}
	k.watcher(hashes, k.fault)
}

// fetch reads the keys from their address, which it looks up in the provider's description if it is
// not known.
func (k *keys) fetch(ctx context.Context, address string) ([]jose.JSONWebKey, string, error) {
	if address == "" {
		var err error
		if address, err = k.discover(ctx); err != nil {
			return nil, "", err
		}
	}
	text, err := k.get(ctx, address)
	if err != nil {
		return nil, "", err
	}
	set, err := parseKeys(text)
	return set, address, err
}

// parseKeys reads a set of keys. It ignores keys that cannot verify signatures, and secrets.
func parseKeys(text []byte) (set []jose.JSONWebKey, err error) {
	var list struct{ Keys []json.RawMessage }
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, wrong("its keys are not valid JSON")
	}
	if len(list.Keys) > maxKeys {
		return nil, wrong("it has more than %d keys", maxKeys)
	}
	for _, one := range list.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(one) == nil && key.Valid() && key.IsPublic() && (key.Use == "" || key.Use == "sig") {
			set = append(set, key)
		}
	}
	if len(set) == 0 {
		return nil, wrong("it has no public keys")
	}
	return set, nil
}

// discover returns the address of the keys, from the description of an OpenID provider or of another
// authorization server (RFC 8414).
func (k *keys) discover(ctx context.Context) (string, error) {
	u, err := url.Parse(k.issuer)
	if err != nil {
		return "", wrong("%v", err)
	}
	other := *u
	other.Path = "/.well-known/oauth-authorization-server" + strings.TrimSuffix(u.Path, "/")
	text, err := k.get(ctx, strings.TrimSuffix(k.issuer, "/")+"/.well-known/openid-configuration")
	if _, missing := errors.AsType[*wrongError](err); missing {
		text, err = k.get(ctx, other.String())
	}
	if err != nil {
		return "", err
	}
	var description struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	switch err := json.Unmarshal(text, &description); {
	case err != nil:
		return "", wrong("its description is not valid JSON")
	case description.Issuer != k.issuer:
		return "", wrong("it calls itself %.200q", description.Issuer)
	}
	if err := checkURL(description.Keys); err != nil {
		return "", wrong("the address of its keys, %.200q: %v", description.Keys, err)
	}
	return description.Keys, nil
}

// get reads an answer of the provider. The error is a [*wrongError] if the provider answered and
// will not answer differently.
func (k *keys) get(ctx context.Context, address string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, wrong("%v", err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := k.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests || status >= 500:
		return nil, fmt.Errorf("%s: %s", address, response.Status)
	case status != http.StatusOK:
		return nil, wrong("%s: %s", address, response.Status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = wrong("%s: more than %d bytes", address, maxAnswer)
	}
	return text, err
}

// A keySet verifies one token, an [oidc.KeySet].
type keySet struct {
	keys          *keys
	id, algorithm string
	version       int   // of the keys that were used
	failure       error // why it was not verified; package oidc replaces the reason
}

// VerifySignature returns the content of a token with a valid signature. Only keys of the provider
// count: addresses and keys in the header of a token are ignored.
func (s *keySet) VerifySignature(ctx context.Context, token string) (text []byte, err error) {
	found, version, err := s.keys.find(ctx, s.id)
	if s.failure = err; err != nil {
		return nil, err
	}
	s.version = version
	var set oidc.StaticKeySet
	for _, key := range found {
		if key.Algorithm == "" || key.Algorithm == s.algorithm {
			set.PublicKeys = append(set.PublicKeys, key.Key)
		}
	}
	if text, err = set.VerifySignature(ctx, token); err != nil {
		s.failure = errors.New("no key of the provider has signed it")
	}
	return text, s.failure
}
