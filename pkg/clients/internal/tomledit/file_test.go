package tomledit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"mcp-bash/pkg/json/rawjson"
)

const entry = `{"command":"/bin/x","args":["a"],"env":{"A":"1"}}`

const block = "[servers.demo]\ncommand = \"/bin/x\"\nargs = [\"a\"]\n\n[servers.demo.env]\nA = \"1\"\n"

// CLI-711: a table is added at the end, and removing it restores the text.
func TestFile(t *testing.T) {
	for name, tc := range map[string]struct{ text, want, leaves string }{
		"nothing":    {"", block, ""},
		"a comment":  {"# mine\n", "# mine\n\n" + block, ""},
		"a value":    {"a = 1 # one\n", "a = 1 # one\n\n" + block, ""},
		"no newline": {"a = 1", "a = 1\n\n" + block, "a = 1\n"},
		"tables": {"[servers.a] # first\ncommand = '''\n[no.table]\n# no comment'''\n\n\n# the end\n",
			"[servers.a] # first\ncommand = '''\n[no.table]\n# no comment'''\n\n\n# the end\n\n" + block, ""},
		"section": {"[servers]\nx = 1\n\n[[other]]\n[[other]]\n", "[servers]\nx = 1\n\n[[other]]\n[[other]]\n\n" + block, ""},
		"Windows": {"a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(block, "\n", "\r\n"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Open([]byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time changes nothing
				if err := f.Set(json.RawMessage(entry), "servers", "demo"); err != nil {
					t.Fatal(err)
				}
			}
			if string(f.Bytes()) != tc.want {
				t.Fatalf("set:\n%s\nwant\n%s", f.Bytes(), tc.want)
			}
			if err := f.Remove("servers", "demo"); err != nil {
				t.Fatal(err)
			}
			if leaves := tc.leaves; string(f.Bytes()) != leaves && (leaves != "" || string(f.Bytes()) != tc.text) {
				t.Errorf("removed:\n%s\nwant\n%s", f.Bytes(), leaves)
			}
		})
	}
}

// Values in the middle of a text are changed and removed in place.
func TestFileInside(t *testing.T) {
	const text = "model = \"x\"\n\n# ours\n[servers.demo] # note\ncommand = \"/old\" # where it was\nenabled = true\n\n" +
		"# next\n[servers.next]\ncommand = \"n\"\n\n[servers.\"demo\".env]\nB = \"2\"\n\n[last]\n"
	f, err := Open([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []struct{ value, path string }{
		{`"/ne\"w"`, "servers demo command"}, {`"2"`, "servers demo env A"}, {`[]`, "servers demo args"},
	} {
		if err := f.Set(json.RawMessage(set.value), strings.Fields(set.path)...); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.NewReplacer("/old", "/ne\\\"w", "# note\n", "# note\nargs = []\n", "env]\n", "env]\nA = \"2\"\n").
		Replace(text)
	if string(f.Bytes()) != want {
		t.Errorf("%s\nwant\n%s", f.Bytes(), want)
	}
	if err := f.Remove("servers", "demo"); err != nil {
		t.Fatal(err)
	}
	want = "model = \"x\"\n\n# ours\n\n# next\n[servers.next]\ncommand = \"n\"\n\n[last]\n"
	if string(f.Bytes()) != want {
		t.Errorf("%s\nwant\n%s", f.Bytes(), want)
	}

	// A missing table is inserted next to the entry.
	f, err = Open([]byte("[servers.demo]\ncommand = \"c\"\n\n[last]\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Set(json.RawMessage(`{"A":"1"}`), "servers", "demo", "env"); err != nil {
		t.Fatal(err)
	}
	if want := "[servers.demo]\ncommand = \"c\"\n\n[servers.demo.env]\nA = \"1\"\n\n[last]\n"; string(f.Bytes()) != want {
		t.Errorf("%s\nwant\n%s", f.Bytes(), want)
	}
}

// A text that cannot be parsed or edited is rejected and stays unchanged.
func TestFileRefused(t *testing.T) {
	deep := strings.Repeat("a.", maxKey) + "a = 1"
	for text, want := range map[string]string{
		"a = 1\nb =": "line 2: ", "a = 1\na = 2": "", "[a\n": "line 1: ", deep: "line 1: a key of more than 100 parts",
		"a = " + strings.Repeat("[", 20000): "line 1: ",
	} {
		if _, err := Open([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.50q: %v", text, err)
		}
	}
	if _, err := Open([]byte(strings.TrimPrefix(deep, "a."))); err != nil {
		t.Error(err)
	}
	for _, text := range []string{
		"servers = {}", "servers = { demo = { command = \"x\" } }", "[servers]\ndemo.command = \"x\"\n", "servers = 1",
	} {
		f, err := Open([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Set(json.RawMessage(entry), "servers", "demo"); err == nil {
			t.Errorf("%s has become %s", text, f.Bytes())
		}
		if got, _ := f.Get("servers", "demo"); got != nil {
			if err := f.Remove("servers", "demo"); err == nil {
				t.Errorf("%s has become %s", text, f.Bytes())
			}
		}
		if string(f.Bytes()) != text {
			t.Errorf("%s has become %s", text, f.Bytes())
		}
	}
}

// In any file, only the entry changes. No byte is lost, and removing the entry restores the
// file (CLI-711).
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"", "# x", "a = 1\n\n[servers.a]\n", "[servers.demo]\nx = '''\n[a]\n'''\n# c\n\n[b]\n", "servers.demo.a = 1",
		"[[servers]]\n", "\r\n[servers]\r\n\r\n", "x = [\n# [servers.demo]\n]\n", "[servers.demo.env]\n[servers]\n\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Open(text)
		if err != nil {
			return
		}
		had, err := file.Get("servers", "demo")
		if err != nil {
			return
		}
		rest := others(t, text)
		if had == nil {
			if err := file.Set(json.RawMessage(entry), "servers", "demo"); err != nil {
				return
			}
			if !bytes.HasPrefix(file.Bytes(), text) {
				t.Fatalf("%q has lost something: %q", text, file.Bytes())
			}
			if got, err := file.Get("servers", "demo"); err != nil || !rawjson.Equal(got, json.RawMessage(entry)) {
				t.Fatalf("%v, %s in %q", err, got, file.Bytes())
			}
			if now := others(t, file.Bytes()); !reflect.DeepEqual(rest, now) {
				t.Fatalf("%q has become %q", text, file.Bytes())
			}
		}
		set := file.Bytes()
		if err := file.Remove("servers", "demo"); err != nil {
			if had == nil {
				t.Fatalf("%q: %v", set, err)
			}
			return
		}
		if now := others(t, file.Bytes()); !reflect.DeepEqual(rest, now) {
			t.Fatalf("%q has become %q", set, file.Bytes())
		}
		if whole := len(text) == 0 || text[len(text)-1] == '\n'; had == nil && whole && !bytes.Equal(file.Bytes(), text) {
			t.Fatalf("%q has become %q, then %q", text, set, file.Bytes())
		}
	})
}

// others returns the content of a file without the entry.
func others(t *testing.T, text []byte) any {
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	if section, ok := all["servers"].(map[string]any); ok {
		if delete(section, "demo"); len(section) == 0 {
			delete(all, "servers")
		}
	}
	return all
}

// repeated writes lines, each with its number.
func repeated(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// CLI-711: the number of keys in a file is limited in every notation, because the decoder's work grows with its square.
// A file above the limit is an error before it is decoded.
func TestMaxKeys(t *testing.T) {
	for _, tc := range []struct {
		name, before, each, after string
		keys                      int // of each
	}{
		{"pairs", "", "k%d = 1\n", "", 1},
		{"tables", "", "[k%d]\n", "", 1},
		{"pairs of tables", "", "[k%d]\na = 1\n", "", 2},
		{"tables of a table", "", "[t.k%d]\n", "", 2},
		{"tables of an array", "", "[[t]]\nk%d = 1\n", "", 2},
		{"dotted keys", "", "t.k%d.x.y = 1\n", "", 4},
		{"an inline table", "t = {", "k%d = 1, ", "a.b.c = 1}\n", 1},
		{"inline tables", "t = [", "{k%d = 1}, ", "[[]]]\n", 2},
	} {
		text := func(n int) []byte { return []byte(tc.before + repeated(tc.each, n) + tc.after) }
		fits := (maxKeys - 5) / tc.keys
		if tc.after == "" {
			fits = maxKeys / tc.keys
		}
		if _, err := Open(text(fits)); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		for _, n := range []int{fits + 2, 4 * fits} {
			if _, err := Open(text(n)); err == nil || !strings.HasSuffix(err.Error(), ": more than 5000 keys") {
				t.Errorf("%s: %v", tc.name, err)
			}
		}
	}
	// Values in arrays do not count.
	if _, err := Open([]byte("a = [" + repeated("%d, ", 4*maxKeys) + "]\n")); err != nil {
		t.Error(err)
	}
}
