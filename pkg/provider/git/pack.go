package git

import (
	"bufio"
	"compress/zlib"
	"encoding/hex"
	"hash"
	"io"
	"strconv"

	"crypto/sha256"

	"github.com/pjbgf/sha1cd"
)

// The types of objects, as packs number them.
const (
	commitObject = 1
	treeObject   = 2
	blobObject   = 3
	tagObject    = 4
	offsetDelta  = 6
	idDelta      = 7
)

var typeNames = [...]string{commitObject: "commit", treeObject: "tree", blobObject: "blob", tagObject: "tag"}

// A format is how a repository hashes: sha1 or sha256.
type format struct {
	name string
	size int // of an id, in bytes
	hash func() hash.Hash
}

var (
	sha1Format   = format{"sha1", sha1cd.Size, sha1cd.New}
	sha256Format = format{"sha256", sha256.Size, sha256.New}
)

// An object of a repository, unpacked.
type object struct {
	kind byte
	data []byte
}

// id is what an object is known by. The error is that it was made to have the id
// of another.
func (f format) id(o object) (string, error) {
	h := f.hash()
	head := append(append([]byte(typeNames[o.kind]), ' '), strconv.Itoa(len(o.data))...)
	h.Write(append(head, 0))
	h.Write(o.data)
	sum, err := sumOf(h)
	return hex.EncodeToString(sum), err
}

const errCollision = protocolError("the repository holds what was made to have the hash of something else")

// sumOf ends a hash. SHA-1 is computed so that attempts at a collision show.
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

// keeping is what an object is charged beyond its size: the memory it takes to
// know of it.
const keeping = 128

// maxRounds bounds how often the objects that wait for another are gone
// through; servers send them so that once is enough.
const maxRounds = 50

// A pack is a stream of objects, some of them given as the difference to
// another (gitformat-pack). It is unpacked into memory as it comes.
type pack struct {
	format  format
	budget  *budget
	in      *packReader
	inflate io.ReadCloser

	objects map[string]object // by id
	offsets map[int64]object  // by where they begin
	waiting []delta           // for a base that has not been seen
}

// A delta is an object given as the difference to another.
type delta struct {
	at     int64
	base   int64  // where the other begins; 0: it is named by
	baseID string // its id
	data   []byte
}

const errPack = protocolError("the pack is damaged")

// unpack reads a pack to its end, which must be that of r.
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
			err = errPack // more than it said
		}
		return nil, err
	}
	if err := tail.check(); err != nil {
		return nil, err
	}
	return p.objects, nil
}

// header reads how many objects there are.
func (p *pack) header() (uint32, error) {
	var head [12]byte
	if _, err := io.ReadFull(p.in, head[:]); err != nil {
		return 0, tooEarly(err)
	}
	if string(head[:8]) != "PACK\x00\x00\x00\x02" && string(head[:8]) != "PACK\x00\x00\x00\x03" {
		return 0, errPack
	}
	return uint32(head[8])<<24 | uint32(head[9])<<16 | uint32(head[10])<<8 | uint32(head[11]), nil
}

// object reads one.
func (p *pack) object() error {
	at := p.in.at
	kind, size, err := p.objectHeader()
	if err != nil {
		return err
	}
	if err := p.budget.take(keeping); err != nil {
		return err
	}
	d := delta{at: at}
	switch kind {
	case commitObject, treeObject, blobObject, tagObject:
	case offsetDelta:
		back, err := p.distance()
		if d.base = at - back; err != nil || back <= 0 || d.base <= 0 {
			return firstOf(err, errPack)
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

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// objectHeader reads the type and the unpacked size.
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

// distance reads how far back the base of a delta begins.
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

// content inflates so many bytes, no fewer and no more.
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

// damaged tells a fault of the pack from one of what it is read from.
func damaged(err error) error {
	switch err.(type) {
	case protocolError:
		return err
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF || err == zlib.ErrHeader || err == zlib.ErrChecksum ||
		err == zlib.ErrDictionary {
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

// resolve makes the object of a delta, if its base is there.
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

// settle resolves the deltas whose base came after them.
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
			return protocolError("the pack lacks what its objects differ from")
		}
		p.waiting = still
	}
	return nil
}

// apply makes what a delta describes out of its base.
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
		case op&0x80 != 0: // a piece of the base
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
		default: // a piece of the delta itself
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

// length reads a number at the beginning of a delta.
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

// packReader knows where it is. Inflating takes from it no byte too many.
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

// trailerHash hashes what is read but for its end, which is the hash.
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

// check returns an error when the end is not the hash of the rest.
func (t *trailerHash) check() error {
	sum, err := sumOf(t.hash)
	if err == nil && string(sum) != string(t.tail) {
		err = errPack
	}
	return err
}
