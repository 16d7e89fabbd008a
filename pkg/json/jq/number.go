package jq

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
)

func isInteger(number []byte) bool { return !bytes.ContainsAny(number, ".eE") }

// appendNumber appends a JSON number as the program prints it (SDK-17). Integers keep their
// digits. Others become the shortest decimal that is read as the same float64.
func appendNumber(dst, number []byte) []byte {
	if !isInteger(number) {
		return appendFloat(dst, parseFloat(number))
	}
	if string(number) == "-0" {
		return append(dst, '0')
	}
	return append(dst, number...)
}

// appendFloat appends a float64 in the form of SDK-17. Values that JSON cannot represent are
// written as in jq: NaN as null, and infinities as the largest numbers.
func appendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) {
		return append(dst, "null"...)
	}
	f = max(-math.MaxFloat64, min(f, math.MaxFloat64))
	switch size := math.Abs(f); {
	case size == 0:
		return append(dst, '0')
	case size >= 1e-6 && size < 1e21:
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go writes at least two digits of the exponent: 1e-07.
	if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// parseFloat parses a JSON number. A number out of range becomes an infinity.
func parseFloat(number []byte) float64 {
	f, _ := strconv.ParseFloat(string(number), 64)
	return f
}

// numberValue returns a JSON number in the types of gojq: int, *big.Int or float64.
func numberValue(number []byte) any {
	if !isInteger(number) {
		f := parseFloat(number)
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

// appendNumberValue appends a number that gojq returned.
func appendNumberValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case *big.Int:
		return v.Append(dst, 10)
	case json.Number: // a literal of the filter
		return appendNumber(dst, []byte(v))
	}
	f, _ := v.(float64) // the only type left
	return appendFloat(dst, f)
}
