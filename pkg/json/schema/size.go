package schema

import (
	"encoding/json"
	"sync"

	"mcp-bash/pkg/json/rawjson"
)

// A decoded value takes many times the memory of its text: a few bytes become a map.
const (
	maxDecoded   = 128 << 20 // approximate bytes; larger values are not checked
	largeDecoded = 1 << 20   // values above this size are checked one at a time
)

// large is locked while a large value is decoded and checked.
var large sync.Mutex

// The approximate memory of decoded values, in bytes. A string also takes the length of its
// text.
const (
	costValue  = 32  // an interface, with its share of the container's growth
	costString = 16  //
	costArray  = 48  // a slice and its header
	costObject = 336 // a map with room for eight members
	costMember = 64  // in a map that has grown
)

// decodedSize returns approximately how many bytes a valid value takes when it is decoded.
// It stops when the size exceeds limit.
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
