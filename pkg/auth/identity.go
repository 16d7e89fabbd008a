package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText is the length of the longest name, subject, issuer or list of scopes that scripts get, in
// bytes.
const maxText = 1024

// sorted returns the different elements of a list in order.
func sorted(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// EachVariable calls set for each variable that describes the caller to scripts. All values are ""
// for a caller without identity (H-400). They are bounded, and have no control characters.
func (i *Identity) EachVariable(set func(name, value string)) {
	if i == nil {
		i = &Identity{}
	}
	set("MCP_CLIENT_ID", plain(i.Name))
	set("MCP_CLIENT_ISSUER", plain(i.Issuer))
	set("MCP_CLIENT_SUBJECT", plain(i.Subject))
	var scopes strings.Builder
	for _, scope := range i.Scopes {
		if !IsScope(scope) || scopes.Len()+1+len(scope) > maxText { // fewer scopes never permit more
			continue
		}
		if scopes.Len() > 0 {
			scopes.WriteByte(' ')
		}
		scopes.WriteString(scope)
	}
	set("MCP_CLIENT_SCOPES", scopes.String())
}

// plain returns a text that a script can use. A text with control characters, or a long one, becomes
// its hash: two callers never look alike, and no caller looks like one without identity.
func plain(text string) string {
	if len(text) <= maxText && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// IsScope reports whether a text is a scope of OAuth (RFC 6749, section 3.3).
func IsScope(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"' || r == '\\'
	})
}
