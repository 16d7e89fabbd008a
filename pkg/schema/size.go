package schema

import (
	"encoding/json"
	"sync"

	"mcp-bash/pkg/rawjson"
)

// Decoded, a value takes many times the memory of its text: a few bytes make a map.
const (
	maxDecoded   = 128 << 20 // bytes, about; what would take more is not checked
	largeDecoded = 1 << 20   // values above this size are checked one at a time
)

// large is held while a large value is decoded and checked.
var large sync.Mutex

// What a value takes once decoded, about, in bytes; a string its text besides.
const (
	costValue  = 32  // an interface, and what grows around it
	costString = 16  //
	costArray  = 48  // a slice and its header
	costObject = 336 // a map with room for eight members
	costMember = 64  // in a map that has grown
)

// decodedSize returns about how many bytes a valid value takes once decoded, as
// far as it is no more than limit.
func decodedSize(v json.RawMessage, limit int) int {
	size := 0
	for i := 0; i < len(v) && size <= limit; {
		switch v[i] {
		case '"':
			end := rawjson.StringEnd(v, i)
			size += costValue + costString + end - i
			i = end
			continue
		case '{':
			size += costValue + costObject
		case '[':
			size += costValue + costArray
		case ':':
			size += costMember
		case ',', ' ', '\t', '\n', '\r', '}', ']':
		default: // a number or a word
			size += costValue
			for i < len(v) && !rawjson.IsDelimiter(v[i]) {
				i++
			}
			continue
		}
		i++
	}
	return size
}
