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
	"mcp-bash/pkg/events/seal"
	"mcp-bash/pkg/events/stream"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/text/secrets"
)

// record writes a record of ended files and a current one. Each file ends with a seal of the key in its folder.
func record(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "audit.jsonl")
	sealedRun(t, path, filepath.Join(dir, "key"))
	return path
}

// sealedRun is the run of a server that seals with a key.
func sealedRun(t *testing.T, to, key string) {
	t.Helper()
	s, err := stream.Open(stream.Config{
		To: to, Key: key, MaxSize: 4096, Files: 100, Redactor: &secrets.Redactor{},
		Warn: func(text string) { t.Error(text) },
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
}

// filesOf returns the names of all files of a record.
func filesOf(t *testing.T, path string) []string {
	t.Helper()
	last, before, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	last.Close()
	return append(before, path)
}

// sealer returns the verification key of a new key in a folder.
func sealer(t *testing.T, dir string) seal.Key {
	t.Helper()
	key, err := seal.Create(filepath.Join(dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// sealed verifies the records of a file or folder with a verification key, and again with the server's key, which is in
// dir.
func sealed(t *testing.T, path, dir string, key seal.Key) string {
	t.Helper()
	records, err := Find(path)
	current, errKey := seal.Read(filepath.Join(dir, "key"))
	if err != nil || errKey != nil {
		return fmt.Sprint(err, errKey)
	}
	seals := &trail.Seals{Key: key}
	for i := range records {
		v, err := records[i].Verify(strings.NewReader(""), "", seals)
		if err != nil {
			t.Fatal(err)
		}
		if v.Fault != nil {
			return v.Fault.Text
		}
	}
	if fault := seals.End(time.Now(), current.Epoch); fault != nil {
		return fault.Text
	}
	return ""
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

// again recomputes the chain of lines, as an attacker who knows the format would.
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
		var whole []byte
		for _, file := range filesOf(t, path) {
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
			files := filesOf(t, path)
			os.Rename(files[len(files)-2], path)
		}},
		"all written anew": {kept, func(t *testing.T, path string) {
			all(t, path, func(l [][]byte) [][]byte { return append(l[:5], l[7:]...) })
		}},
	} {
		dir := t.TempDir()
		key := sealer(t, dir)
		path := record(t, dir)
		if got := sealed(t, path, dir, key); got != "" {
			t.Fatalf("a whole record: %s", got)
		}
		whole := verify(t, path, "")
		if whole.Fault != nil || whole.First != 0 || verify(t, path, whole.Head.String()).Fault != nil {
			t.Fatalf("a whole record: %+v", whole)
		}
		row.change(t, path)
		alone, with := verify(t, path, ""), verify(t, path, whole.Head.String())
		if row.found != begin && sealed(t, path, dir, key) == "" {
			t.Errorf("%s: the key does not show it", name)
		}
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

// SECURITY.md lists which changes of a record only the key finds.
func TestTamperingThatTheKeyFinds(t *testing.T) {
	anew := func(t *testing.T, file string, by seal.Key, moves bool) {
		lines(t, file, func(l [][]byte) [][]byte {
			l = again(append(l[:2], l[3:]...))
			var link events.Link
			for i, line := range l {
				line = bytes.TrimSuffix(line, []byte("\n"))
				at := bytes.LastIndex(line, []byte(`"chain":`))
				line = fmt.Appendf(line[:at:at], `"chain":{"seq":%d,"prev":"%s"}}`, link.Seq, link.Prev)
				if bytes.Contains(line, []byte("mcpbash_seal")) {
					line = by.Seal(line)
					if moves {
						by = by.Next()
					} else {
						by.Epoch++
					}
				}
				link = events.Link{Seq: link.Seq + 1, Prev: events.HashOf(line)}
				l[i] = append(line, '\n')
			}
			return l
		})
	}
	current := func(t *testing.T, dir string) seal.Key {
		key, err := seal.Read(filepath.Join(dir, "key"))
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	for name, row := range map[string]struct {
		want   string
		change func(t *testing.T, dir string, files []string)
	}{
		"nothing": {"", func(*testing.T, string, []string) {}},
		"a record sealed again later": {"not one of the key", func(t *testing.T, dir string, files []string) {
			key := current(t, dir)
			key.Epoch = 1
			anew(t, files[0], key, false)
		}},
		"the key of now at first": {"follows seal number", func(t *testing.T, dir string, files []string) {
			anew(t, files[0], current(t, dir), true)
		}},
		"a removed first record": {"", func(t *testing.T, dir string, files []string) { // firstSeal reports it
			os.Remove(files[0])
		}},
		"a removed record": {"follows seal number", func(t *testing.T, dir string, files []string) {
			os.Remove(files[1])
		}},
		"a removed last record": {"has made seals up to", func(t *testing.T, dir string, files []string) {
			os.Remove(files[2])
		}},
		"records in another order": {"follows seal number", func(t *testing.T, dir string, files []string) {
			os.Rename(files[0], files[2]+".jsonl")
		}},
		"a copied record": {"follows seal number", func(t *testing.T, dir string, files []string) {
			content, _ := os.ReadFile(files[1])
			write(t, files[1]+".jsonl", string(content))
		}},
		"a record without seals": {"had stopped", func(t *testing.T, dir string, files []string) {
			lines(t, files[2], func(l [][]byte) [][]byte { return again(l[1 : len(l)-1]) })
		}},
		"a line after the end": {"had stopped", func(t *testing.T, dir string, files []string) {
			lines(t, files[2], func(l [][]byte) [][]byte {
				last := bytes.TrimSuffix(l[len(l)-1], []byte("\n"))
				e := &events.Event{Type: events.ToolCall, Began: time.Now()}
				link := events.Link{Seq: int64(len(l)), Prev: events.HashOf(last)}
				return append(l, append(e.AppendLine(nil, time.Now(), link), '\n'))
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			key := sealer(t, dir)
			var files []string
			for i := range 3 {
				file := filepath.Join(dir, fmt.Sprintf("run%d.jsonl", i))
				sealedRun(t, file, filepath.Join(dir, "key"))
				ended := filesOf(t, file)
				joined := []byte{}
				for _, part := range ended {
					content, _ := os.ReadFile(part)
					joined = append(joined, content...)
					os.Remove(part)
				}
				write(t, file, string(joined))
				files = append(files, file)
			}
			row.change(t, dir, files)
			records, _ := Find(dir)
			for i := range records {
				if v := verify(t, records[i].Name, ""); v.Fault != nil {
					t.Errorf("the chain shows it, too: %s", v.Fault.Text)
				}
			}
			if got := sealed(t, dir, dir, key); got != row.want && (row.want == "" || !strings.Contains(got, row.want)) {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

func verify(t *testing.T, path, kept string) Verdict {
	t.Helper()
	records, err := Find(path)
	if err != nil {
		t.Fatal(err)
	}
	v, err := records[0].Verify(strings.NewReader(""), kept, nil)
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
