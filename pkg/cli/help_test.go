package cli

import (
	"slices"
	"strings"
	"testing"
)

// CLI-126: an option and its value, a quotation and a bracket with an option are units.
func TestUnits(t *testing.T) {
	for text, want := range map[string][]string{
		"use --dir DIR, or none":             {"use", "--dir DIR,", "or", "none"},
		"use --dir there":                    {"use", "--dir", "there"},
		"(-o FILE) --text":                   {"(-o FILE)", "--text"},
		"[--dir DIR] [--http [ADDR]] [FILE]": {"[--dir DIR]", "[--http [ADDR]]", "[FILE]"},
		"[-- ARG...] | COMMAND ...":          {"[-- ARG...]", "|", "COMMAND ..."},
		`run "mcp-bash new x" ("a b"), 'c d'`: {
			"run", `"mcp-bash new x"`, `("a b"),`, "'c d'"},
		"a `b c` d":                   {"a", "`b c`", "d"},
		"'tis the user's \"open text": {"'tis", "the", "user's", `"open`, "text"},
		"[--open DIR":                 {"[--open", "DIR"},
	} {
		if got := units(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// CLI-126, CLI-1164: the width of a text is that on a terminal, not its number of bytes or characters.
func TestColumns(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "日本": 4, "👍": 2, "ｱ": 1, "Ａ": 2, "✓": 1,
	} {
		if got := Columns(text); got != want {
			t.Errorf("%q has %d columns", text, got)
		}
	}
	for _, tc := range []struct {
		text string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 6, "日本語"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"日本", 1, "…"},
		{"ab", -1, "…"}} {
		if got := Cut(tc.text, tc.most); got != tc.want || tc.most > 0 && Columns(got) > tc.most {
			t.Errorf("%q, cut to %d columns, is %q", tc.text, tc.most, got)
		}
	}
	if got := layout(9).wrap("日本語 日本 語", " "); got != " 日本語\n 日本 語\n" {
		t.Errorf("%q", got)
	}
}

// CLI-1166: a bar with wide characters fits the terminal, and the next one covers it.
func TestBarColumns(t *testing.T) {
	var out strings.Builder
	b := &Bar{raw: &out, width: 40}
	b.Show("日本語日本語日本語", 1, 2)
	b.Show("x", 1, 2)
	b.End()
	lines := strings.Split(out.String(), "\r")[1:]
	if first := lines[0]; Columns(first) > 40 || !strings.HasSuffix(first, "日本語…") {
		t.Errorf("%q", first)
	}
	for _, line := range lines[1 : len(lines)-1] {
		if Columns(line) < Columns(lines[0]) && strings.TrimSpace(line) != "" {
			t.Errorf("%q does not cover %q", line, lines[0])
		}
	}
}
