package git

import (
	"bufio"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"strconv"

	"crypto/sha256"

	"github.com/pjbgf/sha1cd"

	"mcp-bash/pkg/provider/internal/web"
)

// Object types, with their numbers in packs.
const (
	commitObject = 1
	treeObject   = 2
	blobObject   = 3
	tagObject    = 4
	offsetDelta  = 6
	idDelta      = 7
)

var typeNames = [...]string{commitObject: "commit", treeObject: "tree", blobObject: "blob", tagObject: "tag"}

// A format is the object format of a repository: sha1 or sha256.
type format struct {
	name string
	size int // size of an id in bytes
	hash func() hash.Hash
}

var (
	sha1Format   = format{"sha1", sha1cd.Size, sha1cd.New}
	sha256Format = format{"sha256", sha256.Size, sha256.New}
)

type object struct {
	kind byte
	data []byte
}

// id returns the object id. The error reports a SHA-1 collision.
func (f format) id(o object) (string, error) {
	h := f.hash()
	head := append(append([]byte(typeNames[o.kind]), ' '), strconv.Itoa(len(o.data))...)
	h.Write(append(head, 0))
	h.Write(o.data)
	sum, err := sumOf(h)
	return hex.EncodeToString(sum), err
}

const errCollision = web.ProtocolError("SHA-1 collision detected")

// sumOf returns the hash. For SHA-1, it detects attempts at a collision.
func sumOf(h hash.Hash) ([]byte, error) {
	detecting, ok := h.(sha1cd.CollisionResistantHash)
	if !ok {
		return h.Sum(nil), nil
	}
	sum, collision := detecting.CollisionResistantSum(nil)
	if collision {
		return nil, errCollision
	}
	return sum, nil
}

// objectOverhead is the memory for one object in bytes, without its content.
const objectOverhead = 128

// maxRounds limits the passes over deltas whose base is missing. One pass is enough for the packs of real servers.
const maxRounds = 50

// A pack is a stream of objects, complete or as deltas (gitformat-pack). It is unpacked into memory
// while it is received.
type pack struct {
	format  format
	budget  *budget
	in      *packReader
	inflate io.ReadCloser

	objects map[string]object // by id
	offsets map[int64]object  // by their offset in the pack
	waiting []delta           // deltas whose base has not been read
}

// A delta is an object that is described by its difference to a base object.
type delta struct {
	at     int64
	base   int64 // offset of the base; 0 if baseID names the base
	baseID string
	data   []byte
}

const errPack = web.ProtocolError("the pack is damaged")

// unpack reads a pack, which must end at the end of r.
func unpack(r io.Reader, f format, b *budget) (map[string]object, error) {
	tail := &trailerHash{r: r, hash: f.hash(), size: f.size}
	p := &pack{format: f, budget: b, in: &packReader{r: bufio.NewReaderSize(tail, 32<<10)},
		objects: map[string]object{}, offsets: map[int64]object{}}
	count, err := p.header()
	if err != nil {
		return nil, err
	}
	for range count {
		if err := p.object(); err != nil {
			return nil, tooEarly(err)
		}
	}
	if err := p.settle(); err != nil {
		return nil, err
	}
	if _, err := io.CopyN(io.Discard, p.in, int64(f.size)); err != nil {
		return nil, tooEarly(err)
	}
	if _, err := p.in.ReadByte(); err != io.EOF {
		if err == nil {
			err = errPack // more bytes than the header declares
		}
		return nil, err
	}
	if err := tail.check(); err != nil {
		return nil, err
	}
	return p.objects, nil
}

func (p *pack) header() (uint32, error) {
	var head [12]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		return 0, tooEarly(err)
	}
	if string(head[:8]) != "PACK\x00\x00\x00\x02" && string(head[:8]) != "PACK\x00\x00\x00\x03" {
		return 0, errPack
	}
	return binary.BigEndian.Uint32(head[8:]), nil
}

func (p *pack) object() error {
	at := p.in.at
	kind, size, err := p.objectHeader()
	if err != nil {
		return err
	}
	if err := p.budget.take(objectOverhead); err != nil {
		return err
	}
	d := delta{at: at}
	switch kind {
	case commitObject, treeObject, blobObject, tagObject:
	case offsetDelta:
		back, err := p.distance()
		if d.base = at - back; err != nil || back <= 0 || d.base <= 0 {
			return cmp.Or(err, error(errPack))
		}
	case idDelta:
		id := make([]byte, p.format.size)
		if _, err := io.ReadFull(p.in, id); err != nil {
			return err
		}
		d.baseID = hex.EncodeToString(id)
	default:
		return errPack
	}
	content, err := p.content(size)
	if err != nil {
		return err
	}
	if kind < offsetDelta {
		return p.add(at, object{kind, content})
	}
	d.data = content
	if done, err := p.resolve(d); done || err != nil {
		return err
	}
	p.waiting = append(p.waiting, d)
	return nil
}

func (p *pack) objectHeader() (kind byte, size int64, err error) {
	c, err := p.in.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	kind, size = c>>4&7, int64(c&15)
	for shift := 4; c&0x80 != 0; shift += 7 {
		if c, err = p.in.ReadByte(); err != nil {
			return 0, 0, err
		}
		if shift > 53 {
			return 0, 0, errTooLarge
		}
		size |= int64(c&0x7f) << shift
	}
	return kind, size, nil
}

func (p *pack) distance() (int64, error) {
	c, err := p.in.ReadByte()
	if err != nil {
		return 0, err
	}
	n := int64(c & 0x7f)
	for c&0x80 != 0 {
		if c, err = p.in.ReadByte(); err != nil {
			return 0, err
		}
		if n > 1<<48 {
			return 0, errPack
		}
		n = (n+1)<<7 | int64(c&0x7f)
	}
	return n, nil
}

// content inflates exactly size bytes.
func (p *pack) content(size int64) ([]byte, error) {
	if err := p.budget.take(size); err != nil {
		return nil, err
	}
	if p.inflate == nil {
		r, err := zlib.NewReader(p.in)
		if err != nil {
			return nil, damaged(err)
		}
		p.inflate = r
	} else if err := p.inflate.(zlib.Resetter).Reset(p.in, nil); err != nil {
		return nil, damaged(err)
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(p.inflate, content); err != nil {
		return nil, damaged(err)
	}
	var more [1]byte
	if n, err := io.ReadFull(p.inflate, more[:]); n > 0 || err != io.EOF {
		if n > 0 {
			err = errPack
		}
		return nil, damaged(err)
	}
	return content, nil
}

// damaged returns errPack for errors in the content of the pack. It returns errors of the connection unchanged.
func damaged(err error) error {
	switch err {
	case io.EOF, io.ErrUnexpectedEOF, zlib.ErrHeader, zlib.ErrChecksum, zlib.ErrDictionary:
		return errPack
	}
	return err
}

func (p *pack) add(at int64, o object) error {
	id, err := p.format.id(o)
	if err != nil {
		return err
	}
	p.offsets[at], p.objects[id] = o, o
	return nil
}

// resolve adds the object of a delta if its base is known.
func (p *pack) resolve(d delta) (done bool, err error) {
	base, ok := p.offsets[d.base]
	if d.base == 0 {
		base, ok = p.objects[d.baseID]
	}
	if !ok {
		return false, nil
	}
	content, err := apply(base.data, d.data, p.budget)
	if err != nil {
		return false, err
	}
	return true, p.add(d.at, object{base.kind, content})
}

// settle resolves deltas whose base follows them in the pack.
func (p *pack) settle() error {
	for round := 0; len(p.waiting) > 0; round++ {
		var still []delta
		for _, d := range p.waiting {
			done, err := p.resolve(d)
			if err != nil {
				return err
			}
			if !done {
				still = append(still, d)
			}
		}
		if len(still) == len(p.waiting) || round == maxRounds {
			return web.ProtocolError("the base of a delta is missing from the pack")
		}
		p.waiting = still
	}
	return nil
}

func apply(base, delta []byte, b *budget) ([]byte, error) {
	from, delta, ok := length(delta)
	if !ok || from != int64(len(base)) {
		return nil, errPack
	}
	size, delta, ok := length(delta)
	if !ok {
		return nil, errPack
	}
	if err := b.take(size); err != nil {
		return nil, err
	}
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		var piece []byte
		switch {
		case op&0x80 != 0: // copy from the base
			var offset, n int
			for bit := range 7 {
				if op&(1<<bit) == 0 {
					continue
				}
				if len(delta) == 0 {
					return nil, errPack
				}
				if bit < 4 {
					offset |= int(delta[0]) << (8 * bit)
				} else {
					n |= int(delta[0]) << (8 * (bit - 4))
				}
				delta = delta[1:]
			}
			if n == 0 {
				n = 0x10000
			}
			if offset < 0 || offset > len(base) || n > len(base)-offset {
				return nil, errPack
			}
			piece = base[offset : offset+n]
		case op == 0 || int(op) > len(delta):
			return nil, errPack
		default: // copy from the delta
			piece, delta = delta[:op], delta[op:]
		}
		if len(piece) > cap(out)-len(out) {
			return nil, errPack
		}
		out = append(out, piece...)
	}
	if int64(len(out)) != size {
		return nil, errPack
	}
	return out, nil
}

func length(delta []byte) (n int64, rest []byte, ok bool) {
	for i, c := range delta {
		if i == 8 {
			return 0, nil, false
		}
		n |= int64(c&0x7f) << (7 * i)
		if c&0x80 == 0 {
			return n, delta[i+1:], true
		}
	}
	return 0, nil, false
}

// packReader counts the bytes that were read. It implements io.ByteReader, so inflating reads only the object.
type packReader struct {
	r  *bufio.Reader
	at int64
}

func (p *packReader) ReadByte() (byte, error) {
	c, err := p.r.ReadByte()
	if err == nil {
		p.at++
	}
	return c, err
}

func (p *packReader) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	p.at += int64(n)
	return n, err
}

// trailerHash hashes a stream without the last size bytes, which are the hash.
type trailerHash struct {
	r    io.Reader
	hash hash.Hash
	size int
	tail []byte
}

func (t *trailerHash) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.tail = append(t.tail, p[:n]...)
	if over := len(t.tail) - t.size; over > 0 {
		t.hash.Write(t.tail[:over])
		t.tail = append(t.tail[:0], t.tail[over:]...)
	}
	return n, err
}

// check returns an error unless the stream ends in the hash of the rest.
func (t *trailerHash) check() error {
	sum, err := sumOf(t.hash)
	if err == nil && string(sum) != string(t.tail) {
		err = errPack
	}
	return err
}
