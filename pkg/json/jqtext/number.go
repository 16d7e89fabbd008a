package jqtext

import (
	"bytes"
	"math"
	"strconv"
)

// IsInteger reports whether a JSON number has neither a fraction nor an exponent.
func IsInteger(number []byte) bool { return !bytes.ContainsAny(number, ".eE") }

// AppendNumber appends a JSON number as the program prints it (SDK-17). Integers keep their
// digits. Others become the shortest decimal that is read as the same float64.
func AppendNumber(dst, number []byte) []byte {
	if !IsInteger(number) {
		return AppendFloat(dst, ParseFloat(number))
	}
	if string(number) == "-0" {
		return append(dst, '0')
	}
	return append(dst, number...)
}

// AppendFloat appends a float64 in the form of SDK-17. Values that JSON cannot represent are
// written as in jq: NaN as null, and infinities as the largest numbers.
func AppendFloat(dst []byte, f float64) []byte {
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

// ParseFloat parses a JSON number. A number out of range becomes an infinity.
func ParseFloat(number []byte) float64 {
	f, _ := strconv.ParseFloat(string(number), 64)
	return f
}
