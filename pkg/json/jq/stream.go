package jq

import (
	"encoding/json"
	"iter"
	"strconv"

	"mcp-bash/pkg/json/rawjson"
)

// events yields the --stream events of a value. There is an event [path,leaf] for every
// leaf. After the last leaf of each array or object, there is an event [path] with the path
// of that leaf. An event is valid until the next one.
func events(value json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		s := streamer{src: value, yield: yield}
		s.value(rawjson.SpaceEnd(value, 0), nil)
	}
}

type streamer struct {
	src   []byte
	yield func(json.RawMessage) bool
	event []byte
}

// value streams the value at i. path is the text of its steps, without brackets. ok is false
// if yield has returned false.
func (s *streamer) value(i int, path []byte) (end int, ok bool) {
	switch s.src[i] {
	case '{', '[':
		first := rawjson.SpaceEnd(s.src, i+1)
		if s.src[first] == '}' || s.src[first] == ']' {
			end = first + 1
		} else {
			return s.container(first, path, s.src[i] == '{')
		}
	case '"':
		end = rawjson.StringEnd(s.src, i)
	default:
		end = rawjson.ValueEnd(s.src, i)
	}
	return end, s.emit(path, s.src[i:end])
}

// container streams an array or object whose first element or name is at i.
func (s *streamer) container(i int, path []byte, isObject bool) (end int, ok bool) {
	if len(path) > 0 {
		path = append(path, ',')
	}
	for index := 0; ; index++ {
		below := path
		if isObject {
			name := i
			i = rawjson.StringEnd(s.src, name)
			below = append(below, s.src[name:i]...)
			i = rawjson.SpaceEnd(s.src, rawjson.SpaceEnd(s.src, i)+1)
		} else {
			below = strconv.AppendInt(below, int64(index), 10)
		}
		if i, ok = s.value(i, below); !ok {
			return i, false
		}
		i = rawjson.SpaceEnd(s.src, i)
		if s.src[i] != ',' {
			return i + 1, s.emit(below, nil)
		}
		i = rawjson.SpaceEnd(s.src, i+1)
	}
}

// emit yields one event. A nil leaf is the end of an array or object.
func (s *streamer) emit(path, leaf []byte) bool {
	s.event = append(append(append(s.event[:0], "[["...), path...), ']')
	if leaf != nil {
		s.event = append(append(s.event, ','), leaf...)
	}
	s.event = append(s.event, ']')
	return s.yield(s.event)
}
