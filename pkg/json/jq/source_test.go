package jq

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"mcp-bash/pkg/json/rawjson"
)

func newTestReader(src io.Reader) *reader {
	return &reader{name: "test", src: src, beforeRead: func() {}}
}

// readAll returns the values of a text and the final error, as text.
func readAll(r *reader, next func() (json.RawMessage, error)) string {
	var values []string
	for {
		value, err := next()
		if err == io.EOF {
			return strings.Join(values, " ")
		}
		if err != nil {
			return strings.Join(append(values, err.Error()), " ")
		}
		values = append(values, string(value))
	}
}

func TestReaderValues(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		" \n\t":                  "",
		`{"a":1}`:                `{"a":1}`,
		"1 2\n3":                 "1 2 3",
		`{"a":"}"}[1,"]\"]"]"x"`: `{"a":"}"} [1,"]\"]"] "x"`,
		`1"a"2[]3`:               `1 "a" 2 [] 3`,
		"\uFEFF[1]":              "[1]",
		"\uFEFF":                 "",
		"\"a\xff\xe2\x82\"":      "\"a\uFFFD\uFFFD\uFFFD\"", // SDK-18
		"nulltrue":               "test is not JSON: text after the value at line 1, column 5",
		"1 x 2":                  "1 test is not JSON: a value expected at line 1, column 3",
		"{\n \"é\" 1}":           "test is not JSON: ':' expected at line 2, column 6",
		"[1]\n [1,\n}":           "[1] test is not JSON: a value expected at line 3, column 1",
		"[1]  [1,}":              "[1] test is not JSON: a value expected at line 1, column 9",
		"[1":                     "test is not JSON: unexpected end at line 1, column 3",
		`"abc`:                   "test is not JSON: unexpected end at line 1, column 5",
		"}":                      "test is not JSON: a value expected at line 1, column 1",
		"1,2":                    "1 test is not JSON: a value expected at line 1, column 2",
		"\x1e1":                  "test is not JSON: a value expected at line 1, column 1",
		"\xef":                   "test is not JSON: a value expected at line 1, column 1",
	} {
		r := newTestReader(strings.NewReader(in))
		if got := readAll(r, r.value); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestReaderLines(t *testing.T) {
	for in, want := range map[string]string{
		"":            "",
		"a\nb":        `"a" "b"`,
		"a\r\n\n\"\n": `"a\r" "" "\""`,
		"\xff\n":      "\"\uFFFD\"",
	} {
		r := newTestReader(strings.NewReader(in))
		if got := readAll(r, r.line); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// A value is returned before the text after it arrives.
func TestReaderDoesNotWait(t *testing.T) {
	end := errors.New("asked for more")
	for in, next := range map[string]func(*reader) (json.RawMessage, error){
		`{"a":[1,"}"]}`: (*reader).value,
		`"x"`:           (*reader).value,
		"1 ":            (*reader).value,
		"line\n":        (*reader).line,
	} {
		r := newTestReader(io.MultiReader(strings.NewReader(in), iotest.ErrReader(end)))
		if value, err := next(r); err != nil {
			t.Errorf("%q: %s, %v", in, value, err)
		}
		if _, err := next(r); err != end {
			t.Errorf("%q: then %v", in, err)
		}
	}
}

// FuzzReader checks that the sizes of reads make no difference, and that no text is lost.
func FuzzReader(f *testing.F) {
	for _, seed := range documents {
		f.Add([]byte(seed + " " + seed))
	}
	f.Add([]byte("\uFEFF1\n2"))
	f.Add([]byte("1,2"))
	f.Add([]byte("a line\nand the rest"))
	f.Fuzz(func(t *testing.T, text []byte) {
		whole, pieces := newTestReader(bytes.NewReader(text)),
			newTestReader(iotest.OneByteReader(bytes.NewReader(text)))
		want := readAll(whole, whole.value)
		if got := readAll(pieces, pieces.value); got != want {
			t.Fatalf("%q: %s in pieces, %s as a whole", text, got, want)
		}
		if v, err := rawjson.Check(text); err == nil && want != string(v) {
			t.Fatalf("%q: %s", text, want)
		}
		whole, pieces = newTestReader(bytes.NewReader(text)), newTestReader(iotest.OneByteReader(bytes.NewReader(text)))
		if got, want := readAll(pieces, pieces.line), readAll(whole, whole.line); got != want {
			t.Fatalf("%q: lines %s in pieces, %s as a whole", text, got, want)
		}
	})
}
