package rawjson

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Replacers for the names in a JSON Pointer (RFC 6901).
var (
	ToPointer   = strings.NewReplacer("~", "~0", "/", "~1")
	FromPointer = strings.NewReplacer("~1", "/", "~0", "~")
)

// At returns the value that a JSON Pointer leads to, or the last value on its way that exists.
func At(v json.RawMessage, pointer string) json.RawMessage {
	for _, name := range strings.Split(pointer, "/")[1:] {
		next := Get(v, FromPointer.Replace(name))
		if i, err := strconv.Atoi(name); err == nil && KindOf(v) == Array {
			if list := slices.Collect(Elements(v)); i >= 0 && i < len(list) {
				next = list[i]
			}
		}
		if next == nil {
			break
		}
		v = next
	}
	return v
}
