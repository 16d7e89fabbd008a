package channel

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"sync"
)

const (
	prefixSize = 2        // of a record: the length of the rest
	maxText    = 16 << 10 // bytes that a record encrypts
)

// errForged ends a channel that something on the way has changed.
var errForged = errors.New("a record of the channel is not authentic")

// A direction encrypts or decrypts the records of one direction. Each record has the next number as its nonce.
type direction struct {
	aead cipher.AEAD
	last uint64
}

func (d *direction) nonce() []byte {
	d.last++
	return binary.BigEndian.AppendUint64(make([]byte, 4, 12), d.last)
}

// A Conn is a channel, a [net.Conn].
//
// The end of a channel is not authenticated. The text has to show where it ends, as a message of HTTP with
// a length or with chunks does.
type Conn struct {
	net.Conn

	reading sync.Mutex
	in      *direction
	raw     []byte // received, and not decrypted yet
	text    []byte // decrypted, and not read yet; a part of spare
	spare   []byte
	inErr   error

	writing sync.Mutex
	out     *direction
	record  []byte
	outErr  error
}

// Read implements [net.Conn]. After a timeout, it can be called again.
func (c *Conn) Read(p []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	for len(c.text) == 0 {
		if c.inErr != nil {
			return 0, c.inErr
		}
		if done, err := c.open(); err != nil {
			c.inErr = err
			return 0, err
		} else if done {
			continue
		}
		c.raw = slices.Grow(c.raw, c.missing())
		n, err := c.Conn.Read(c.raw[len(c.raw):cap(c.raw)])
		c.raw = c.raw[:len(c.raw)+n]
		if n == 0 && err != nil {
			return 0, err
		}
	}
	n := copy(p, c.text)
	c.text = c.text[n:]
	return n, nil
}

// size returns the length of the first record. It is known once its prefix has arrived.
func (c *Conn) size() int {
	if len(c.raw) < prefixSize {
		return prefixSize
	}
	return prefixSize + int(binary.BigEndian.Uint16(c.raw))
}

// missing returns how many bytes to read at once.
func (c *Conn) missing() int { return max(c.size()-len(c.raw), 512) }

// open decrypts the first record, if it is complete.
func (c *Conn) open() (done bool, err error) {
	size := c.size()
	if size > prefixSize+maxText+c.in.aead.Overhead() {
		return false, errForged
	}
	if len(c.raw) < prefixSize || len(c.raw) < size {
		return false, nil
	}
	c.spare, err = c.in.aead.Open(c.spare[:0], c.in.nonce(), c.raw[prefixSize:size], c.raw[:prefixSize])
	if err != nil {
		return false, errForged
	}
	c.text = c.spare
	c.raw = append(c.raw[:0], c.raw[size:]...)
	return true, nil
}

// Write implements [net.Conn]. After an error, the channel cannot be written to.
func (c *Conn) Write(p []byte) (n int, err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	for c.outErr == nil && n < len(p) {
		part := p[n:min(len(p), n+maxText)]
		c.record = binary.BigEndian.AppendUint16(c.record[:0], uint16(len(part)+c.out.aead.Overhead()))
		c.record = c.out.aead.Seal(c.record, c.out.nonce(), part, c.record)
		if _, c.outErr = c.Conn.Write(c.record); c.outErr == nil {
			n += len(part)
		}
	}
	return n, c.outErr
}
