// Package results keeps the complete output of tools whose results are too large for a client. The
// client gets a part and a link, and reads the rest in ranges (results.md).
package results

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"mcp-bash/pkg/auth/share"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/wire/mcp"
)

// A Config has the limits of a [Store].
type Config struct {
	Dir        func() (*os.Root, error) // the private directory for the files
	MaxBytes   int                      // of one result
	ClientMax  int                      // bytes of the results of one owner
	ServerMax  int                      // bytes of the results of all clients
	Keep       time.Duration            // a result expires after this time
	MaxResults int                      // of all clients, because each has an open file
	// Owner returns the name of this process for other replicas, as a part of URIs. It is bound to
	// the token and the caller. nil: there are no other replicas.
	Owner func(token, caller string) string
}

// A Store has the results of all clients of a process. It is safe for concurrent use.
type Store struct {
	Config

	mu      sync.Mutex
	results []*result // the oldest first
}

// A result is one stored output. Its file is open as long as the result is in the store or is read.
type result struct {
	client   *Client
	token    string
	mimeType string
	file     *File
	expires  *time.Timer
	readers  int
	removed  bool
}

// NewStore returns an empty store.
func NewStore(c Config) *Store { return &Store{Config: c} }

// A Client has the results that one client may read.
type Client struct {
	store         *Store
	owner, caller string
}

// NewClient returns the results of a new client. owner and caller are keys of its identity (see auth.Identity).
func (s *Store) NewClient(owner, caller string) *Client { return &Client{s, owner, caller} }

// A File is a private file that has no name where the system permits that. So nothing is left after
// the server was killed.
type File struct {
	*os.File
	remove func() // for systems that keep the name of an open file
	size   int64
}

// NewFile creates a file. The caller passes it to [Client.Add] or closes it.
func (c *Client) NewFile() (*File, error) {
	dir, err := c.store.Dir()
	if err != nil {
		return nil, err
	}
	name := handoff.Unique("result-")
	file, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	f := &File{File: file}
	if dir.Remove(name) != nil {
		f.remove = func() { dir.Remove(name) }
	}
	return f, nil
}

// Write appends to the file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.size += int64(n)
	return n, err
}

// Size returns the number of bytes that were written.
func (f *File) Size() int64 { return f.size }

// Close closes the file, which frees its space.
func (f *File) Close() error {
	err := f.File.Close()
	if f.remove != nil {
		f.remove()
	}
	return err
}

// MaxBytes returns the maximum size of a result.
func (c *Client) MaxBytes() int { return c.store.MaxBytes }

var errTooLarge = errors.New("larger than a stored result may be")

// Add stores a file and returns the URI of the result. If a limit would be exceeded, Add removes the oldest results of
// the owner that uses most. After an error the caller closes the file.
func (c *Client) Add(file *File, mimeType string) (uri string, err error) {
	s := c.store
	if file.size > int64(min(s.MaxBytes, s.ClientMax, s.ServerMax)) {
		return "", errTooLarge
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.makeRoom(c, file.size)
	r := &result{client: c, token: strings.ToLower(rand.Text()), mimeType: mimeType, file: file}
	r.expires = time.AfterFunc(s.Keep, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.drop(func(other *result) bool { return other == r })
	})
	s.results = append(s.results, r)
	uri = scheme + r.token
	if s.Owner != nil {
		uri += "/" + s.Owner(r.token, c.caller)
	}
	return uri, nil
}

// makeRoom removes results until a new one of a size fits. The caller has locked mu.
func (s *Store) makeRoom(c *Client, size int64) {
	bytes, one := func(r *result) int { return int(r.file.size) }, func(*result) int { return 1 }
	own := func(r *result) int {
		if r.client.owner != c.owner {
			return 0
		}
		return int(r.file.size)
	}
	added := &result{client: c, file: &File{size: size}}
	s.limit(added, own, s.ClientMax)
	s.limit(added, bytes, s.ServerMax)
	s.limit(added, one, s.MaxResults)
}

// limit removes results until the cost of the remaining ones and the new one is within a limit.
func (s *Store) limit(added *result, cost func(*result) int, most int) {
	of := func(r *result) (string, int) { return r.client.owner, cost(r) }
	sum := cost(added)
	for _, r := range s.results {
		sum += cost(r)
	}
	for sum > most && len(s.results) > 0 {
		at := share.Victim(append(slices.Clip(s.results), added), of)
		if at == len(s.results) { // the owner has no other results
			at = share.Victim(s.results, of)
		}
		victim := s.results[at]
		sum -= cost(victim)
		s.drop(func(r *result) bool { return r == victim })
	}
}

// drop removes results. A file that is being read is closed afterwards. The caller has locked mu.
func (s *Store) drop(which func(*result) bool) {
	s.results = slices.DeleteFunc(s.results, func(r *result) bool {
		if !which(r) {
			return false
		}
		r.expires.Stop()
		r.removed = true
		if r.readers == 0 {
			r.file.Close()
		}
		return true
	})
}

// Close removes all results of the client.
func (c *Client) Close() {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	c.store.drop(func(r *result) bool { return r.client == c })
}

// Any reports whether a result of the client is stored.
func (c *Client) Any() bool {
	c.store.mu.Lock()
	defer c.store.mu.Unlock()
	return slices.ContainsFunc(c.store.results, func(r *result) bool { return r.client == c })
}

// open returns a result of the client for reading. The caller calls done afterwards. A result of another client is an
// unknown one.
func (c *Client) open(uri string) (r *result, done func(), err error) {
	token, _ := Parts(uri)
	s := c.store
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.results, func(r *result) bool { return r.client == c && r.token == token })
	if at < 0 {
		return nil, nil, resource.NotFound("uri", uri)
	}
	r = s.results[at]
	r.readers++
	return r, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if r.readers--; r.readers == 0 && r.removed {
			r.file.Close()
		}
	}, nil
}

const (
	// scheme begins the URIs of results.
	scheme = "mcpbash-result://"
	// maxPart is the maximum size of one part, in bytes.
	maxPart = 64 << 10
)

// Owns reports whether a URI has the form of a stored result's.
func Owns(uri string) bool { return strings.HasPrefix(uri, scheme) }

// Parts returns the token of a result's URI, and the name of the process that has the result, or "".
func Parts(uri string) (token, owner string) {
	path, _, _ := strings.Cut(strings.TrimPrefix(uri, scheme), "?")
	token, owner, _ = strings.Cut(path, "/")
	return token, owner
}

// A part is a range of a result, in lines or bytes.
type part struct {
	whole  string // the URI without the range
	offset int64
	limit  int64 // 0: as much as fits into an answer
	bytes  bool  // offset and limit count bytes
}

var errRange = errors.New("offset and limit are whole numbers, limit is at least 1, and unit is lines or bytes")

// parsePart reads the token and the range of a URI.
func parsePart(uri string) (part, error) {
	var p part
	var query string
	p.whole, query, _ = strings.Cut(uri, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return p, errRange
	}
	for name, given := range values {
		value := given[0]
		n, err := strconv.ParseUint(value, 10, 62)
		switch {
		case len(given) > 1:
			return p, errRange
		case name == "offset" && err == nil:
			p.offset = int64(n)
		case name == "limit" && err == nil && n > 0:
			p.limit = int64(n)
		case name == "unit" && (value == "bytes" || value == "lines"):
			p.bytes = value == "bytes"
		default:
			return p, errRange
		}
	}
	return p, nil
}

// Read returns a part of a result, with the size of the result and the URI of the next part in _meta.
func (c *Client) Read(uri string) (*resource.Content, error) {
	p, err := parsePart(uri)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Invalid range: %s", err)
	}
	r, done, err := c.open(uri)
	if err != nil {
		return nil, err
	}
	defer done()
	isBinary := media.IsBinary(r.mimeType)
	p.bytes = p.bytes || isBinary
	start := p.offset
	if !p.bytes {
		if start, err = lineStart(r.file, p.offset); err != nil {
			return nil, unreadable(err)
		}
	}
	want := int64(maxPart)
	if p.bytes && p.limit > 0 {
		want = min(want, p.limit)
	}
	text := make([]byte, max(0, min(want+utf8.UTFMax, r.file.size-start)))
	if _, err := r.file.ReadAt(text, start); err != nil && err != io.EOF {
		return nil, unreadable(err)
	}
	cut := int(min(want, int64(len(text))))
	if !isBinary {
		cut = Cut(text, cut)
	}
	if cut == 0 && !isBinary { // a character is longer than the limit
		cut = min(len(text), utf8.UTFMax)
		_, cut = utf8.DecodeRune(text[:cut])
	}
	text = text[:cut]
	next := start + int64(len(text))
	if !p.bytes {
		lines := p.limit
		for at := 0; p.limit > 0 && at < len(text); {
			end := bytes.IndexByte(text[at:], '\n') + 1
			if end == 0 {
				break
			}
			at += end
			if lines--; lines == 0 {
				text, next = text[:at], start+int64(at)
			}
		}
	}
	var meta rawjson.Builder
	meta.Object().Name("mcpbash/totalBytes").Int(int(r.file.size))
	if next < r.file.size {
		more := fmt.Sprintf("%s?unit=bytes&offset=%d", p.whole, next)
		if p.bytes && p.limit > 0 {
			more += fmt.Sprintf("&limit=%d", p.limit)
		}
		meta.Name("mcpbash/next").String(more)
	}
	return resource.NewContent(uri, r.mimeType, text, isBinary, meta.End().Bytes()), nil
}

func unreadable(err error) error {
	return mcp.Errorf(mcp.CodeInternal, "Resource provider failed").WithReason(err)
}

// lineStart returns the offset of a line, counted from 0, or the end of the file.
func lineStart(file *File, line int64) (int64, error) {
	if line == 0 {
		return 0, nil
	}
	buffer := make([]byte, min(maxPart, file.size))
	for base := int64(0); base < file.size; {
		n, err := file.ReadAt(buffer, base)
		if err != nil && err != io.EOF {
			return 0, err
		}
		if n == 0 {
			break
		}
		have := int64(bytes.Count(buffer[:n], newline))
		if have < line {
			line, base = line-have, base+int64(n)
			continue
		}
		at := 0
		for ; line > 0; line-- {
			at += bytes.IndexByte(buffer[at:n], '\n') + 1
		}
		return base + int64(at), nil
	}
	return file.size, nil
}

// Lines returns the number of line ends in a range of the file.
func (f *File) Lines(from, to int64) (lines int, err error) {
	buffer := make([]byte, min(maxPart, max(0, to-from)))
	for from < to {
		n, err := f.ReadAt(buffer[:min(int64(len(buffer)), to-from)], from)
		if n == 0 {
			return lines, err
		}
		lines += bytes.Count(buffer[:n], newline)
		from += int64(n)
	}
	return lines, nil
}

var newline = []byte("\n")

// Cut returns the last boundary of a character at or before an index.
func Cut(text []byte, at int) int {
	for back := range min(at, utf8.UTFMax) {
		if at-back == len(text) || utf8.RuneStart(text[at-back]) {
			return at - back
		}
	}
	return at
}
