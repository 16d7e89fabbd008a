package yamledit

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

const entry = `{"enabled":true,"cmd":"/bin/x","args":[],"envs":{"A":"1","yes":"a: b # c"},"timeout":300}`

// laidOut returns the text of the entry in a file.
func laidOut(indent, br string) string {
	lines := []string{"demo:", "  enabled: true", "  cmd: /bin/x", "  args: []", "  envs:", "    A: \"1\"",
		"    \"yes\": \"a: b # c\"", "  timeout: 300"}
	return indent + strings.Join(lines, br+indent) + br
}

// CLI-711: an entry is added next to similar ones, and removing it restores the text.
func TestFile(t *testing.T) {
	demo := laidOut("  ", "\n")
	for name, tc := range map[string]struct{ text, want, leaves string }{
		"nothing":       {"", "servers:\n" + demo, "servers: {}\n"},
		"only comments": {"# mine\n", "# mine\nservers:\n" + demo, "# mine\nservers: {}\n"},
		"no section": {"a: 1 # one\nb: |\n  # text\n", "a: 1 # one\nb: |\n  # text\nservers:\n" + demo,
			"a: 1 # one\nb: |\n  # text\nservers: {}\n"},
		"no newline": {"a: 1", "a: 1\nservers:\n" + demo, "a: 1\nservers: {}\n"},
		"beside others": {"servers: # all\n  # first\n  a:\n    x: 1\n  # end\n\nb: 2\n",
			"servers: # all\n" + demo + "  # first\n  a:\n    x: 1\n  # end\n\nb: 2\n", ""},
		"deep": {"servers:\n      a: {}\n",
			"servers:\n" + laidOut("      ", "\n") + "      a: {}\n", ""},
		"empty brackets":            {"servers: {} # none\nb: 2\n", "servers: # none\n" + demo + "b: 2\n", ""},
		"empty brackets at the end": {"servers: {}", "servers:\n" + strings.TrimSuffix(demo, "\n"), "servers: {}\n"},
		"empty":                     {"servers:\nb: 2\n", "servers:\n" + demo + "b: 2\n", "servers: {}\nb: 2\n"},
		"in brackets": {"servers: { a: 1 } # x\n",
			`servers: {"demo": {"enabled": true, "cmd": /bin/x, "args": [], "envs": {"A": "1", "yes": "a: b # c"}, ` +
				`"timeout": 300},  a: 1 } # x` + "\n", ""},
		"Windows":    {"servers:\r\n  a: 1\r\n", "servers:\r\n" + laidOut("  ", "\r\n") + "  a: 1\r\n", ""},
		"a document": {"---\nservers:\n  a: 1\n", "---\nservers:\n" + demo + "  a: 1\n", ""},
		"not ASCII":  {"\"é\": 1\nservers:\n  \"ü\": \"ß\"\n", "\"é\": 1\nservers:\n" + demo + "  \"ü\": \"ß\"\n", ""},
	} {
		t.Run(name, func(t *testing.T) { inAndOut(t, false, tc.text, tc.want, tc.leaves) })
	}
}

// The same tests for a list of entries with names.
func TestFileList(t *testing.T) {
	const named = `{"name":"demo","command":"/bin/x","env":{"A":"1"}}`
	demo := "- name: demo\n    command: /bin/x\n    env:\n      A: \"1\"\n"
	for name, tc := range map[string]struct{ text, want, leaves string }{
		"nothing": {"", "servers:\n  " + demo, "servers: []\n"},
		"empty":   {"servers: []\nb: 2\n", "servers:\n  " + demo + "b: 2\n", ""},
		"others": {"servers:\n- name: a # one\n  x: 1\n# end\nb: 2\n",
			"servers:\n" + strings.ReplaceAll(demo, "\n  ", "\n") + "- name: a # one\n  x: 1\n# end\nb: 2\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inAndOut(t, true, tc.text, tc.want, tc.leaves, named)
		})
	}
	f, err := Open([]byte("servers:\n  - name: a\n  - name: demo\n    command: x\n"), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Set(json.RawMessage(`{"A":"1"}`), "servers", "demo", "env"); err != nil {
		t.Fatal(err)
	}
	want := "servers:\n  - name: a\n  - name: demo\n    env:\n      A: \"1\"\n    command: x\n"
	if string(f.Bytes()) != want {
		t.Errorf("%s\nwant\n%s", f.Bytes(), want)
	}
	if err := f.Remove("servers", "demo"); err != nil || string(f.Bytes()) != "servers:\n  - name: a\n" {
		t.Errorf("%v\n%s", err, f.Bytes())
	}
}

func inAndOut(t *testing.T, list bool, text, want, leaves string, entries ...string) {
	value := entry
	if entries != nil {
		value = entries[0]
	}
	f, err := Open([]byte(text), list)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time changes nothing
		if err := f.Set(json.RawMessage(value), "servers", "demo"); err != nil {
			t.Fatal(err)
		}
	}
	if string(f.Bytes()) != want {
		t.Fatalf("set:\n%s\nwant\n%s", f.Bytes(), want)
	}
	if err := f.Remove("servers", "demo"); err != nil {
		t.Fatal(err)
	}
	if leaves == "" {
		leaves = text
	}
	if string(f.Bytes()) != leaves {
		t.Errorf("removed:\n%q\nwant\n%q", f.Bytes(), leaves)
	}
}

// Values in the middle of a text are changed and removed in place.
func TestFileInside(t *testing.T) {
	const text = "a: 1\nservers:\n  first: {}\n\n  # ours\n  demo:\n    cmd: '/old''s' # where it was\n" +
		"    envs:\n      A: \"1\"\n\n  # next\n  next:\n    cmd: n\nb: 2\n"
	f, err := Open([]byte(text), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []struct{ value, path string }{
		{`"/new's \u2028"`, "servers demo cmd"}, {`"2"`, "servers demo envs B"}, {`[]`, "servers demo args"},
		{`"plain"`, "servers next cmd"}, {`"1 \" 1"`, "servers demo envs A"},
	} {
		if err := f.Set(json.RawMessage(set.value), strings.Fields(set.path)...); err != nil {
			t.Fatal(err)
		}
	}
	want := strings.NewReplacer("'/old''s'", `"/new's \u2028"`, "envs:\n", "envs:\n      B: \"2\"\n", "demo:\n",
		"demo:\n    args: []\n", "cmd: n", "cmd: plain", `"1"`, `"1 \" 1"`).Replace(text)
	if string(f.Bytes()) != want {
		t.Errorf("%s\nwant\n%s", f.Bytes(), want)
	}
	if err := f.Remove("servers", "demo"); err != nil {
		t.Fatal(err)
	}
	want = "a: 1\nservers:\n  first: {}\n\n  # ours\n\n  # next\n  next:\n    cmd: plain\nb: 2\n"
	if string(f.Bytes()) != want {
		t.Errorf("%s\nwant\n%s", f.Bytes(), want)
	}
}

// A text that cannot be parsed or edited is rejected and stays unchanged.
func TestFileRefused(t *testing.T) {
	for text, want := range map[string]string{
		"a: [": "line 1: ", "- a": "not a mapping", "a: 1\n---\nb: 2\n": "more than one document",
		"a: 1\n b: 2": "line 2: ", strings.Repeat("[", 20000): "",
	} {
		if _, err := Open([]byte(text), false); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.50q: %v", text, err)
		}
	}
	for _, text := range []string{
		"servers: 1\n", "x: &x {a: 1}\nservers: *x\n", "servers: {a: 1}\nservers: {}\n", "servers: ~\n", "a: 1\n...\n",
		"{a: 1,\n}\nservers", "servers: |\n  demo\n", "? servers\n: a: 1\n",
	} {
		f, err := Open([]byte(text), false)
		if err != nil {
			continue
		}
		if err := f.Set(json.RawMessage(entry), "servers", "demo"); err == nil {
			t.Errorf("%q has become %q", text, f.Bytes())
		}
		if string(f.Bytes()) != text {
			t.Errorf("%q has become %q", text, f.Bytes())
		}
	}
	// An entry that aliases expand to a large or infinite value.
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		a := string(rune('0' + i))
		bomb.WriteString("a" + string(rune('1'+i)) + ": &a" + string(rune('1'+i)) + " [*a" + a + ",*a" + a + ",*a" + a +
			",*a" + a + ",*a" + a + ",*a" + a + ",*a" + a + "]\n")
	}
	for _, text := range []string{bomb.String() + "servers: {demo: *a9}\n", "servers: {demo: &d {a: [*d]}}\n"} {
		f, err := Open([]byte(text), false)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := f.Get("servers", "demo"); err != errTooLarge {
			t.Errorf("%.30q...: %v", text, err)
		}
	}
}

// In any file, only the entry changes. No character is lost, and removing the entry restores
// the file (CLI-711).
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"", "# x", "servers:\n  a: 1 # b\n  # c\n\nd: |+\n  # e\n\n", "servers: {}\n", "servers: [ {name: a} ]",
		"servers:\n- name: a\n",
		"servers:\n  demo:\n    x: |\n      # y\n\n  a: &a\n    <<: *a\n", "\"servers\": # x\n  ? a\n  : b\n",
		"---\nservers:\n...\n",
		"servers:\r\n    - name: demo\r\n    - name: x", "a: {servers: {a: 1}}\nservers: !!map\n  a: 1", "servers: {a: 1}",
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, list bool) {
		value := json.RawMessage(entry)
		if list {
			value = json.RawMessage(`{"name":"demo","command":"x"}`)
		}
		file, err := Open(text, list)
		if err != nil {
			return
		}
		had, err := file.Get("servers", "demo")
		if err != nil {
			return
		}
		section, _ := file.Get("servers")
		if had == nil {
			if err := file.Set(value, "servers", "demo"); err != nil {
				return
			}
			if string(section) != "{}" && string(section) != "[]" && !within(text, file.Bytes()) {
				t.Fatalf("%q has lost something: %q", text, file.Bytes())
			}
		}
		set := file.Bytes()
		check(t, text, set, list)
		if err := file.Remove("servers", "demo"); err != nil {
			return
		}
		check(t, text, file.Bytes(), list)
		if had == nil && len(section) > 2 && string(section) != "null" && !bytes.Equal(file.Bytes(), text) {
			t.Fatalf("%q has become %q, then %q", text, set, file.Bytes())
		}
	})
}

// check compares two texts without the entry.
func check(t *testing.T, text, edited []byte, list bool) {
	t.Helper()
	before, err := Open(text, list)
	after, errAfter := Open(edited, list)
	path := []string{"servers", "demo"}
	if err != nil || errAfter != nil || !equal(before.without(path), after.without(path)) {
		t.Fatalf("something else has changed: %q", edited)
	}
}

// within reports whether all bytes of a text are in another one, in order.
func within(text, other []byte) bool {
	for _, c := range text {
		at := bytes.IndexByte(other, c)
		if at < 0 {
			return false
		}
		other = other[at+1:]
	}
	return true
}
