package jq

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

// goValue returns a JSON value in the types of gojq: nil, bool, string, the numbers of
// [numberValue], []any and map[string]any.
func goValue(v json.RawMessage) any {
	value, _ := decode(v, rawjson.SpaceEnd(v, 0))
	return value
}

func decode(b []byte, i int) (any, int) {
	switch b[i] {
	case '{':
		object := map[string]any{}
		for i = rawjson.SpaceEnd(b, i+1); b[i] != '}'; {
			start := i
			i = rawjson.StringEnd(b, start)
			name, _ := rawjson.Text(b[start:i])
			object[name], i = decode(b, rawjson.SpaceEnd(b, rawjson.SpaceEnd(b, i)+1))
			if i = rawjson.SpaceEnd(b, i); b[i] == ',' {
				i = rawjson.SpaceEnd(b, i+1)
			}
		}
		return object, i + 1
	case '[':
		array := []any{}
		for i = rawjson.SpaceEnd(b, i+1); b[i] != ']'; {
			var element any
			element, i = decode(b, i)
			array = append(array, element)
			if i = rawjson.SpaceEnd(b, i); b[i] == ',' {
				i = rawjson.SpaceEnd(b, i+1)
			}
		}
		return array, i + 1
	case '"':
		end := rawjson.StringEnd(b, i)
		s, _ := rawjson.Text(b[i:end])
		return s, end
	}
	end := rawjson.ValueEnd(b, i)
	switch b[i] {
	case 't':
		return true, end
	case 'f':
		return false, end
	case 'n':
		return nil, end
	}
	return numberValue(b[i:end]), end
}

// appendGoValue appends a result of gojq as compact JSON with sorted members (SDK-16).
func appendGoValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case string:
		return rawjson.AppendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, element := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendGoValue(dst, element)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(rawjson.AppendString(dst, name), ':')
			dst = appendGoValue(dst, v[name])
		}
		return append(dst, '}')
	}
	return appendNumberValue(dst, v)
}

// numberValue returns a JSON number in the types of gojq: int, *big.Int or float64.
func numberValue(number []byte) any {
	if !jqtext.IsInteger(number) {
		f := jqtext.ParseFloat(number)
		if f == 0 {
			return 0 // gojq would print the sign of -0.0
		}
		return f
	}
	if i, err := strconv.Atoi(string(number)); err == nil {
		return i
	}
	i, _ := new(big.Int).SetString(string(number), 10)
	return i
}

func appendNumberValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case *big.Int:
		return v.Append(dst, 10)
	case json.Number: // a literal of the filter
		return jqtext.AppendNumber(dst, []byte(v))
	}
	f, _ := v.(float64) // the only type left
	return jqtext.AppendFloat(dst, f)
}
