package suspended

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"sync"
	"time"
)

// A Replica describes this process to others that serve the same project.
type Replica struct {
	Keys [][]byte // seal and open request states; the first one seals. None: a random one
	URL  string   // where other replicas reach this one, or ""
}

// KeySize is the length of a key, in bytes.
const KeySize = 32

// A requestState names the suspended call of a retry. The client gets it sealed, and can neither
// read nor forge it (M-52).
type requestState struct {
	process [16]byte // the process that suspended the call
	call    uint64
	round   uint32
	expires time.Time         // whole seconds
	request [sha256.Size]byte // the hash of method, name and arguments
	owner   string            // the URL of the process, or ""
}

// stateSize is the length of a state without owner before it is sealed, and maxOwner that of the
// longest owner, in bytes.
const (
	stateSize = 16 + 8 + 4 + 8 + sha256.Size
	maxOwner  = 1024
)

// A sealer seals request states. Without keys it makes a random one at the first use, and never
// stores it.
type sealer struct{ aeads func() []cipher.AEAD }

func newSealer(keys [][]byte) sealer {
	return sealer{sync.OnceValue(func() (aeads []cipher.AEAD) {
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

// seal returns the text for a caller. For any other caller it is forged (H-503).
func (s sealer) seal(state requestState, caller string) string {
	text := make([]byte, 0, stateSize+len(state.owner))
	text = append(text, state.process[:]...)
	text = binary.BigEndian.AppendUint64(text, state.call)
	text = binary.BigEndian.AppendUint32(text, state.round)
	text = binary.BigEndian.AppendUint64(text, uint64(state.expires.Unix()))
	text = append(text, state.request[:]...)
	text = append(text, state.owner...)
	return base64.RawURLEncoding.EncodeToString(s.aeads()[0].Seal(nil, nil, text, []byte(caller)))
}

var errForged = errors.New("it is not one of this server's, or was changed on the way")

// open returns the sealed state of a caller.
func (s sealer) open(sealed, caller string) (state requestState, err error) {
	aeads := s.aeads()
	if n := base64.RawURLEncoding.DecodedLen(len(sealed)) - aeads[0].Overhead(); n < stateSize || n > stateSize+maxOwner {
		return state, errForged
	}
	box, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil {
		return state, errForged
	}
	var text []byte
	for _, aead := range aeads {
		if text, err = aead.Open(nil, nil, box, []byte(caller)); err == nil {
			break
		}
	}
	if err != nil || len(text) < stateSize {
		return state, errForged
	}
	copy(state.process[:], text)
	state.call = binary.BigEndian.Uint64(text[16:])
	state.round = binary.BigEndian.Uint32(text[24:])
	state.expires = time.Unix(int64(binary.BigEndian.Uint64(text[28:])), 0)
	copy(state.request[:], text[36:])
	state.owner = string(text[stateSize:])
	return state, nil
}
