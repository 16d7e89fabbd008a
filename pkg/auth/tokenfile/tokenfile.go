// Package tokenfile verifies bearer tokens with a file that contains their hashes, and edits that
// file. A server reads the file again when it changes.
//
// A token has 256 random bits, so nobody finds it by trying. That is why the file contains plain
// SHA-256 hashes: a slow hash, which a password needs, would only slow down each request.
package tokenfile

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/ascii"
)

// Prefix begins each token, so that programs that search for secrets recognize it.
const Prefix = "mcpbash_"

const (
	maxBytes  = 4 << 20
	maxTokens = 10_000
	maxRights = 1_000 // patterns of one token, for each kind of items
	maxName   = 64    // characters
)

// A Token is an entry of the file. It does not contain the token itself.
type Token struct {
	Name    string     `json:"name"`
	Hash    Hash       `json:"sha256"`
	Created time.Time  `json:"created,omitzero"`
	Expires *time.Time `json:"expires,omitempty"` // nil: never

	// Patterns of allowed items. If all three are nil, everything is allowed, otherwise nothing that they do not name.
	Tools     []string `json:"tools,omitzero"`
	Resources []string `json:"resources,omitzero"`
	Prompts   []string `json:"prompts,omitzero"`
}

// Rights returns the items that the token permits; nil: all (H-244).
func (t *Token) Rights() *auth.Rights {
	if t.Tools == nil && t.Resources == nil && t.Prompts == nil {
		return nil
	}
	return &auth.Rights{Tools: t.Tools, Resources: t.Resources, Prompts: t.Prompts}
}

// Expired reports whether the token is no longer valid.
func (t *Token) Expired(now time.Time) bool { return t.Expires != nil && !now.Before(*t.Expires) }

// A Hash is the SHA-256 hash of a token, in hexadecimal digits in JSON.
type Hash [sha256.Size]byte

// MarshalText is [encoding.TextMarshaler].
func (h Hash) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h[:])), nil }

// UnmarshalText is [encoding.TextUnmarshaler].
func (h *Hash) UnmarshalText(text []byte) error {
	if len(text) != hex.EncodedLen(len(h)) {
		return errors.New("sha256 must have 64 hexadecimal digits")
	}
	_, err := hex.Decode(h[:], text)
	return err
}

func generate() string {
	var random [32]byte
	rand.Read(random[:]) // never fails
	return Prefix + base64.RawURLEncoding.EncodeToString(random[:])
}

type document struct {
	Schema string  `json:"$schema,omitempty"`
	Tokens []Token `json:"tokens"`
}

func parse(text []byte) (*document, error) {
	if len(bytes.Trim(text, " \t\r\n")) == 0 {
		return nil, errors.New("it is empty; remove it, and run mcp-bash token create")
	}
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, rawjson.ByteOrderMark)))
	d.DisallowUnknownFields()
	var doc document
	if err := d.Decode(&doc); err != nil {
		return nil, fmt.Errorf("invalid JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("invalid JSON: text after the object")
	}
	if doc.Tokens == nil {
		return nil, errors.New("tokens is missing")
	}
	if len(doc.Tokens) > maxTokens {
		return nil, fmt.Errorf("more than %d tokens", maxTokens)
	}
	names, hashes := map[string]bool{}, map[Hash]bool{}
	for i := range doc.Tokens {
		t := &doc.Tokens[i]
		err := t.check()
		switch {
		case err != nil:
		case t.Hash == Hash{}:
			err = errors.New("sha256 is missing")
		case names[t.Name]:
			err = errors.New("another token has this name")
		case hashes[t.Hash]:
			err = errors.New("another token has this hash")
		}
		if err != nil {
			return nil, fmt.Errorf("token %d (%.64q): %w", i+1, t.Name, err)
		}
		names[t.Name], hashes[t.Hash] = true, true
	}
	return &doc, nil
}

// check checks the parts of a token that people choose.
func (t *Token) check() error {
	const extra = "_-.@"
	invalid := strings.IndexFunc(t.Name, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune(extra, r)
	})
	switch {
	case t.Name == "":
		return errors.New("name is missing")
	case invalid >= 0 || len(t.Name) > maxName:
		return fmt.Errorf("a name has at most %d letters, digits and characters of %q", maxName, extra)
	}
	rights := t.Rights()
	if rights == nil {
		return nil
	}
	for _, kind := range []auth.ItemKind{auth.Tool, auth.Resource, auth.Prompt} {
		item := ascii.Lower(kind.String())
		if len(rights.Of(kind)) > maxRights {
			return fmt.Errorf("more than %d patterns of %ss", maxRights, item)
		}
		for _, pattern := range rights.Of(kind) {
			if !auth.IsPattern(pattern) {
				return fmt.Errorf("%.140q is not the name of a %s or a pattern such as git-*", pattern, item)
			}
		}
	}
	return nil
}
