package jq

import (
	"encoding/json"
	"math/big"
	"strconv"

	"mcp-bash/pkg/json/jqtext"
)

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
