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
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/files/folder"
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

// A File is an open token file, an [auth.Authenticator]. Its methods are safe for concurrent use.
type File struct {
	path    string
	log     func(line string)
	now     func() time.Time
	elapsed func() time.Duration // [clock.Now]

	checked atomic.Int64 // the time of the last look at the file, of elapsed
	table   atomic.Pointer[table]
	mu      sync.Mutex // for reading the file
	logged  string     // the line about the file's fault, or ""
	watcher auth.Watcher
}

type table struct {
	stamp   folder.Stamp
	read    time.Time
	fault   error // not nil: the file is unusable, so nobody is let in
	seed    maphash.Seed
	entries map[uint64][]entry // the keys are seeded hashes of token hashes
}

type entry struct {
	token    Token
	identity *auth.Identity
}

// interval is the minimum time between two looks at the file. A revoked token is valid that long.
const interval = time.Second

// Open reads a token file. log receives a line when the file becomes unusable, or usable again.
// It may be called at any time, by any goroutine.
func Open(path string, log func(line string)) (*File, error) {
	f := &File{path: path, log: log, now: time.Now, elapsed: clock.Now}
	t := f.read()
	if t.fault != nil {
		return nil, fmt.Errorf("token file %s: %w", path, t.fault)
	}
	f.table.Store(t)
	f.checked.Store(int64(f.elapsed()))
	return f, nil
}

func (f *File) read() *table {
	t := &table{read: f.now(), seed: maphash.MakeSeed(), entries: map[uint64][]entry{}}
	doc, stamp, err := load(f.path, served)
	t.stamp, t.fault = stamp, err
	if err != nil {
		return t
	}
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
	return t
}

// served is the rule for a server, in which the file decides who is let in.
var served = secretfile.Rule{Max: maxBytes, Secret: true}

func load(path string, rule secretfile.Rule) (*document, folder.Stamp, error) {
	text, stamp, err := rule.Read(path)
	if err != nil {
		return nil, stamp, err
	}
	doc, err := parse(text)
	return doc, stamp, err
}

// current returns the content of the file. It checks the file again after [interval].
func (f *File) current() *table {
	now := f.elapsed()
	if now-time.Duration(f.checked.Load()) < interval || !f.mu.TryLock() {
		return f.table.Load()
	}
	defer f.mu.Unlock()
	old := f.table.Load()
	f.checked.Store(int64(now))
	if old.fault == nil && f.unchanged(old) {
		return old
	}
	fresh := f.read()
	line := ""
	if fresh.fault != nil {
		line = fmt.Sprintf("token file %s: %v; nobody is let in until it is corrected", f.path, fresh.fault)
	}
	switch {
	case line == f.logged:
	case line != "":
		f.log(line)
	default:
		f.log(fmt.Sprintf("token file %s: usable again", f.path))
	}
	f.logged = line
	f.table.Store(fresh)
	f.report(fresh)
	return fresh
}

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Watch gives the tokens to a watcher, now and whenever the file was read again.
func (f *File) Watch(w auth.Watcher) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.watcher = w
	f.report(f.table.Load())
}

// report gives the tokens to the watcher. The lock is held.
func (f *File) report(t *table) {
	if f.watcher == nil {
		return
	}
	hashes := map[string][sha256.Size]byte{}
	for _, list := range t.entries {
		for _, e := range list {
			hashes[e.token.Name] = auth.Digest(e.token)
		}
	}
	f.watcher(hashes, t.fault)
}

// unchanged reports whether the file is certainly the one that was read.
func (f *File) unchanged(t *table) bool {
	return secretfile.Stamp(f.path) == t.stamp && t.stamp.Settled(t.read)
}

// Authenticate finds a token in the file.
func (f *File) Authenticate(_ context.Context, token string) (*auth.Identity, error) {
	return f.identify(sha256.Sum256([]byte(token)))
}

// Usable returns an [*auth.Error] while no token is let in, because the file is unusable.
func (f *File) Usable() error { return f.current().usable() }

func (t *table) usable() error {
	if t.fault == nil {
		return nil
	}
	return &auth.Error{Kind: auth.Unavailable, Reason: "the token file of the server is unusable", Err: t.fault}
}

func (f *File) identify(hash Hash) (*auth.Identity, error) {
	t := f.current()
	if err := t.usable(); err != nil {
		return nil, err
	}
	// Neither the random seed nor the comparison lets the time of a look-up depend on how much of a
	// hash is right.
	for _, e := range t.entries[maphash.Bytes(t.seed, hash[:])] {
		if subtle.ConstantTimeCompare(e.token.Hash[:], hash[:]) != 1 {
			continue
		}
		if e.token.Expired(f.now()) {
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
	doc, _, err := load(path, edited)
	if err != nil {
		return nil, err
	}
	return doc.Tokens, nil
}

// edited is the rule for commands. Root edits files of the users that servers run as.
var edited = secretfile.Rule{Max: maxBytes, Secret: true, AnyOwner: true}

// edit changes a file. Only a new file may be missing.
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
