// Package channel makes a connection between two processes that have the same key. Each proves the key to the
// other, and then everything on the connection is encrypted and authenticated. A network between them can only
// end the connection.
package channel

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"sync"

	"mcp-bash/pkg/text/strict64"
)

// A Process is the number of the process that a connection leads to.
type Process = [16]byte

const (
	nonceSize  = 32
	proofSize  = sha256.Size
	helloSize  = nonceSize + len(Process{}) + proofSize
	answerSize = nonceSize + proofSize
)

// ErrNoProof is the error for a process that does not prove that it has the key.
var ErrNoProof = errors.New("the process does not prove that it has the key")

// Keys prove and encrypt. Methods are safe for concurrent use.
type Keys struct{ keys []key }

type key struct{ proof, traffic []byte }

// NewKeys returns keys for channels. Calls use the first key, and answers accept all keys.
func NewKeys(secrets [][]byte) *Keys {
	k := new(Keys)
	for _, secret := range secrets {
		k.keys = append(k.keys, key{
			derive(secret, nil, "mcp-bash channel: proof"), derive(secret, nil, "mcp-bash channel: traffic"),
		})
	}
	return k
}

// derive returns a key of 32 bytes.
func derive(secret, salt []byte, use string) []byte {
	b, err := hkdf.Key(sha256.New, secret, salt, use, 32)
	if err != nil {
		panic(err) // the length is valid
	}
	return b
}

// prove returns the proof of one side that it has the key. sent is everything that was sent before.
func (k key) prove(side string, sent ...[]byte) []byte {
	h := hmac.New(sha256.New, k.proof)
	h.Write([]byte(side))
	for _, b := range sent { // their lengths are fixed
		h.Write(b)
	}
	return h.Sum(nil)
}

// A Caller is the side that begins a connection.
type Caller struct {
	key   key
	hello []byte
}

// Call begins a connection to a process.
func (k *Keys) Call(to Process) (*Caller, error) {
	if len(k.keys) == 0 {
		return nil, ErrNoProof
	}
	c := &Caller{key: k.keys[0], hello: make([]byte, nonceSize, helloSize)}
	rand.Read(c.hello) // never fails
	c.hello = append(c.hello, to[:]...)
	c.hello = append(c.hello, c.key.prove("caller", c.hello)...)
	return c, nil
}

// Hello returns the text that begins the connection. It contains nothing secret.
func (c *Caller) Hello() string { return encode(c.hello) }

// Connect checks the answer to the hello, and returns the channel over a connection.
func (c *Caller) Connect(conn net.Conn, answer string) (net.Conn, error) {
	b := decode(answer, answerSize)
	if b == nil || !hmac.Equal(b[nonceSize:], c.key.prove("called", c.hello, b[:nonceSize])) {
		return nil, ErrNoProof
	}
	in, out := c.key.directions(c.hello, b)
	return &Conn{Conn: conn, in: in, out: out}, nil
}

// Answer checks the hello of a connection to this process. It returns the answer, and a function that makes the
// channel over the connection. ok is false for a caller that does not prove the key, or asks for another process.
func (k *Keys) Answer(self Process, hello string) (answer string, connect func(net.Conn) net.Conn, ok bool) {
	h := decode(hello, helloSize)
	if h == nil || Process(h[nonceSize:]) != self {
		return "", nil, false
	}
	begin, proof := h[:helloSize-proofSize], h[helloSize-proofSize:]
	for _, key := range k.keys {
		if !hmac.Equal(proof, key.prove("caller", begin)) {
			continue
		}
		b := make([]byte, nonceSize, answerSize)
		rand.Read(b) // never fails
		b = append(b, key.prove("called", h, b)...)
		return encode(b), func(conn net.Conn) net.Conn {
			out, in := key.directions(h, b)
			return &Conn{Conn: conn, in: in, out: out}
		}, true
	}
	return "", nil, false
}

// directions returns the ciphers of the two directions. Both sides chose a part of the salt, so no connection has
// the ciphers of another one.
func (k key) directions(hello, answer []byte) (fromCalled, fromCaller *direction) {
	salt := append(append([]byte{}, hello...), answer...)
	return newDirection(derive(k.traffic, salt, "from called")), newDirection(derive(k.traffic, salt, "from caller"))
}

func newDirection(key []byte) *direction {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the length is valid
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return &direction{aead: aead}
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// decode returns the bytes of a text, or nil if their number is wrong.
func decode(text string, size int) []byte {
	if len(text) != base64.RawURLEncoding.EncodedLen(size) {
		return nil
	}
	b, err := strict64.URL(text)
	if err != nil {
		return nil
	}
	return b
}

const (
	prefixSize = 2        // of a record: the length of the rest
	maxText    = 16 << 10 // bytes that a record encrypts
)

// errForged ends a channel whose bytes were changed on the way.
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
// The end of a channel is not authenticated. So the text must contain its own end, like an HTTP message with a length
// or with chunks.
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
		c.raw = slices.Grow(c.raw, max(c.size()-len(c.raw), 512))
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
