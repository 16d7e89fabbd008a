package uitemplate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"mcp-bash/pkg/json/rawjson"
)

// An object is a part of a configuration. A member that is absent or null has its default
// value. The first fault is stored in fault.
type object struct {
	value json.RawMessage
	path  string // for messages: config.fields[2]
	fault *error
}

func (o object) wrong(key, want string) {
	if *o.fault == nil {
		*o.fault = fmt.Errorf("%s.%s must be %s", o.path, key, want)
	}
}

func (o object) has(key string) bool { return !rawjson.Absent(rawjson.Get(o.value, key)) }

// text returns a string. Numbers and booleans are returned as they are written.
func (o object) text(key, fallback string) string {
	v := rawjson.Get(o.value, key)
	if rawjson.Absent(v) {
		return fallback
	}
	s, ok := scalar(v)
	if !ok {
		o.wrong(key, "text")
	}
	return s
}

func scalar(v json.RawMessage) (string, bool) {
	switch rawjson.KindOf(v) {
	case rawjson.String:
		return rawjson.Text(v)
	case rawjson.Number, rawjson.Bool:
		return string(v), true
	}
	return "", false
}

func (o object) needed(key string) string {
	s := o.text(key, "")
	if s == "" {
		o.wrong(key, "given, and not empty")
	}
	return s
}

// flag returns a boolean, which can also be written as a string.
func (o object) flag(key string, fallback bool) bool {
	switch o.text(key, strconv.FormatBool(fallback)) {
	case "true":
		return true
	case "false":
		return false
	}
	o.wrong(key, "true or false")
	return false
}

func (o object) count(key string, fallback int) int {
	n, err := strconv.Atoi(o.text(key, strconv.Itoa(fallback)))
	if err != nil || n < 0 {
		o.wrong(key, "a whole number from 0")
	}
	return n
}

// oneOf returns one of several words, the first by default.
func (o object) oneOf(key string, words ...string) string {
	s := o.text(key, words[0])
	if !slices.Contains(words, s) {
		o.wrong(key, fmt.Sprintf("one of %q", words))
	}
	return s
}

// object returns a JSON object as it is written, {} by default.
func (o object) object(key string) json.RawMessage {
	v := rawjson.Get(o.value, key)
	if rawjson.Absent(v) {
		return json.RawMessage("{}")
	}
	if rawjson.KindOf(v) != rawjson.Object {
		o.wrong(key, "an object")
	}
	return v
}

func (o object) list(key string) (values []json.RawMessage, paths []string) {
	v := rawjson.Get(o.value, key)
	if rawjson.Absent(v) {
		return nil, nil
	}
	if rawjson.KindOf(v) != rawjson.Array {
		o.wrong(key, "an array")
		return nil, nil
	}
	for item := range rawjson.Elements(v) {
		paths = append(paths, fmt.Sprintf("%s[%d]", key, len(values)))
		values = append(values, item)
	}
	return values, paths
}

func (o object) objects(key string) []object {
	values, paths := o.list(key)
	var list []object
	for i, v := range values {
		if rawjson.KindOf(v) != rawjson.Object {
			o.wrong(paths[i], "an object")
			break
		}
		list = append(list, object{v, o.path + "." + paths[i], o.fault})
	}
	return list
}
