package results

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// stored returns a client with one result, and the URI of the result.
func stored(t testing.TB, text string) (*Client, string) {
	t.Helper()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := NewStore(Config{
		Dir: func() (*os.Root, error) { return root, nil }, MaxBytes: 1 << 28, ClientMax: 1 << 28, ServerMax: 1 << 28,
		Keep: time.Hour, MaxResults: 8,
	})
	c := s.NewClient("", "")
	t.Cleanup(func() { c.Close(); root.Close() })
	file, err := c.NewFile()
	if err != nil {
		t.Fatal(err)
	}
	file.Write([]byte(text))
	uri, err := c.Add(file, "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	return c, uri
}

// LR-31: searches of a stored result.
func TestSearch(t *testing.T) {
	text := "first\nsecond Line\n\nthe third line\nlast line"
	c, uri := stored(t, text)
	end := fmt.Sprintf("to the end of %d bytes.]", len(text))
	for _, tc := range []struct {
		q    Query
		want string
	}{
		{Query{Pattern: "line"}, "3:19:the third line\n4:34:last line\n[2 matches, " + end},
		{Query{Pattern: "line", IgnoreCase: true, Limit: 1},
			"1:6:second Line\n[1 match. The answer is full. Continue with offset 18 of 43.]"},
		{Query{Pattern: "line", IgnoreCase: true, Offset: 18}, "3:19:the third line\n4:34:last line\n[2 matches, " + end},
		{Query{Pattern: "^t.*e$", Regexp: true}, "3:19:the third line\n[1 match, " + end},
		{Query{Pattern: "^$", Regexp: true}, "2:18:\n[1 match, " + end},
		{Query{Pattern: "t|l", Regexp: true, Limit: 600},
			"0:0:first\n3:19:the third line\n4:34:last line\n[3 matches, " + end},
		{Query{Pattern: "^t.*e$"}, "[0 matches, " + end},
		{Query{Pattern: "\n"}, "[0 matches, " + end},
		{Query{Pattern: "last", Offset: 99}, "[0 matches, " + end},
		{Query{}, text},
		{Query{Offset: 34}, "last line"},
		{Query{Offset: 99}, ""},
		{Query{Pattern: "(", Regexp: true}, "error: Invalid pattern"},
		{Query{Pattern: strings.Repeat("x", maxPattern+1)}, "error: Invalid pattern"},
		{Query{Pattern: "x{600}y{600}", Regexp: true}, "error: Invalid pattern: it is too complex"},
		{Query{Pattern: "(x{30}){30}", Regexp: true}, "[0 matches, " + end},
		{Query{Pattern: strings.Repeat("x", maxPattern)}, "[0 matches, " + end},
	} {
		tc.q.URI = uri
		got, err := c.Search(t.Context(), tc.q)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != tc.want && !(strings.HasPrefix(tc.want, "error") && strings.HasPrefix(got, tc.want)) {
			t.Errorf("%+v: %q", tc.q, got)
		}
	}
	if _, err := c.store.NewClient("", "").Search(t.Context(), Query{URI: uri, Pattern: "x"}); err == nil {
		t.Error("another client searches")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := c.Search(ended, Query{URI: uri, Pattern: "line"}); err != nil ||
		got != "[0 matches. The time is over. Continue with offset 0 of 43.]" {
		t.Errorf("%q %v", got, err)
	}
}

// LR-31: an answer has at most 16 KiB, and the offset where to continue. So all matches are found.
func TestSearchInParts(t *testing.T) {
	row := regexp.MustCompile(`(?m)^(\d+):(\d+):(.*)$`)
	next := regexp.MustCompile(`Continue with offset (\d+)`)
	for _, tc := range []struct {
		name, text, pattern string
		limit, want         int
	}{
		{"lines", strings.Repeat("some\nneedle and hay\n", 5000), "needle", 500, 5000},
		{"long lines", strings.Repeat("needle"+strings.Repeat(" hay", 200)+"\n", 3000), "needle", 100, 3000},
		{"one line", strings.Repeat("needle"+strings.Repeat(" hay", 99), 3000), "needle", 77, 3000},
		{"dense", strings.Repeat("ab", 3000) + strings.Repeat(" ", whole), "ab", 500, 3000},
		{"at the ends of windows", strings.Repeat(strings.Repeat("€", window/3-1)+"needle", 9), "needle", 2, 9},
	} {
		for _, re := range []bool{false, true} {
			c, uri := stored(t, tc.text)
			found, offset := map[string]bool{}, int64(0)
			for range 20000 {
				q := Query{URI: uri, Pattern: tc.pattern, Regexp: re, Offset: offset, Limit: tc.limit}
				got, err := c.Search(t.Context(), q)
				if err != nil || len(got) > maxFound+200 {
					t.Fatalf("%s: %d bytes, %v", tc.name, len(got), err)
				}
				for _, m := range row.FindAllStringSubmatch(got, -1) {
					at, _ := strconv.Atoi(m[2])
					line := strconv.Itoa(strings.Count(tc.text[:at], "\n"))
					if found[m[2]] || !strings.Contains(m[3], tc.pattern) || line != m[1] {
						t.Fatalf("%s: a wrong match: %.200s", tc.name, m[0])
					}
					found[m[2]] = true
				}
				on := next.FindStringSubmatch(got)
				if on == nil {
					break
				}
				if offset, err = strconv.ParseInt(on[1], 10, 64); err != nil {
					t.Fatal(err)
				}
			}
			if len(found) != tc.want {
				t.Errorf("%s, %t: %d matches, want %d", tc.name, re, len(found), tc.want)
			}
		}
	}
}

// LR-31: reading on gives the whole text.
func TestReadOn(t *testing.T) {
	for _, text := range []string{strings.Repeat("a line\n", 9000), strings.Repeat("€", 40000), ""} {
		c, uri := stored(t, text)
		next := regexp.MustCompile(`\n\[\d+ of \d+ bytes\. Continue with offset (\d+)\.\]$`)
		all, offset := "", int64(0)
		for {
			got, err := c.Search(t.Context(), Query{URI: uri, Offset: offset})
			if err != nil || len(got) > maxFound+200 {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			all += next.ReplaceAllString(got, "")
			on := next.FindStringSubmatch(got)
			if on == nil {
				break
			}
			offset, _ = strconv.ParseInt(on[1], 10, 64)
		}
		if all != text {
			t.Errorf("%d bytes of %d", len(all), len(text))
		}
	}
}

// LR-31: a search of fixed text finds the lines that contain it, and each search ends within its limits.
func FuzzSearch(f *testing.F) {
	f.Add("some text\nwith lines", "lines", false, false, int64(0), 0)
	f.Add("aaaa\n\nb", "a*", true, true, int64(2), 1)
	f.Add("x", "(?i)[^y]{2,}$", true, false, int64(9), 9)
	f.Fuzz(func(t *testing.T, text, pattern string, re, ignoreCase bool, offset int64, limit int) {
		text = strings.Repeat(text, 3)
		c, uri := stored(t, text)
		q := Query{URI: uri, Pattern: pattern, Regexp: re, IgnoreCase: ignoreCase, Offset: max(0, offset), Limit: limit}
		got, err := c.Search(t.Context(), q)
		if err == nil && len(got) > maxFound+200 {
			t.Errorf("%d bytes", len(got))
		}
		if err != nil || re || ignoreCase || pattern == "" || q.Offset > 0 || len(text) > whole {
			return
		}
		want := 0
		for line := range strings.Lines(text) {
			if strings.Contains(strings.TrimSuffix(line, "\n"), pattern) {
				want++
			}
		}
		if limit <= 0 {
			limit = defaultMatches
		}
		if !strings.Contains(got, fmt.Sprintf("[%d match", min(want, limit))) {
			t.Errorf("%d matches expected: %q", want, got)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	c, uri := stored(b, strings.Repeat("a line of a long text without it\n", 3_000_000))
	for _, q := range []Query{
		{Pattern: "needle"}, {Pattern: "needle", IgnoreCase: true}, {Pattern: `n[aeiou]+dle\d`, Regexp: true},
	} {
		q.URI = uri
		b.Run(fmt.Sprintf("%s,%t", q.Pattern, q.IgnoreCase), func(b *testing.B) {
			for b.Loop() {
				if _, err := c.Search(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
