package registry

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"

	"mcp-bash/pkg/mcp"
)

// A cache file is made of the magic line, the SHA-256 of the rest, and the
// rest: what the scan depends on besides the content directory, the registry
// file made of it, and the records. Numbers are varints, texts are preceded by
// their length, stamps are six numbers of eight bytes.

const cacheMagic = "mcp-bash scan\n"

// encodeScan returns the content of a cache file.
func encodeScan(key string, m mark, s *scan) []byte {
	var total [4]int
	items := 0
	for i := range s.records {
		r := &s.records[i]
		total[0] += len(r.entries)
		total[1] += len(r.notes)
		total[2] += len(r.said)
		total[3] += len(r.found)
		for j := range r.found {
			items += len(r.found[j].JSON)
		}
	}
	const small = 32 // what names and counts most often take
	dst := make([]byte, 0, 1024+items+small*(len(s.records)+total[0]+2*total[3])+(small+stampSize)*(len(s.records)+total[1]))
	dst = append(dst, cacheMagic...)
	sum := len(dst)
	dst = append(dst, make([]byte, sha256.Size)...)
	body := len(dst)
	dst = appendText(dst, key)
	dst = appendText(dst, m.hash)
	dst = appendStamp(dst, m.stamp)
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
		dst = appendFlag(dst, e.isDir)
		dst = appendText(dst, e.name)
	}
	dst = appendCount(dst, len(r.notes))
	for _, n := range r.notes {
		dst = appendText(dst, n.name)
		dst = appendText(dst, n.physical)
		dst = appendStamp(dst, n.stamp)
	}
	dst = appendCount(dst, len(r.said))
	for _, m := range r.said {
		dst = append(dst, byte(m.level))
		dst = appendText(dst, m.text)
	}
	dst = appendCount(dst, len(r.found))
	for _, f := range r.found {
		dst = appendText(dst, f.Name)
		dst = appendText(dst, f.id)
		dst = appendText(dst, f.path)
		dst = appendFlag(dst, f.claim)
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

func appendStamp(dst []byte, s stamp) []byte {
	for _, n := range [...]uint64{s.dev, s.ino, s.size, uint64(s.mode), uint64(s.mtime), uint64(s.ctime)} {
		dst = binary.LittleEndian.AppendUint64(dst, n)
	}
	return dst
}

var errNoCache = errors.New("no usable scan cache")

// parseScan reads the content of a cache file about so many trees. The scan shares its bytes.
func parseScan(text []byte, key string, trees int) (*scan, mark, error) {
	body, ok := bytes.CutPrefix(text, []byte(cacheMagic))
	if !ok || len(body) < sha256.Size {
		return nil, mark{}, errNoCache
	}
	sum, body := body[:sha256.Size], body[sha256.Size:]
	if digest := sha256.Sum256(body); !bytes.Equal(digest[:], sum) {
		return nil, mark{}, errNoCache
	}
	return parseScanBody(body, key, trees)
}

// parseScanBody believes nothing: it is tested on its own with any bytes.
func parseScanBody(body []byte, key string, trees int) (*scan, mark, error) {
	p := cacheParser{bytes: body, text: string(body)}
	if p.string() != key {
		return nil, mark{}, errNoCache
	}
	m := mark{hash: p.string(), stamp: p.stamp()}
	// All records share one array of each sort.
	entries := make([]entry, 0, p.count(2))
	notes := make([]note, 0, p.count(2+stampSize))
	said := make([]message, 0, p.count(2))
	items := make([]found, 0, p.count(5))
	s := &scan{records: make([]record, 0, p.count(7+stampSize))}
	s.content = s
	for range cap(s.records) {
		r := record{tree: int(p.byte()), path: p.string(), self: p.stamp(), unsure: p.flag()}
		from := len(entries)
		for range p.count(2) {
			isDir := p.flag()
			entries = append(entries, entry{p.string(), isDir})
		}
		r.entries = slices.Clip(entries[from:])
		from = len(notes)
		for range p.count(2 + stampSize) {
			notes = append(notes, note{p.string(), p.string(), p.stamp()})
		}
		r.notes = slices.Clip(notes[from:])
		from = len(said)
		for range p.count(2) {
			level := mcp.Level(p.byte())
			p.bad = p.bad || level < mcp.Debug || level > mcp.Emergency
			said = append(said, message{level, p.string()})
		}
		r.said = slices.Clip(said[from:])
		from = len(items)
		for range p.count(5) {
			f := found{Item: Item{Name: p.string()}, id: p.string(), path: p.string(), tree: r.tree, claim: p.flag()}
			f.JSON = p.slice()
			items = append(items, f)
		}
		r.found = slices.Clip(items[from:])
		if n := len(s.records); p.bad || n > 0 && s.records[n-1].compare(&r) >= 0 || r.tree >= trees {
			return nil, mark{}, errNoCache
		}
		s.records = append(s.records, r)
	}
	if p.bad || p.at != len(body) {
		return nil, mark{}, errNoCache
	}
	return s, m, nil
}

const stampSize = 6 * 8

// A cacheParser takes one thing after the other from a body. Once something
// does not fit it is bad, and returns nothing any more.
type cacheParser struct {
	bytes []byte
	text  string // the same: names are cut from it without a copy
	at    int
	bad   bool
}

func (p *cacheParser) left() int { return len(p.bytes) - p.at }

func (p *cacheParser) fail() int {
	p.bad = true
	p.at = len(p.bytes)
	return 0
}

// count takes the number of things that follow, each of at least size bytes.
func (p *cacheParser) count(size int) int {
	n, length := binary.Uvarint(p.bytes[p.at:])
	if length <= 0 || n > uint64(p.left()-length)/uint64(size) {
		return p.fail()
	}
	p.at += length
	return int(n)
}

// span takes a text and returns where it begins and ends.
func (p *cacheParser) span() (from, to int) {
	n := p.count(1)
	p.at += n
	return p.at - n, p.at
}

func (p *cacheParser) string() string {
	from, to := p.span()
	return p.text[from:to]
}

func (p *cacheParser) slice() []byte {
	from, to := p.span()
	return p.bytes[from:to:to]
}

func (p *cacheParser) byte() byte {
	if p.left() < 1 {
		p.fail()
		return 0
	}
	p.at++
	return p.bytes[p.at-1]
}

func (p *cacheParser) flag() bool {
	b := p.byte()
	p.bad = p.bad || b > 1
	return b == 1
}

func (p *cacheParser) stamp() stamp {
	if p.left() < stampSize {
		p.fail()
		return stamp{}
	}
	var n [6]uint64
	for i := range n {
		n[i] = binary.LittleEndian.Uint64(p.bytes[p.at:])
		p.at += 8
	}
	return stamp{n[0], n[1], n[2], fs.FileMode(n[3]), int64(n[4]), int64(n[5])}
}
