package jq

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"testing"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

// SDK-17.
func TestAppendNumber(t *testing.T) {
	for in, want := range map[string]string{
		"12345678901234567":               "12345678901234567",
		"123456789012345678901234567890":  "123456789012345678901234567890",
		"-123456789012345678901234567890": "-123456789012345678901234567890",
		"3.14":                            "3.14",
		"1.50":                            "1.5",
		"1.0":                             "1",
		"1e3":                             "1000",
		"1E+2":                            "100",
		"1E-7":                            "1e-7",
		"-1.5e-10":                        "-1.5e-10",
		"1e-100":                          "1e-100",
		"1.25e+100":                       "1.25e+100",
		"0.000001":                        "0.000001",
		"1e20":                            "100000000000000000000",
		"1e21":                            "1e+21",
		"-0":                              "0",
		"-0.0":                            "0",
		"0e5":                             "0",
		"1e-999":                          "0",
		"1e999":                           "1.7976931348623157e+308",
		"-1e999":                          "-1.7976931348623157e+308",
		"0.1":                             "0.1",
		"3.14159265358979323846":          "3.141592653589793",
	} {
		if got := string(jqtext.AppendNumber(nil, []byte(in))); got != want {
			t.Errorf("%s is printed %s, want %s", in, got, want)
		}
		if got := string(appendGoValue(nil, goValue(json.RawMessage(in)))); got != want {
			t.Errorf("%s comes out of the engine as %s, want %s", in, got, want)
		}
	}
}

// SDK-17: values that JSON cannot represent.
func TestAppendGoNumber(t *testing.T) {
	huge, _ := new(big.Int).SetString("99999999999999999999", 10)
	for want, v := range map[string]any{
		"null":                     math.NaN(),
		"1.7976931348623157e+308":  math.Inf(1),
		"-1.7976931348623157e+308": math.Inf(-1),
		"0":                        math.Copysign(0, -1),
		"99999999999999999999":     huge,
		"1.5":                      json.Number("1.50"),
		"-7":                       -7,
	} {
		if got := string(appendGoValue(nil, v)); got != want {
			t.Errorf("%v is printed %s, want %s", v, got, want)
		}
	}
}

// FuzzNumber checks that a printed number is JSON, has the same value, and is printed unchanged.
func FuzzNumber(f *testing.F) {
	for _, seed := range []string{"0", "-0.0", "1e3", "1E-7", "123456789012345678901234567890",
		"1.7976931348623157e308", "5e-324", "1e21", "9007199254740993.0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		v, err := rawjson.Check([]byte(in))
		if err != nil || rawjson.KindOf(v) != rawjson.Number {
			return
		}
		printed := jqtext.AppendNumber(nil, v)
		if again, err := rawjson.Check(printed); err != nil || string(jqtext.AppendNumber(nil, again)) != string(printed) {
			t.Fatalf("%s is printed %s: %v", v, printed, err)
		}
		want, _ := strconv.ParseFloat(string(v), 64)
		got, _ := strconv.ParseFloat(string(printed), 64)
		if !math.IsInf(want, 0) && got != want {
			t.Fatalf("%s is printed %s", v, printed)
		}
	})
}
