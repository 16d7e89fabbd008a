// Package jsontest compares JSON in tests by its meaning. So expected values can have line breaks, and members in any
// order.
package jsontest

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// Same reports whether two texts are equal, or sequences of JSON values with the same meaning. Digits of numbers count.
func Same(got, want string) bool {
	if got == want {
		return true
	}
	a, err := values(got)
	b, errWant := values(want)
	return err == nil && errWant == nil && slices.EqualFunc(a, b, rawjson.Equal)
}

func values(text string) (list []json.RawMessage, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var v json.RawMessage
		if err := d.Decode(&v); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
}
