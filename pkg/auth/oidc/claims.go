package oidc

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/strict64"
)

const (
	maxText   = 1 << 10 // bytes of a name
	maxScopes = 256
)

// parseHeader checks the parts of a token's header that decide what the token is. It returns the id and the algorithm
// of its key.
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

// claims are the claims that this server decides by. The library has checked the others.
type claims struct {
	client, authorized string
	scopes             []string
}

// deciding are the claims by which this server or the library decides.
var deciding = []string{
	"iss", "sub", "aud", "exp", "nbf", "iat", "client_id", "azp", "scope", "scp", "typ", "at_hash", "c_hash", "events",
	"cnf",
}

// parseClaims reads the claims of a token. It rejects tokens that are valid but no access tokens, and tokens that only
// their owner may use, which the server could not verify.
func parseClaims(text []byte) (c claims, err error) {
	o, err := parseObject(text, deciding...)
	if err != nil {
		return c, err
	}
	texts := map[string]string{}
	for _, name := range []string{"client_id", "azp", "typ"} {
		var ok bool
		if texts[name], ok = o.text(name); !ok {
			return c, fmt.Errorf("its claim %s is not a text", name)
		}
	}
	isEmpty := func(v json.RawMessage) bool { return rawjson.Absent(v) || string(v) == `""` }
	switch kind := texts["typ"]; { // of Keycloak
	case !isEmpty(o["at_hash"]) || !isEmpty(o["c_hash"]),
		slices.Contains([]string{"ID", "Refresh", "Offline", "Logout"}, kind):
		return c, errors.New("it is not an access token")
	case o["events"] != nil:
		return c, errors.New("it is a token of events")
	case o["cnf"] != nil:
		return c, errors.New("it is bound to a key of its owner, which this server does not check")
	}
	c.client, c.authorized = texts["client_id"], texts["azp"]
	c.scopes, err = parseScopes(o["scope"], o["scp"])
	return c, err
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
