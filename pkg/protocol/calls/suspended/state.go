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

// A requestState names the suspended call of a retry. The client gets it sealed, and can neither
// read nor forge it (M-52).
type requestState struct {
	call    uint64
	round   uint32
	expires time.Time         // whole seconds
	request [sha256.Size]byte // the hash of method, name and arguments
}

// stateSize is the length of a state before it is sealed, in bytes.
const stateSize = 8 + 4 + 8 + sha256.Size

// A sealer seals request states with a random key, which it makes at the first use and never
// stores.
type sealer struct{ aead func() cipher.AEAD }

func newSealer() sealer {
	return sealer{sync.OnceValue(func() cipher.AEAD {
		key := make([]byte, 32)
		rand.Read(key) // never fails
		block, err := aes.NewCipher(key)
		if err != nil {
			panic(err) // the length is valid
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			panic(err)
		}
		return aead
	})}
}

// seal returns the text for the client.
func (s sealer) seal(state requestState) string {
	text := make([]byte, 0, stateSize)
	text = binary.BigEndian.AppendUint64(text, state.call)
	text = binary.BigEndian.AppendUint32(text, state.round)
	text = binary.BigEndian.AppendUint64(text, uint64(state.expires.Unix()))
	text = append(text, state.request[:]...)
	return base64.RawURLEncoding.EncodeToString(s.aead().Seal(nil, nil, text, nil))
}

var errForged = errors.New("it is not one of this server's, or was changed on the way")

// open returns the sealed state.
func (s sealer) open(sealed string) (requestState, error) {
	var state requestState
	aead := s.aead()
	if len(sealed) != base64.RawURLEncoding.EncodedLen(stateSize+aead.Overhead()) {
		return state, errForged
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil {
		return state, errForged
	}
	if text, err = aead.Open(nil, nil, text, nil); err != nil || len(text) != stateSize {
		return state, errForged
	}
	state.call = binary.BigEndian.Uint64(text)
	state.round = binary.BigEndian.Uint32(text[8:])
	state.expires = time.Unix(int64(binary.BigEndian.Uint64(text[12:])), 0)
	copy(state.request[:], text[20:])
	return state, nil
}
