// Package seal seals texts that clients bring back: the client can neither read nor change them, and another client
// cannot use them. Replicas with the same keys open each other's texts.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"sync"

	"mcp-bash/pkg/text/strict64"
)

// A Replica describes this process to others that serve the same project.
type Replica struct {
	Keys [][]byte // seal and open texts; the first one seals. None: a random one
	URL  string   // where other replicas reach this one, or ""
}

const (
	// KeySize is the length of a key, in bytes.
	KeySize = 32
	// MaxURL is the maximum length of a replica's URL, in bytes.
	MaxURL = 1024
)

// A Sealer seals and opens texts. It is safe for concurrent use. Without keys it makes a random one
// at the first use, and never stores it.
type Sealer struct{ aeads func() []cipher.AEAD }

// New returns a Sealer with these keys.
func New(keys [][]byte) Sealer {
	return Sealer{sync.OnceValue(func() (aeads []cipher.AEAD) {
		if len(keys) == 0 {
			key := make([]byte, KeySize)
			rand.Read(key) // never fails
			keys = [][]byte{key}
		}
		for _, key := range keys {
			block, err := aes.NewCipher(key)
			if err != nil {
				panic(err) // the length is valid
			}
			aead, err := cipher.NewGCMWithRandomNonce(block)
			if err != nil {
				panic(err)
			}
			aeads = append(aeads, aead)
		}
		return aeads
	})}
}

// Seal returns the sealed text. bound is not part of the text, but [Sealer.Open] needs the same one.
func (s Sealer) Seal(text, bound []byte) string {
	return base64.RawURLEncoding.EncodeToString(s.aeads()[0].Seal(nil, nil, text, bound))
}

// ErrForged is the error for a text that was not sealed with one of the keys, or not with this bound.
var ErrForged = errors.New("it is not one of this server's, or was changed on the way")

// Open returns the text that was sealed. It refuses a text of fewer than least bytes or more than most.
func (s Sealer) Open(sealed string, bound []byte, least, most int) ([]byte, error) {
	aeads := s.aeads()
	if n := base64.RawURLEncoding.DecodedLen(len(sealed)) - aeads[0].Overhead(); n < least || n > most {
		return nil, ErrForged
	}
	box, err := strict64.URL(sealed)
	if err != nil {
		return nil, ErrForged
	}
	for _, aead := range aeads {
		if text, err := aead.Open(nil, nil, box, bound); err == nil {
			return text, nil
		}
	}
	return nil, ErrForged
}

// A Process is the random number of a process. A process that is started again has another one.
type Process [16]byte

// An Owner is the process that has something for a client, such as a suspended call. The zero Owner is this process, or
// an unknown one.
type Owner struct {
	Process Process
	URL     string // where other replicas reach the process
}

// A Self is this process, with the keys to seal.
type Self struct {
	Owner
	Sealer Sealer
}

// NewSelf returns a process with these keys, and a new number.
func NewSelf(keys [][]byte, url string) Self {
	s := Self{Owner{URL: url}, New(keys)}
	rand.Read(s.Process[:]) // never fails
	return s
}

// Elsewhere returns an owner that is another replica. It returns the zero Owner for this process, and for an earlier
// process with the same URL.
func (s Self) Elsewhere(o Owner) Owner {
	if o.URL == "" || o.Process == s.Process || o.URL == s.URL {
		return Owner{}
	}
	return o
}

// Name returns the sealed number and URL of this process. [Self.Find] needs the same bound.
func (s Self) Name(bound string) string {
	return s.Sealer.Seal(append(s.Process[:], s.URL...), []byte(bound))
}

// Find returns the replica of a name. It returns the zero Owner for the name of this process, and for a text
// that is not a name with this bound.
func (s Self) Find(name, bound string) Owner {
	const size = len(Process{})
	text, err := s.Sealer.Open(name, []byte(bound), size+1, size+MaxURL)
	if err != nil {
		return Owner{}
	}
	return s.Elsewhere(Owner{Process(text[:size]), string(text[size:])})
}
