package openpgp

import (
	"encoding/binary"
	"fmt"
)

// Tags of packets.
const (
	tagSignature = 2
	tagKey       = 6
	tagUser      = 13
	tagSubkey    = 14
)

// A buffer reads numbers and bytes. After an error, it returns zeros.
type buffer struct {
	rest   []byte
	failed bool
}

// bytes returns the next n bytes.
func (b *buffer) bytes(n int) []byte {
	if n < 0 || n > len(b.rest) {
		b.rest, b.failed = nil, true
		return nil
	}
	part := b.rest[:n]
	b.rest = b.rest[n:]
	return part
}

// number returns the next number, of size bytes.
func (b *buffer) number(size int) int {
	var n uint64
	for _, c := range b.bytes(size) {
		n = n<<8 | uint64(c)
	}
	return int(n)
}

// integer returns the bytes of the next multiprecision integer.
func (b *buffer) integer() []byte { return b.bytes((b.number(2) + 7) / 8) }

// A frame is one packet of a signature or a keyring.
type frame struct {
	tag  int
	body []byte
}

// packets splits a sequence of packets. All lengths must be definite.
func packets(text []byte) (list []frame, err error) {
	b := &buffer{rest: text}
	for len(b.rest) > 0 {
		head := b.number(1)
		var p frame
		switch {
		case head&0xc0 == 0xc0: // the current format
			p.tag = head & 0x3f
			p.body = b.bytes(length(b, 224))
		case head&0xc0 == 0x80 && head&3 < 3: // the format of older versions
			p.tag = head >> 2 & 0xf
			p.body = b.bytes(b.number(1 << (head & 3)))
		default:
			b.failed = true
		}
		if b.failed {
			return nil, fmt.Errorf("%w: invalid packet", errFormat)
		}
		list = append(list, p)
	}
	return list, nil
}

// length returns the next length in the variable form. First bytes from limit to 254 are invalid.
func length(b *buffer, limit int) int {
	switch first := b.number(1); {
	case first < 192:
		return first
	case first < limit:
		return (first-192)<<8 + b.number(1) + 192
	case first == 255:
		return b.number(4)
	}
	b.failed = true
	return 0
}

// appendKey appends a key to the text that signatures of keys sign.
func appendKey(text, body []byte) []byte {
	return append(binary.BigEndian.AppendUint16(append(text, 0x99), uint16(len(body))), body...)
}

// appendUser appends a user id to the text that signatures of user ids sign.
func appendUser(text, id []byte) []byte {
	return append(binary.BigEndian.AppendUint32(append(text, 0xb4), uint32(len(id))), id...)
}
