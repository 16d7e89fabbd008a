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
	"errors"
	"net"

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

// NewKeys returns keys for channels. The first one is for own connections, and all are for those of others.
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

// prove returns the proof of a side for everything that was sent before.
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

// decode returns the bytes of a text, or nil if they are not that many.
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
