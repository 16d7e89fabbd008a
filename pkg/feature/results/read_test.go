package results

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// LR-10 to LR-12: any URI gives an answer within the limit, or an error for the client.
func FuzzRange(f *testing.F) {
	c, uri := stored(f, strings.Repeat("one line €\n", 20000))
	for _, query := range []string{"", "?offset=3&limit=2", "?unit=bytes&offset=9&limit=1", "?offset=99999999", "?limit=0",
		"?%zz"} {
		f.Add(query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		part, err := c.Read(uri + query)
		var known *mcp.Error
		switch {
		case err != nil && !errors.As(err, &known):
			t.Errorf("%q: %v", query, err)
		case err == nil && len(textOf(part)) > maxPart+utf8.UTFMax:
			t.Errorf("%q: %d bytes", query, len(textOf(part)))
		}
	})
}

// textOf returns the text of an answer.
func textOf(part *resource.Content) string {
	var text string
	for item := range rawjson.Elements(rawjson.Get(part.AppendJSON(nil, mcp.Extra{}), "contents")) {
		text = rawjson.TextOf(item, "text")
	}
	return text
}

// LR-10, LR-33: parts of a picture are blobs and count bytes.
func TestPicture(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := NewStore(Config{MaxBytes: 1 << 20, ClientMax: 1 << 20, ServerMax: 1 << 20, MaxResults: 1, Keep: time.Hour,
		Dir: func() (*os.Root, error) { return root, nil }}).NewClient("o", "o")
	file, err := c.NewFile()
	if err != nil {
		t.Fatal(err)
	}
	file.Write([]byte("\x89PNG\r\n\x1a\n" + strings.Repeat("\xa9\n", maxPart)))
	uri, err := c.Add(file, "image/png")
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		"?offset=1&limit=3": `"blob":"UE5H","_meta":{"mcpbash/totalBytes":131080,"mcpbash/next":"` + uri +
			`?unit=bytes&offset=4&limit=3"`,
		"?unit=bytes&offset=131079": `"blob":"Cg==","_meta":{"mcpbash/totalBytes":131080}`,
		"":                          `"mcpbash/next":"` + uri + `?unit=bytes&offset=65536"`,
	} {
		part, err := c.Read(uri + query)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(part.AppendJSON(nil, mcp.Extra{})); !strings.Contains(got, want) {
			t.Errorf("%s: %.300s", query, got)
		}
	}
	if text, err := c.Search(t.Context(), Query{URI: uri, Pattern: "PNG"}); err == nil {
		t.Errorf("a search: %q", text)
	}
}

// LR-21: at each limit, the oldest result of the owner that uses most is removed, with one client or several.
func TestOwners(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		limit Config
		lost  []int // the indexes of removed results
	}{
		{Config{MaxBytes: 10, ClientMax: 100, ServerMax: 100, MaxResults: 4}, []int{1, 2}},
		{Config{MaxBytes: 10, ClientMax: 100, ServerMax: 40, MaxResults: 100}, []int{1, 2}},
		{Config{MaxBytes: 10, ClientMax: 20, ServerMax: 100, MaxResults: 100}, []int{1, 2}},
		{Config{MaxBytes: 10, ClientMax: 100, ServerMax: 10, MaxResults: 100}, []int{0, 1, 2, 3, 4}},
	} {
		c.limit.Dir, c.limit.Keep = func() (*os.Root, error) { return root, nil }, time.Hour
		s := NewStore(c.limit)
		other, one, two := s.NewClient("b", ""), s.NewClient("a", "1"), s.NewClient("a", "2")
		var readers []*Client
		var uris []string
		for _, client := range []*Client{other, one, two, one, two, other} {
			file, err := client.NewFile()
			if err != nil {
				t.Fatal(err)
			}
			file.Write([]byte("0123456789"))
			uri, err := client.Add(file, "text/plain")
			if err != nil {
				t.Fatal(err)
			}
			readers, uris = append(readers, client), append(uris, uri)
		}
		var lost []int
		for i, uri := range uris {
			if _, err := readers[i].Read(uri); err != nil {
				lost = append(lost, i)
			}
		}
		if !slices.Equal(lost, c.lost) {
			t.Errorf("%+v: lost %v, want %v", c.limit, lost, c.lost)
		}
		for _, client := range []*Client{other, one, two} {
			client.Close()
		}
	}
}

// LR-21: results expire, the oldest is removed first, and each belongs to one client.
func TestStore(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := NewStore(Config{
		Dir: func() (*os.Root, error) { return root, nil }, MaxBytes: 10, ClientMax: 20, ServerMax: 30, Keep: time.Hour,
		MaxResults: 3,
	})
	one, two := s.NewClient("one", ""), s.NewClient("two", "")
	add := func(c *Client, text string) string {
		t.Helper()
		file, err := c.NewFile()
		if err != nil {
			t.Fatal(err)
		}
		file.Write([]byte(text))
		uri, err := c.Add(file, "text/plain")
		if err != nil {
			t.Fatal(err)
		}
		return uri
	}
	first := add(one, "0123456789")
	other := add(two, "abcdefghij")
	if _, err := two.Read(first); err == nil {
		t.Error("a client reads the result of another one")
	}
	add(one, "0123456789")
	add(one, "0123456789")
	if _, err := one.Read(first); err == nil {
		t.Error("the oldest result of the client is still there")
	}
	if part, err := two.Read(other); err != nil || textOf(part) != "abcdefghij" {
		t.Error(err)
	}
	file, err := one.NewFile()
	if err != nil {
		t.Fatal(err)
	}
	file.Write(make([]byte, 11))
	if _, err := one.Add(file, "text/plain"); err == nil {
		t.Error("a result over the limit is stored")
	}
	file.Close()
	one.Close()
	two.Close()
	if len(s.results) > 0 {
		t.Error("results are left")
	}
	if left, err := os.ReadDir(root.Name()); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v %v", left, err)
	}
}
