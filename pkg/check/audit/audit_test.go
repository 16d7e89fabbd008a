package audit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/stream"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/text/secrets"
)

// record writes a record of three ended files and a current one.
func record(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "audit.jsonl")
	s, err := stream.Open(stream.Config{
		To: path, MaxSize: 4096, Files: 100, Redactor: &secrets.Redactor{}, Warn: func(text string) { t.Error(text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 30 {
		s.Emit(&events.Event{
			Type: events.ToolCall, Began: time.Now(),
			Target: events.Target{Method: "tools/call", Name: fmt.Sprint("tool", i)},
		})
	}
	return path
}

// lines applies a change to the lines of a file.
func lines(t *testing.T, file string, change func(lines [][]byte) [][]byte) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	list := bytes.SplitAfter(content, []byte("\n"))
	if err := os.WriteFile(file, bytes.Join(change(list[:len(list)-1]), nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// again writes the chain of lines anew, as somebody who knows how it is made.
func again(list [][]byte) [][]byte {
	var link events.Link
	for i, line := range list {
		at := bytes.LastIndex(line, []byte(`"chain":`))
		list[i] = fmt.Appendf(bytes.Clone(line[:at]), "\"chain\":{\"seq\":%d,\"prev\":\"%s\"}}\n", link.Seq, link.Prev)
		link = events.Link{Seq: link.Seq + 1, Prev: events.HashOf(bytes.TrimSuffix(list[i], []byte("\n")))}
	}
	return list
}

// SECURITY.md lists which changes of a record each check finds.
func TestTampering(t *testing.T) {
	const chain, kept, begin = "chain", "a hash that was kept", "its beginning"
	edit := func(old, new string) func(l [][]byte) [][]byte {
		return func(l [][]byte) [][]byte {
			l[2] = bytes.Replace(l[2], []byte(old), []byte(new), 1)
			return l
		}
	}
	of := func(change func(list [][]byte) [][]byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) { lines(t, path+".000002", change) }
	}
	last := func(change func(list [][]byte) [][]byte) func(t *testing.T, path string) {
		return func(t *testing.T, path string) { lines(t, path, change) }
	}
	all := func(t *testing.T, path string, change func(list [][]byte) [][]byte) {
		files, err := filesOf(path)
		if err != nil {
			t.Fatal(err)
		}
		var whole []byte
		for _, file := range files {
			content, _ := os.ReadFile(file)
			whole = append(whole, content...)
			os.Remove(file)
		}
		os.WriteFile(path, whole, 0o600)
		lines(t, path, func(list [][]byte) [][]byte { return again(change(list)) })
	}
	for name, row := range map[string]struct {
		found  string
		change func(t *testing.T, path string)
	}{
		"a changed name": {chain, of(edit("tool", "took"))},
		"a changed outcome": {chain, of(func(l [][]byte) [][]byte {
			l[2] = bytes.Replace(l[2], []byte("success"), []byte("denied"), 1)
			return l
		})},
		"a changed time": {chain, of(edit("20", "21"))},
		"a space":        {chain, of(edit(",", ", "))},
		"a changed number": {chain, of(func(l [][]byte) [][]byte {
			l[2] = bytes.Replace(l[2], []byte(`"seq":1`), []byte(`"seq":9`), 1)
			return l
		})},
		"a changed hash": {chain, of(func(l [][]byte) [][]byte {
			l[2] = bytes.Replace(l[2], []byte(`"prev":"`), []byte(`"prev":"0`), 1)
			return l
		})},
		"no chain": {chain, of(func(l [][]byte) [][]byte {
			l[2] = bytes.Replace(l[2], []byte(`"chain"`), []byte(`"cable"`), 1)
			return l
		})},
		"a removed line":    {chain, of(func(l [][]byte) [][]byte { return append(l[:2], l[3:]...) })},
		"two removed lines": {chain, of(func(l [][]byte) [][]byte { return append(l[:2], l[4:]...) })},
		"swapped lines":     {chain, of(func(l [][]byte) [][]byte { l[2], l[3] = l[3], l[2]; return l })},
		"a repeated line":   {chain, of(func(l [][]byte) [][]byte { return append(l[:3], l[2:]...) })},
		"an empty line": {chain, of(func(l [][]byte) [][]byte {
			return append([][]byte{[]byte("\n")}, l...)
		})},
		"a foreign line": {chain, of(func(l [][]byte) [][]byte {
			return append([][]byte{[]byte("{\"a\":1}\n")}, l...)
		})},
		"a joined line":                 {chain, of(edit("\n", ""))},
		"no seal of a file":             {chain, of(func(l [][]byte) [][]byte { return l[:len(l)-1] })},
		"a part of a file written anew": {chain, of(again)},
		"a removed file":                {chain, func(t *testing.T, path string) { os.Remove(path + ".000002") }},
		"swapped files": {chain, func(t *testing.T, path string) {
			os.Rename(path+".000001", path+".x")
			os.Rename(path+".000002", path+".000001")
			os.Rename(path+".x", path+".000002")
		}},
		"a torn line": {chain, last(func(l [][]byte) [][]byte {
			l[len(l)-1] = l[len(l)-1][:40]
			return l
		})},
		"an emptied record": {chain, func(t *testing.T, path string) {
			all(t, path, func([][]byte) [][]byte { return nil })
		}},
		"a removed first file": {begin, func(t *testing.T, path string) { os.Remove(path + ".000001") }},
		"no last line":         {kept, last(func(l [][]byte) [][]byte { return l[:len(l)-1] })},
		"no last lines":        {kept, last(func(l [][]byte) [][]byte { return l[:1] })},
		"a removed last file": {kept, func(t *testing.T, path string) {
			files, _ := filesOf(path)
			os.Rename(files[len(files)-2], path)
		}},
		"all written anew": {kept, func(t *testing.T, path string) {
			all(t, path, func(l [][]byte) [][]byte { return append(l[:5], l[7:]...) })
		}},
	} {
		path := record(t, t.TempDir())
		whole := verify(t, path, "")
		if whole.Fault != nil || whole.First != 0 || verify(t, path, whole.Head.String()).Fault != nil {
			t.Fatalf("a whole record: %+v", whole)
		}
		row.change(t, path)
		alone, with := verify(t, path, ""), verify(t, path, whole.Head.String())
		switch row.found {
		case chain:
			if alone.Fault == nil {
				t.Errorf("%s: the chain does not show it", name)
			}
		case begin:
			if alone.First == 0 {
				t.Errorf("%s: the beginning does not show it", name)
			}
		case kept:
			if alone.Fault != nil || with.Fault == nil || with.Fault.Kind != trail.Head {
				t.Errorf("%s: %+v, with a hash %+v", name, alone.Fault, with.Fault)
			}
		}
	}
}

func verify(t *testing.T, path, kept string) Verdict {
	t.Helper()
	records, err := Find(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := records[0].Verify(strings.NewReader(""), kept)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMatches(t *testing.T) {
	for _, row := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "a", true}, {"a", "a", true}, {"a", "ab", false}, {"a*", "ab", true}, {"*b", "ab", true}, {"*b", "ba", false},
		{"a*c", "abc", true}, {"a*c", "ab", false}, {"*b*", "abc", true}, {"a*b*c", "a-b-c", true}, {"a*b*c", "ac", false},
		{"*", "", true}, {"ab*ba", "aba", false},
	} {
		if got := matches(row.pattern, row.text); got != row.want {
			t.Errorf("%q matches %q: %t", row.pattern, row.text, got)
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
