package suspended

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"mcp-bash/pkg/protocol/internal/seal"
)

// A requestState names the suspended call of a retry. The client gets it sealed, and can neither
// read nor forge it (M-52).
type requestState struct {
	owner   seal.Owner // the process that suspended the call; its URL can be ""
	call    uint64
	round   uint32
	expires time.Time         // whole seconds
	request [sha256.Size]byte // the hash of method, name and arguments
}

// stateSize is the length of a state without owner before it is sealed, in bytes.
const stateSize = len(seal.Process{}) + 8 + 4 + 8 + sha256.Size

// sealState returns the text for a caller. For any other caller it is forged (H-503).
func sealState(s seal.Sealer, state requestState, caller string) string {
	text := make([]byte, 0, stateSize+len(state.owner.URL))
	text = append(text, state.owner.Process[:]...)
	text = binary.BigEndian.AppendUint64(text, state.call)
	text = binary.BigEndian.AppendUint32(text, state.round)
	text = binary.BigEndian.AppendUint64(text, uint64(state.expires.Unix()))
	text = append(text, state.request[:]...)
	text = append(text, state.owner.URL...)
	return s.Seal(text, []byte(caller))
}

// openState returns the sealed state of a caller.
func openState(s seal.Sealer, sealed, caller string) (state requestState, err error) {
	text, err := s.Open(sealed, []byte(caller), stateSize, stateSize+seal.MaxURL)
	if err != nil {
		return state, err
	}
	copy(state.owner.Process[:], text)
	state.call = binary.BigEndian.Uint64(text[16:])
	state.round = binary.BigEndian.Uint32(text[24:])
	state.expires = time.Unix(int64(binary.BigEndian.Uint64(text[28:])), 0)
	copy(state.request[:], text[36:])
	state.owner.URL = string(text[stateSize:])
	return state, nil
}
