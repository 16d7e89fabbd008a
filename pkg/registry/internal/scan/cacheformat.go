package scan

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"slices"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// A cache file is made of the magic line, the SHA-256 of the rest, and the
// rest: what the scan depends on besides the content directory, the registry
// file made of it, and the records. Numbers are varints, texts are preceded by
// their length, stamps are six numbers of eight bytes.

const cacheMagic = "mcp-bash scan 3\n"

// Encode returns the content of a cache file.
func Encode(key string, m Mark, s *Result) []byte {
	var total [4]int
	items := 0
	for i := range s.records {
		r := &s.records[i]
		total[0] += len(r.entries)
		total[1] += len(r.observations)
		total[2] += len(r.messages)
		total[3] += len(r.candidates)
		for j := range r.candidates {
			items += len(r.candidates[j].JSON)
		}
	}
	const small = 32 // what names and counts most often take
	size := items + small*(len(s.records)+total[0]+2*total[3]) + (small+stampSize)*(len(s.records)+total[1])
	dst := make([]byte, 0, 1024+size)
	dst = append(dst, cacheMagic...)
	sum := len(dst)
	dst = append(dst, make([]byte, sha256.Size)...)
	body := len(dst)
	dst = appendText(dst, key)
	dst = appendText(dst, m.Hash)
	dst = appendStamp(dst, m.Stamp)
	for _, n := range total {
		dst = appendCount(dst, n)
	}
	dst = appendCount(dst, len(s.records))
	for i := range s.records {
		dst = appendRecord(dst, &s.records[i])
	}
	digest := sha256.Sum256(dst[body:])
	copy(dst[sum:], digest[:])
	return dst
}

func appendRecord(dst []byte, r *record) []byte {
	dst = append(dst, byte(r.tree))
	dst = appendText(dst, r.path)
	dst = appendStamp(dst, r.self)
	dst = appendFlag(dst, r.unsure)
	dst = appendCount(dst, len(r.entries))
	for _, e := range r.entries {
		dst = appendFlag(dst, e.IsDir)
		dst = appendFlag(dst, e.Odd)
		dst = appendText(dst, e.Name)
	}
	dst = appendCount(dst, len(r.observations))
	for _, n := range r.observations {
		dst = appendText(dst, n.Name)
		dst = appendText(dst, n.Resolved)
		dst = appendStamp(dst, n.Stamp)
	}
	dst = appendCount(dst, len(r.messages))
	for _, m := range r.messages {
		dst = append(dst, byte(m.Level), byte(m.Topic))
		dst = appendText(dst, m.At.File)
		dst = appendCount(dst, m.At.Line)
		dst = appendCount(dst, m.At.Column)
		dst = appendText(dst, m.At.Part)
		dst = appendText(dst, m.Text)
		dst = appendText(dst, m.Logged)
	}
	dst = appendCount(dst, len(r.candidates))
	for _, f := range r.candidates {
		dst = appendText(dst, f.Name)
		dst = appendText(dst, f.ID)
		dst = appendText(dst, f.Path)
		dst = appendFlag(dst, f.Claim)
		dst = appendText(dst, f.JSON)
	}
	return dst
}

func appendCount(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }

func appendText[T string | ~[]byte](dst []byte, s T) []byte {
	return append(appendCount(dst, len(s)), s...)
}

func appendFlag(dst []byte, set bool) []byte {
	if set {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendStamp(dst []byte, s folder.Stamp) []byte {
	for _, n := range [...]uint64{s.Dev, s.Ino, s.Size, uint64(s.Mode), uint64(s.Mtime), uint64(s.Ctime)} {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	return dst
}

var errNoCache = errors.New("no usable scan cache")

// Decode reads the content of a cache file of a kind with so many trees. The
// result shares its bytes.
func Decode(text []byte, key string, trees int) (*Result, Mark, error) {
	body, ok := bytes.CutPrefix(text, []byte(cacheMagic))
	if !ok || len(body) < sha256.Size {
		return nil, Mark{}, errNoCache
	}
	sum, body := body[:sha256.Size], body[sha256.Size:]
	if digest := sha256.Sum256(body); !bytes.Equal(digest[:], sum) {
		return nil, Mark{}, errNoCache
	}
	return decodeBody(body, key, trees)
}

// decodeBody reads what follows the checksum. It trusts none of it.
func decodeBody(body []byte, key string, trees int) (*Result, Mark, error) {
	p := decoder{bytes: body, text: string(body)}
	if p.string() != key {
		return nil, Mark{}, errNoCache
	}
	m := Mark{Hash: p.string(), Stamp: p.stamp()}
	// All records share one array of each sort.
	entries := make([]folder.Entry, 0, p.count(3))
	notes := make([]folder.Observation, 0, p.count(2+stampSize))
	said := make([]item.Message, 0, p.count(messageSize))
	items := make([]item.Candidate, 0, p.count(5))
	s := &Result{records: make([]record, 0, p.count(7+stampSize))}
	s.First = s
	for range cap(s.records) {
		r := record{tree: int(p.byte()), path: p.string(), self: p.stamp(), unsure: p.flag()}
		from := len(entries)
		for range p.count(3) {
			e := folder.Entry{IsDir: p.flag(), Odd: p.flag()}
			e.Name = p.string()
			entries = append(entries, e)
		}
		r.entries = slices.Clip(entries[from:])
		from = len(notes)
		for range p.count(2 + stampSize) {
			notes = append(notes, folder.Observation{Name: p.string(), Resolved: p.string(), Stamp: p.stamp()})
		}
		r.observations = slices.Clip(notes[from:])
		from = len(said)
		for range p.count(messageSize) {
			said = append(said, p.message())
		}
		r.messages = slices.Clip(said[from:])
		from = len(items)
		for range p.count(5) {
			f := item.Candidate{Item: item.Item{Name: p.string()}, Tree: r.tree}
			f.ID, f.Path, f.Claim = p.string(), p.string(), p.flag()
			f.JSON = p.slice()
			items = append(items, f)
		}
		r.candidates = slices.Clip(items[from:])
		if n := len(s.records); p.bad || n > 0 && s.records[n-1].compare(&r) >= 0 || r.tree >= trees {
			return nil, Mark{}, errNoCache
		}
		s.records = append(s.records, r)
	}
	if p.bad || p.at != len(body) {
		return nil, Mark{}, errNoCache
	}
	return s, m, nil
}

const (
	stampSize   = 6 * 8
	messageSize = 8 // of an empty one
)

// A decoder reads one value after the other. After a value that does not fit, it
// is bad and returns zero values.
type decoder struct {
	bytes []byte
	text  string // the same: names are cut from it without a copy
	at    int
	bad   bool
}

func (p *decoder) left() int { return len(p.bytes) - p.at }

func (p *decoder) fail() int {
	p.bad = true
	p.at = len(p.bytes)
	return 0
}

// count takes the number of things that follow, each of at least size bytes.
func (p *decoder) count(size int) int {
	n, length := binary.Uvarint(p.bytes[p.at:])
	if length <= 0 || n > uint64(p.left()-length)/uint64(size) {
		return p.fail()
	}
	p.at += length
	return int(n)
}

// number takes a number that is a place in a text.
func (p *decoder) number() int {
	n, length := binary.Uvarint(p.bytes[p.at:])
	if length <= 0 || n > math.MaxInt32 {
		return p.fail()
	}
	p.at += length
	return int(n)
}

// span takes a text and returns where it begins and ends.
func (p *decoder) span() (from, to int) {
	n := p.count(1)
	p.at += n
	return p.at - n, p.at
}

func (p *decoder) string() string {
	from, to := p.span()
	return p.text[from:to]
}

func (p *decoder) slice() []byte {
	from, to := p.span()
	return p.bytes[from:to:to]
}

func (p *decoder) byte() byte {
	if p.left() < 1 {
		p.fail()
		return 0
	}
	p.at++
	return p.bytes[p.at-1]
}

func (p *decoder) message() item.Message {
	m := item.Message{Level: mcp.Level(p.byte()), Topic: item.Topic(p.byte())}
	p.bad = p.bad || m.Level < mcp.Debug || m.Level > mcp.Emergency || !m.Topic.IsKnown()
	m.At.File, m.At.Line, m.At.Column, m.At.Part = p.string(), p.number(), p.number(), p.string()
	m.Text, m.Logged = p.string(), p.string()
	return m
}

func (p *decoder) flag() bool {
	b := p.byte()
	p.bad = p.bad || b > 1
	return b == 1
}

func (p *decoder) stamp() folder.Stamp {
	if p.left() < stampSize {
		p.fail()
		return folder.Stamp{}
	}
	var n [6]uint64
	for i := range n {
		n[i] = binary.LittleEndian.Uint64(p.bytes[p.at:])
		p.at += 8
	}
	return folder.Stamp{
		Dev: n[0], Ino: n[1], Size: n[2], Mode: fs.FileMode(n[3]), Mtime: int64(n[4]), Ctime: int64(n[5]),
	}
}
