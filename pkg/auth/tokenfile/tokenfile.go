// Package tokenfile verifies bearer tokens with a file that contains their hashes, and edits that
// file. A server reads the file again when it changes.
//
// A token has 256 random bits, so nobody finds it by trying. That is why the file contains plain
// SHA-256 hashes: a slow hash, which a password needs, would only slow down each request.
package tokenfile

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/auth/internal/reread"
	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/files/secretfile"
	"mcp-bash/pkg/files/userfile"
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

	// Patterns of allowed items. If all three are nil, all items are allowed. Otherwise only items that match are.
	Tools     []string `json:"tools,omitzero"`
	Resources []string `json:"resources,omitzero"`
	Prompts   []string `json:"prompts,omitzero"`
}

// Rights returns the items that the token permits; nil: all.
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

// A File is an open token file, an [auth.Authenticator]. Its methods are safe for concurrent use.
type File struct {
	*reread.Files[table]
	path string
}

type table struct {
	seed    maphash.Seed
	entries map[uint64][]entry // the keys are seeded hashes of token hashes
}

type entry struct {
	token    Token
	identity *auth.Identity
}

// Open reads a token file. log receives a line when the file becomes unusable, or usable again.
// It may be called at any time, by any goroutine.
func Open(path string, log func(line string)) (f *File, err error) {
	f = &File{path: path}
	f.Files, err = reread.Open(reread.Config[table]{
		Name: "token file " + path, Consequence: "nobody is let in until it is corrected", Parse: f.parse,
		Files: []reread.File{{Path: path, Rule: served}}, Log: log, Now: time.Now, Elapsed: clock.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("token file %s: %w", path, err)
	}
	return f, nil
}

// served is the rule for the file of a server: other users must not be able to read or change it.
var served = secretfile.Rule{Max: maxBytes, Secret: true}

func (f *File) parse(texts [][]byte) (t table, err error) {
	doc, err := parse(texts[0])
	if err != nil {
		return t, err
	}
	t = table{maphash.MakeSeed(), map[uint64][]entry{}}
	for _, token := range doc.Tokens {
		key := maphash.Bytes(t.seed, token.Hash[:])
		id := &auth.Identity{Name: token.Name, Rights: token.Rights()}
		rights := id.Key()
		id.Accepts = func() bool {
			now, err := f.identify(token.Hash)
			return err == nil && now.Key() == rights
		}
		t.entries[key] = append(t.entries[key], entry{token, id})
	}
	return t, nil
}

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Watch calls w with the tokens, now and after each reload.
func (f *File) Watch(w auth.Watcher) {
	f.Files.Watch(func(c *reread.Content[table]) {
		hashes := map[string][sha256.Size]byte{}
		for _, list := range c.Value.entries {
			for _, e := range list {
				hashes[e.token.Name] = auth.Digest(e.token)
			}
		}
		w(hashes, c.Fault)
	})
}

// Authenticate finds a token in the file.
func (f *File) Authenticate(_ context.Context, token string) (*auth.Identity, error) {
	return f.identify(sha256.Sum256([]byte(token)))
}

// Usable returns an [*auth.Error] while the server accepts no token, because the file is unusable.
func (f *File) Usable() error {
	_, err := f.current()
	return err
}

func (f *File) current() (table, error) {
	c := f.Current()
	if c.Fault == nil {
		return c.Value, nil
	}
	return table{}, &auth.Error{
		Kind: auth.Unavailable, Reason: "the token file of the server is unusable", Err: c.Fault,
	}
}

func (f *File) identify(hash Hash) (*auth.Identity, error) {
	t, err := f.current()
	if err != nil {
		return nil, err
	}
	// Neither the random seed nor the comparison lets the time of a look-up depend on how much of a
	// hash is right.
	for _, e := range t.entries[maphash.Bytes(t.seed, hash[:])] {
		if subtle.ConstantTimeCompare(e.token.Hash[:], hash[:]) != 1 {
			continue
		}
		if e.token.Expired(f.Now()) {
			return nil, &auth.Error{Kind: auth.Invalid, Reason: "the token has expired"}
		}
		return e.identity, nil
	}
	return nil, &auth.Error{Kind: auth.Invalid, Reason: "unknown token"}
}

// The errors of edits, wrapped.
var (
	ErrExists  = errors.New("a token with this name exists")
	ErrUnknown = errors.New("no token has this name")
)

const lockWait = 10 * time.Second // for another edit

// Create adds a token to a file, which it creates if necessary. It sets the hash of t and returns
// the token, which nothing else can restore. The error may be [ErrExists].
func Create(ctx context.Context, path string, t Token) (secret string, err error) {
	if err := t.check(); err != nil {
		return "", err
	}
	secret = generate()
	t.Hash = sha256.Sum256([]byte(secret))
	err = edit(ctx, path, true, func(doc *document) error {
		switch {
		case slices.ContainsFunc(doc.Tokens, func(other Token) bool { return other.Name == t.Name }):
			return ErrExists
		case len(doc.Tokens) >= maxTokens:
			return fmt.Errorf("there are %d tokens already", maxTokens)
		}
		doc.Tokens = append(doc.Tokens, t)
		return nil
	})
	return secret, err
}

// Revoke removes a token from a file. The error may be [ErrUnknown].
func Revoke(ctx context.Context, path, name string) error {
	return edit(ctx, path, false, func(doc *document) error {
		at := slices.IndexFunc(doc.Tokens, func(t Token) bool { return t.Name == name })
		if at < 0 {
			return ErrUnknown
		}
		doc.Tokens = slices.Delete(doc.Tokens, at, at+1)
		return nil
	})
}

// List returns the tokens of a file.
func List(path string) ([]Token, error) {
	text, _, err := edited.Read(path)
	if err != nil {
		return nil, err
	}
	doc, err := parse(text)
	if err != nil {
		return nil, err
	}
	return doc.Tokens, nil
}

// edited is the rule for commands. Root edits files of the users that servers run as.
var edited = secretfile.Rule{Max: maxBytes, Secret: true, AnyOwner: true}

// edit changes a file. The file may be missing only with create.
func edit(ctx context.Context, path string, create bool, change func(*document) error) error {
	return edited.Edit(ctx, path, lockWait, func(f userfile.File) ([]byte, error) {
		doc, err := &document{Tokens: []Token{}}, error(nil)
		if f.There {
			if doc, err = parse(f.Text); err != nil {
				return nil, err
			}
		} else if !create {
			return nil, fs.ErrNotExist
		}
		if err := change(doc); err != nil {
			return nil, err
		}
		text, err := json.MarshalIndent(doc, "", "  ")
		return append(text, '\n'), err
	})
}
