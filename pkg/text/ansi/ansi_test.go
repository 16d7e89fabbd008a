package ansi

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// T-138: sequences that programs print.
func TestStrip(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\r\n": "plain\ttext\r\n", "": "",
		"\x1b[31mred\x1b[0m":                       "red",
		"\x1b[1;38;5;208mx\x1b[m\x1b(B":            "x", // as tput prints them
		"\x1b[2K\x1b[1Gdone\x1b[?25h":              "done",
		"\x1b]8;;https://h/\x1b\\link\x1b]8;;\x07": "link",
		"\x1b]0;title\x07text":                     "text",
		"\x1bP1$r0m\x1b\\x\x1b7y\x1b8z\x1b=":       "xyz",
		"\x1b[38:2::1:2:3mx":                       "x",
		"é\x1b[0mé":                                "éé",
		"\x1b":                                     "\x1b",
		"a\x1b[31":                                 "a\x1b[31",
		"a\x1b\nb":                                 "a\x1b\nb",
		"\x1b]8;;no end":                           "\x1b]8;;no end",
		"\x1b\x1b[0mx":                             "\x1bx",
		"\x1b[31é":                                 "\x1b[31é",
		"\x1b]0;" + strings.Repeat("x", maxSequence) + "\x07":      "\x1b]0;" + strings.Repeat("x", maxSequence) + "\x07",
		"\x1b]0;" + strings.Repeat("x", maxSequence-5) + "\x07end": "end",
	} {
		if got := Strip([]byte(text)); string(got) != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzStrip(f *testing.F) {
	f.Add([]byte("\x1b[31mred\x1b[0m \x1b]8;;x\x1b\\y"), 3)
	f.Add([]byte("a\x1b\x1b["+strings.Repeat("1", maxSequence)+"mb"), 1000)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		got := Strip(bytes.Clone(text))
		var passed bytes.Buffer
		w := Writer{To: &passed}
		for part := range slices.Chunk(text, max(1, size)) {
			if n, err := w.Write(part); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if w.Flush(); !bytes.Equal(passed.Bytes(), got) {
			t.Errorf("%q in parts: %q, want %q", text, passed.Bytes(), got)
		}
		if len(got) > len(text) || !bytes.Contains(text, []byte{esc}) && !bytes.Equal(got, text) {
			t.Errorf("%q: %q", text, got)
		}
	})
}
