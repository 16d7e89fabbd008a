package tokenfile

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/clock"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/secretfile"
)

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
