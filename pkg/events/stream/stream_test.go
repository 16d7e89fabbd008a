package stream

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/seal"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/test/checkout"
)

func openTest(t *testing.T, c Config) *Stream {
	t.Helper()
	if c.Redactor == nil {
		c.Redactor = &secrets.Redactor{}
	}
	if c.Warn == nil {
		c.Warn = func(text string) { t.Errorf("warning: %s", text) }
	}
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func call(name string) *events.Event {
	return &events.Event{
		Type: events.ToolCall, ID: events.NewID(), Began: time.Now(),
		Source: events.Source{Transport: "stdio", RequestID: []byte("7")},
		Target: events.Target{Method: "tools/call", Name: name},
	}
}

func emit(t *testing.T, s *Stream, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := s.Emit(call(name)); err != nil {
			t.Fatal(err)
		}
	}
}

// entries returns the lines of files, which must be one chain.
func entries(t *testing.T, files ...string) (list []*trail.Entry) {
	t.Helper()
	var v trail.Verifier
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		err = trail.Read(f, func(e *trail.Entry) error {
			if fault := v.Add(e); fault != nil && !(len(list) == 0 && fault.Kind == trail.Missing) {
				t.Errorf("%s: %+v", filepath.Base(file), *fault)
			}
			list = append(list, e)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

func targets(list []*trail.Entry) string {
	var names []string
	for _, e := range list {
		if name := e.Target; name != "" {
			names = append(names, name)
		} else {
			names = append(names, strings.TrimPrefix(string(e.Type), "mcpbash_"))
		}
	}
	return strings.Join(names, " ")
}

// AUD-10, AUD-13: a server continues the chain of the one before it.
func TestContinues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for _, name := range []string{"a", "b"} {
		s := openTest(t, Config{To: path})
		emit(t, s, name)
		s.Close()
	}
	if got := targets(entries(t, path)); got != "a seal b seal" {
		t.Error(got)
	}
	if info, _ := os.Stat(path); info.Mode() != 0o600 {
		t.Error(info.Mode())
	}
}

// AUD-15: a line that a killed server did not finish is removed, and that is recorded.
func TestTornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	s := openTest(t, Config{To: path})
	emit(t, s, "a")
	s.Close()
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"time":"2026`)
	f.Close()
	warned := ""
	s = openTest(t, Config{To: path, Warn: func(text string) { warned = text }})
	emit(t, s, "b")
	s.Close()
	list := entries(t, path)
	if got := targets(list); got != "a seal recovered b seal" || list[2].Count != 13 {
		t.Error(got, list[2].Count)
	}
	if want := path + ": 13 bytes of a line that was not complete were removed"; warned != want {
		t.Error(warned)
	}
}

// AUD-2: files of others are never written to.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	locked := filepath.Join(dir, "locked.jsonl")
	openTest(t, Config{To: locked})
	text := filepath.Join(dir, "text")
	os.WriteFile(text, []byte("dear diary\n"), 0o600)
	shared := filepath.Join(dir, "shared.jsonl")
	os.WriteFile(shared, nil, 0o600)
	os.Chmod(shared, 0o666)
	link, away := filepath.Join(dir, "link.jsonl"), filepath.Join(dir, "away.jsonl")
	os.Symlink("new", link)
	os.Symlink(t.TempDir(), away+"x")
	os.Symlink(filepath.Join(away+"x", "new"), away)
	for path, want := range map[string]string{
		locked: errLocked.Error(), text: errForeign.Error(), shared: "others can write to it",
		link: errLink.Error(), away: errLink.Error(),
		filepath.Join(dir, "none", "a"): "no such file or directory", "/dev/null": "regular file",
	} {
		s, err := Open(Config{To: path, Warn: func(string) {}})
		if err == nil {
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if content, _ := os.ReadFile(text); string(content) != "dear diary\n" {
		t.Errorf("%q", content)
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); err == nil {
		t.Error("the target of the link was made")
	}
}

// A file that is moved or removed is replaced by a new one with the next lines, before it ends by its size or after.
func TestMovedFile(t *testing.T) {
	for _, required := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		var warnings []string
		s := openTest(t, Config{To: path, Required: required, Warn: func(text string) { warnings = append(warnings, text) }})
		emit(t, s, "a")
		if err := os.Rename(path, path+".moved"); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip("Windows does not move open files")
			}
			t.Fatal(err)
		}
		s.out.(*file).seen = time.Now().Add(-time.Hour)
		emit(t, s, "b")
		os.WriteFile(path+".new", nil, 0o600)
		os.Rename(path, path+".moved2")
		os.Rename(path+".new", path) // as logrotate makes it
		s.out.(*file).max = 1
		emit(t, s, "c")
		s.out.(*file).max = 0
		os.Remove(path)
		s.out.(*file).seen = time.Now().Add(time.Hour) // the clock was set back
		emit(t, s, "d")
		s.out.(*file).seen = time.Time{}
		os.WriteFile(path+".new", []byte("dear diary\n"), 0o600)
		os.Rename(path+".new", path)
		if err := s.Emit(call("lost")); (err != nil) != required {
			t.Error(err)
		}
		if content, _ := os.ReadFile(path); string(content) != "dear diary\n" {
			t.Errorf("%q", content)
		}
		os.Remove(path)
		emit(t, s, "e")
		s.Close()
		t.Log(warnings)
		list := entries(t, path+".moved", path+".moved2")
		if got := targets(list); got != "a b" && got != "a b seal" {
			t.Error(got)
		}
		if got := targets(entries(t, path)); got != "missed e seal" {
			t.Error(got)
		}
	}
}

// A file of a folder is also replaced if the program that moved it made an empty one.
func TestMovedFileOfFolder(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, Config{To: dir, Required: true, Warn: func(string) {}})
	emit(t, s, "a")
	path := filepath.Join(dir, s.out.(*file).name)
	if err := os.Rename(path, path+".moved"); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip("Windows does not move open files")
		}
		t.Fatal(err)
	}
	os.WriteFile(path, nil, 0o600)
	emit(t, s, "b")
	s.Close()
	if got := targets(entries(t, path+".moved", path)); got != "a b seal" {
		t.Error(got)
	}
}

// AUD-11, AUD-12: a file ends at its size with a seal, the chain goes on in the next one, and the oldest are removed.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	s := openTest(t, Config{To: path, MaxSize: 4096, Files: 2})
	for i := range 40 {
		emit(t, s, fmt.Sprint("tool", i))
	}
	s.Close()
	files, _ := filepath.Glob(path + ".*")
	if len(files) != 2 {
		t.Fatal(files)
	}
	list := entries(t, append(files, path)...)
	last := list[len(list)-2]
	if last.Target != "tool39" || list[0].Link.Seq == 0 {
		t.Error(targets(list))
	}
	for _, file := range append(files, path) {
		info, err := os.Stat(file)
		of := entries(t, file)
		if err != nil || info.Size() > 4096+1024 || of[len(of)-1].Type != events.Seal {
			t.Error(file, info.Size(), targets(of))
		}
	}
	s = openTest(t, Config{To: path, MaxSize: 4096, Files: 2}) // the numbers go on
	emit(t, s, "more")
	s.Close()
	entries(t, append(files, path)...)
}

// AUD-10: a server that is killed between two files does not break the chain.
func TestKilledBetweenFiles(t *testing.T) {
	for name, left := range map[string]func(path string){
		"no file":     func(string) {},
		"no line":     func(path string) { os.WriteFile(path, nil, 0o600) },
		"a torn line": func(path string) { os.WriteFile(path, []byte(`{"time":"2026`), 0o600) },
	} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		s := openTest(t, Config{To: path})
		emit(t, s, "a")
		s.Close()
		os.Rename(path, path+".000001")
		left(path)
		s = openTest(t, Config{To: path, Warn: func(string) {}})
		emit(t, s, "b")
		s.Close()
		if list := entries(t, path+".000001", path); list[2].Link.Seq != 2 {
			t.Errorf("%s: %+v", name, list[2].Link)
		}
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	for what, put := range map[string]func(path string) error{
		errForeign.Error():   func(path string) error { return os.WriteFile(path, []byte("dear diary\n"), 0o600) },
		"not a regular file": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		os.Remove(path + ".000001")
		if err := put(path + ".000001"); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(Config{To: path}); err == nil || !strings.Contains(err.Error(), what) {
			s.Close()
			t.Errorf("%v, want %s", err, what)
		}
	}
}

// AUD-1: in a folder, each process has another file.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	a := openTest(t, Config{To: dir, Replica: "https://a.example:8443/x"})
	b := openTest(t, Config{To: dir, Replica: "../b"})
	emit(t, a, "a")
	emit(t, b, "b")
	a.Close()
	b.Close()
	files, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(files) != 2 || len(entries(t, files[0])) != 2 || len(entries(t, files[1])) != 2 {
		t.Error(files)
	}
}

// A failing is a sink whose writes can fail.
type failing struct {
	lines
	broken bool
}

func (f *failing) write(e *events.Event, line []byte) error {
	if f.broken {
		return errors.New("no space left on device")
	}
	return f.lines.write(e, line)
}

// AUD-14: events that cannot be written are counted, and the operator hears of it once.
func TestMissed(t *testing.T) {
	for _, required := range []bool{false, true} {
		var out strings.Builder
		var warned []string
		s := openTest(t, Config{To: "stderr", Stderr: &out, Required: required,
			Warn: func(text string) { warned = append(warned, text) }})
		sink := &failing{lines: lines{w: &out}}
		s.out = sink
		emit(t, s, "a")
		sink.broken = true
		for range 3 {
			err := s.Emit(call("lost"))
			if want := errors.Is(err, errUnavailable); want != required {
				t.Errorf("required %t: %v", required, err)
			}
		}
		if err := s.Ready(); errors.Is(err, errUnavailable) != required {
			t.Errorf("required %t: %v", required, err)
		}
		sink.broken = false
		if err := s.Ready(); err != nil {
			t.Error(err)
		}
		emit(t, s, "b")
		s.Close()
		file := filepath.Join(t.TempDir(), "out")
		os.WriteFile(file, []byte(out.String()), 0o600)
		list := entries(t, file)
		if got := targets(list); got != "a missed b seal" || list[1].Count != 3 {
			t.Error(got)
		}
		if got := strings.Join(warned, "; "); got != "stderr cannot be written: no space left on device; "+
			"stderr can be written again; 3 events are missing" {
			t.Error(got)
		}
	}
}

// A deaf is a sink that keeps lines and cannot bring them to the disk.
type deaf struct{ lines }

func (deaf) sync() func() error { return func() error { return errors.New("input/output error") } }

// AUD-13: a line that may not be on the disk is missed, and the chain goes on with it.
func TestFailedSync(t *testing.T) {
	var out strings.Builder
	s := openTest(t, Config{To: "stderr", Stderr: &out, Required: true, SyncLine: true, Warn: func(string) {}})
	s.out = deaf{lines{w: &out}}
	for range 2 {
		if err := s.Emit(call("x")); !errors.Is(err, errUnavailable) {
			t.Error(err)
		}
	}
	s.Close()
	file := filepath.Join(t.TempDir(), "out")
	os.WriteFile(file, []byte(out.String()), 0o600)
	entries(t, file)
}

// A slow is a sink whose disk takes as long as the test wants.
type slow struct {
	lines
	begun chan struct{}
	end   chan error
}

func (d slow) sync() func() error {
	return func() error {
		d.begun <- struct{}{}
		return <-d.end
	}
}

// AUD-13: no event waits for the disk, and lines that are written meanwhile are brought to the disk afterwards. A
// failure is reported once.
func TestSlowDisk(t *testing.T) {
	var out strings.Builder
	warned := make(chan string, 10)
	s := openTest(t, Config{To: "stderr", Stderr: &out, Warn: func(text string) { warned <- text }})
	d := slow{lines{w: &out}, make(chan struct{}), make(chan error)}
	s.out = d
	emit(t, s, "a")
	<-d.begun
	emit(t, s, "b")
	d.end <- errors.New("input/output error")
	<-d.begun // for the second line
	d.end <- errors.New("input/output error")
	ended := make(chan struct{})
	go func() { s.Close(); close(ended) }()
	<-d.begun
	d.end <- nil
	<-ended
	if text := <-warned; text != "stderr may not be on the disk: input/output error" || len(warned) > 0 {
		t.Error(text, len(warned))
	}
	file := filepath.Join(t.TempDir(), "out")
	os.WriteFile(file, []byte(out.String()), 0o600)
	if got := targets(entries(t, file)); got != "a b seal" {
		t.Error(got)
	}
}

// A part of a line that did not fit on the disk is removed at once.
func TestPartOfLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	s := openTest(t, Config{To: path, Warn: func(string) {}})
	emit(t, s, "a")
	f := s.out.(*file)
	f.f.WriteString(`{"half":`) // as a full disk leaves it
	whole := f.size
	readOnly, _ := os.Open(path)
	rw := f.f
	f.f = readOnly
	if s.Emit(call("lost")); !s.broken {
		t.Error("a write to a file that is open for reading succeeded")
	}
	f.f = rw
	f.f.Truncate(whole)
	emit(t, s, "b")
	s.Close()
	if got := targets(entries(t, path)); got != "a missed b seal" {
		t.Error(got)
	}
}

// AUD-20 to AUD-22: a record never contains what the schema, or the rules about names and forms, call secret.
func TestSecretsStayOut(t *testing.T) {
	const schema = `{"properties":{"pin":{"writeOnly":true},"pins":{"writeOnly":true},` +
		`"door":{"properties":{"pin":{"writeOnly":true}}},` +
		`"doors":{"items":{"properties":{"pin":{"type":"string","writeOnly":true}}}},` +
		`"ref":{"$ref":"#/$defs/s"},"far":{"$ref":"other.json"},"anchor":{"$ref":"#s"},` +
		`"branch":{"$ref":"#/properties/all"},` +
		`"all":{"allOf":[{"type":"string"},{"write\u004fnly":true}]},"any":{"anyOf":[{"oneOf":[{"$ref":"#/$defs/s"}]}]},` +
		`"cond":{"if":{},"then":{"properties":{"pin":{"writeOnly":true}}}},"unknown":{"extends":{"writeOnly":true}},` +
		`"map":{"additionalProperties":{"writeOnly":true}},"pattern":{"patternProperties":{"^x":{"writeOnly":true}}},` +
		`"tuple":{"prefixItems":[{},{"writeOnly":true}]},"old":{"items":[{},{"writeOnly":true}]},` +
		`"tree":{"$ref":"#/$defs/node"},"loop":{"$ref":"#/properties/loop","anyOf":[{"$ref":"#/$defs/s"}]}},` +
		`"$defs":{"s":{"type":"string","writeOnly":true},` +
		`"node":{"properties":{"pin":{"$ref":"#/$defs/s"},"sub":{"items":{"$ref":"#/$defs/node"}}}}}}`
	const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	kinds := map[string]string{
		"writeOnly":       `{"pin":"open-sesame"}`,
		"password":        `{"password":"open-sesame"}`,
		"api key":         `{"api_key":"open-sesame"}`,
		"token":           `{"token":"open-sesame"}`,
		"nested":          `{"login":{"password":"open-sesame"}}`,
		"in a list":       `{"logins":[{"secret":"open-sesame"}]}`,
		"capitals":        `{"PASSWORD":"open-sesame"}`,
		"access token":    `{"accessToken":"open-sesame"}`,
		"authorization":   `{"headers":"Authorization: Bearer open-sesame"}`,
		"in a URL":        `{"url":"https://ada:open-sesame@example.com/"}`,
		"in a query":      `{"url":"https://example.com/?token=open-sesame"}`,
		"form of GitHub":  `{"text":"` + secret + `"}`,
		"form of AWS":     `{"text":"AKIAIOSFODNN7SESAME3"}`,
		"private key":     `{"text":"-----BEGIN PRIVATE KEY-----\nopen-sesame\n-----END PRIVATE KEY-----"}`,
		"known value":     `{"text":"the value is sesame-open-sesame"}`,
		"own name":        `{"mcpbash/token":"open-sesame"}`,
		"variable":        `{"command":"PASSWORD=open-sesame run"}`,
		"option":          `{"command":"run --password open-sesame"}`,
		"number":          `{"password":4711471147}`,
		"escaped name":    `{"pass\u0077ord":"open-sesame"}`,
		"writeOnly, list": `{"pins":["open-sesame"]}`,
		"given twice":     `{"pin":"a","pin":"open-sesame"}`,
		"deep in objects": `{"door":{"pin":"open-sesame"}}`,
		"deep in a list":  `{"doors":[{"pin":"open-sesame"}]}`,
		"reference":       `{"ref":"open-sesame"}`,
		"another file":    `{"far":"open-sesame"}`,
		"an anchor":       `{"anchor":"open-sesame"}`,
		"reference twice": `{"branch":"open-sesame"}`,
		"all of":          `{"all":"open-sesame"}`,
		"any of":          `{"any":"open-sesame"}`,
		"then":            `{"cond":{"pin":"open-sesame"}}`,
		"unknown keyword": `{"unknown":"open-sesame"}`,
		"any name":        `{"map":{"a":"open-sesame"}}`,
		"pattern":         `{"pattern":{"x":"open-sesame"}}`,
		"tuple":           `{"tuple":["a","open-sesame"]}`,
		"old tuple":       `{"old":["a","open-sesame"]}`,
		"tree":            `{"tree":{"sub":[{"sub":[{"pin":"open-sesame"}]}]}}`,
		"loop":            `{"loop":"open-sesame"}`,
		"JSON in a text":  `{"door":"{\"pin\":\"open-sesame\"}"}`,
		"list as a text":  `{"doors":"[{\"pin\":\"open-sesame\"}]"}`,
		"no list":         `{"doors":{"pin":"open-sesame"}}`,
		"list for object": `{"door":["open-sesame"]}`,
		"unknown schema":  `{"any":"open-sesame"}`,
	}
	redactor := &secrets.Redactor{Names: []string{"mcpbash/token"}, Values: []string{"sesame-open-sesame"}}
	for kind, arguments := range kinds {
		for i, form := range []Form{none, digest, redacted, redacted} {
			var out strings.Builder
			s := openTest(t, Config{To: "stderr", Stderr: &out, Arguments: form, Redactor: redactor})
			e := call("x")
			work := events.Work{Arguments: []byte(arguments), Schema: []byte(schema)}
			if kind == "unknown schema" {
				work.Schema = nil
			}
			if e.Work = work; i == 3 {
				s.Prepare(e)
				e.Work = work
			}
			if err := s.Emit(e); err != nil {
				t.Fatal(err)
			}
			s.Close()
			if text := out.String(); strings.Contains(text, "sesame") || strings.Contains(text, "4711471147") ||
				strings.Contains(text, "SESAME") || strings.Contains(text, secret) {
				t.Errorf("%s, %s: %s", kind, form, text)
			}
		}
	}
	var out strings.Builder
	s := openTest(t, Config{To: "stderr", Stderr: &out, Arguments: redacted})
	e := call("https://ada:sesame@example.com/?token=sesame")
	e.Source.Agent, e.Subject.Client = "password=sesame", "token: sesame"
	e.Source.RequestID = []byte(`"pass\u0077ord=sesame"`)
	s.Emit(e)
	s.Close()
	if strings.Contains(out.String(), "sesame") {
		t.Error(out.String())
	}
}

// AUD-21: a record has all values next to the secret ones.
func TestOthersStay(t *testing.T) {
	const schema = `{"properties":{"a":{"type":"string"},"pin":{"writeOnly":true},"tuple":{"prefixItems":[{},` +
		`{"writeOnly":true}]},"door":{"$ref":"#/$defs/door"},"map":{"properties":{"a":{}},"additionalProperties":` +
		`{"writeOnly":true}}},"$defs":{"door":{"properties":{"name":{},"pin":{"writeOnly":true}}},"s":{"writeOnly":true}}}`
	var out strings.Builder
	s := openTest(t, Config{To: "stderr", Stderr: &out, Arguments: redacted})
	e := call("x")
	e.Work = events.Work{Schema: []byte(schema), Arguments: []byte(
		`{"a":"b","pin":1,"tuple":[1,2,3],"door":{"name":"n","pin":1,"c":[{}]},"map":{"a":1,"b":2},"other":{"pin":null}}`)}
	s.Emit(e)
	s.Close()
	const want = `"arguments":{"a":"b","pin":"[redacted]","tuple":[1,"[redacted]",3],` +
		`"door":{"name":"n","pin":"[redacted]","c":[{}]},"map":{"a":1,"b":"[redacted]"},"other":{"pin":null}}`
	if !strings.Contains(out.String(), want) {
		t.Error(out.String())
	}
}

// AUD-4, AUD-20: lines are bounded, whatever clients send.
func TestLongTexts(t *testing.T) {
	var out strings.Builder
	s := openTest(t, Config{To: "stderr", Stderr: &out, Arguments: "full"})
	long := strings.Repeat("ä", 1<<20)
	e := call(long)
	e.Source = events.Source{
		Transport: "http", Address: long, Agent: long, Session: long, RequestID: []byte(`"` + long + `"`),
	}
	e.Subject = events.Subject{
		Client: long, Version: long, User: long, UserID: long, Token: long, Scopes: []string{long, long},
	}
	e.Work.Arguments = []byte(`{"a":"` + long + `"}`)
	s.Emit(e)
	s.Close()
	if line, _, _ := strings.Cut(out.String(), "\n"); len(line) > 32<<10 || !strings.Contains(line, "arguments_sha256") {
		t.Error(len(line))
	}
}

// Recording a call needs no more memory, and with arguments at most two pieces.
func TestAllocations(t *testing.T) {
	if checkout.Race {
		t.Skip("the race detector allocates memory, too")
	}
	arguments := []byte(`{"path":"/srv/data/reports/2026","maxDepth":3,"patterns":["*.txt","*.md"],` +
		`"deep":{"sortBy":"size"},` +
		`"query":"how many files\nare there \"really\", and which of these are large?","all":false,"none":null}`)
	for form, most := range map[Form]float64{none: 0, digest: 0, redacted: 2, "full": 0} {
		s := openTest(t, Config{To: filepath.Join(t.TempDir(), "a"), Arguments: form, SyncLine: false})
		e := call("x")
		e.Work = events.Work{Ended: true, Took: time.Second, Cause: mcp.CauseTool}
		for _, early := range []bool{false, true} {
			n := testing.AllocsPerRun(200, func() {
				if e.Work.Arguments, e.Work.Schema = arguments, noArguments; early {
					s.Prepare(e)
				}
				e.Work.Arguments = arguments
				s.Emit(e)
			})
			if n > most {
				t.Errorf("%s, %v: %v allocations, want at most %v", form, early, n, most)
			}
		}
	}
}

func BenchmarkEmit(b *testing.B) {
	s, err := Open(Config{To: filepath.Join(b.TempDir(), "a"), Arguments: redacted, Redactor: &secrets.Redactor{},
		Warn: func(text string) { b.Error(text) }})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	arguments := []byte(`{"name":"World","count":3}`)
	b.ReportAllocs()
	for b.Loop() {
		e := call("hello")
		e.Work.Arguments, e.Work.Schema = arguments, noArguments
		s.Prepare(e)
		s.Emit(e)
	}
}

type writerFunc func()

func (f writerFunc) Write(line []byte) (int, error) {
	f()
	return len(line), nil
}

// While another line is written, which can take long, the work for a line is not done before.
func TestPrepareDoesNotWait(t *testing.T) {
	begun, end := make(chan bool), make(chan bool)
	s := openTest(t, Config{To: "stderr", Arguments: redacted, Stderr: writerFunc(func() {
		begun <- true
		<-end
	})})
	done := make(chan bool)
	go func() {
		s.Emit(call("a"))
		close(done)
	}()
	<-begun
	e := call("b")
	s.Prepare(e)
	if e.Prepared != nil {
		t.Errorf("%s", e.Prepared)
	}
	close(end)
	<-done
	go func() {
		for range begun { // the seal of the end
		}
	}()
	if s.Prepare(e); e.Prepared == nil {
		t.Error("not prepared")
	}
	s.Close()
	close(begun)
}

// AUD-20: the memory for parts of lines is bounded.
func TestSpareMemory(t *testing.T) {
	s := openTest(t, Config{To: "stderr", Stderr: io.Discard, Arguments: "full"})
	var list []*events.Event
	for i := range 4 * maxSpares {
		e := call(fmt.Sprint(i))
		if i%2 == 0 {
			e.Work.Arguments = []byte(`"` + strings.Repeat("x", maxSpare) + `"`)
		}
		s.Prepare(e)
		list = append(list, e)
	}
	for _, e := range list {
		s.Emit(e)
	}
	if len(s.spare) != maxSpares {
		t.Error(len(s.spare))
	}
	for _, buffer := range s.spare {
		if cap(buffer) > maxSpare {
			t.Error(cap(buffer))
		}
	}
}

// AUD-20, AUD-22: answers to questions have the form of arguments, and are bounded.
func TestAnswers(t *testing.T) {
	const accepted = `{"action":"accept","content":{"a":"b","password":"sesame","phrase":"open"}}`
	params := []byte(`{"requestedSchema":{"properties":{"phrase":{"type":"string","writeOnly":true}}}}`)
	for form, want := range map[Form]string{
		none:   `[{"method":"m","result":{"action":"accept"}},{"method":"m","result":{}}]`,
		digest: `[{"method":"m","result":{"action":"accept"}},{"method":"m","result":{}}]`,
		redacted: `[{"method":"m","result":{"action":"accept","content":{"a":"b","password":"**redacted**",` +
			`"phrase":"[redacted]"}}},`,
		"full": `[{"method":"m","result":` + accepted + `},{"method":"m","result":{"role":"user"}}]`,
	} {
		var out strings.Builder
		s := openTest(t, Config{To: "stderr", Stderr: &out, Arguments: form})
		e := call("x")
		e.Work.Answer("m", params, []byte(accepted))
		e.Work.Answer("m", nil, []byte(`{ "role":"user" }`))
		s.Emit(e)
		if !strings.Contains(out.String(), `"answers":`+want) {
			t.Errorf("%s: %s", form, out.String())
		}
	}
	var w events.Work
	for range 40 {
		w.Answer("m", nil, []byte(`{"action":"decline","content":"`+strings.Repeat("x", 1000)+`"}`))
	}
	size := 0
	for _, a := range w.Answers {
		size += len(a.Result)
	}
	if len(w.Answers) != 16 || size > 9<<10 || string(w.Answers[15].Result) != `{"action":"decline"}` {
		t.Error(len(w.Answers), size)
	}
}

// AUD-18: with a key, the first line of a process is a seal, and each seal moves the key in the file forward. Only one
// server uses it. Neither the record nor a message has the key.
func TestKey(t *testing.T) {
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	first, err := seal.Create(key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "audit.jsonl")
	seals := &trail.Seals{Key: first}
	for run := range 2 {
		s := openTest(t, Config{To: path, Key: key})
		if run == 0 {
			other := filepath.Join(dir, "other")
			_, err := Open(Config{To: other, Key: key, Warn: func(string) {}})
			if err == nil || !strings.Contains(err.Error(), key+": another server seals with it") {
				t.Error(err)
			}
			if _, err := os.Stat(other); err == nil {
				t.Error("a server that did not start left an empty record")
			}
		}
		emit(t, s, "a")
		s.seal()
		s.Close()
		now, err := seal.Read(key)
		if err != nil || now.Epoch != 4+3*run {
			t.Error(now.Epoch, err)
		}
		if content, _ := os.ReadFile(path); strings.Contains(string(content), now.Text()[30:94]) {
			t.Error("the record has the key")
		}
	}
	list := entries(t, path)
	if got := targets(list); got != "seal a seal seal seal a seal seal" {
		t.Error(got)
	}
	for _, e := range list {
		if fault := seals.Add(e); fault != nil {
			t.Errorf("%+v", fault)
		}
	}
	if fault := seals.End(time.Now(), 7); fault != nil || !seals.Stopped || seals.First != 1 || seals.Open != 0 {
		t.Errorf("%+v %+v", fault, seals)
	}
}

// AUD-18: a seal that cannot be written is made later, with the same key.
func TestMissedSeal(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	first, err := seal.Create(key)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	s := openTest(t, Config{To: "stderr", Stderr: &out, Key: key, Warn: func(string) {}})
	sink := &failing{lines: lines{w: &out}, broken: true}
	s.out = sink
	emit(t, s, "lost")
	s.seal()
	sink.broken = false
	emit(t, s, "a")
	s.Close()
	seals := &trail.Seals{Key: first}
	var list []*trail.Entry
	trail.Read(strings.NewReader(out.String()), func(e *trail.Entry) error {
		if fault := seals.Add(e); fault != nil {
			t.Errorf("%+v", *fault)
		}
		list = append(list, e)
		return nil
	})
	if got := targets(list); got != "seal missed a seal" || list[0].Note != events.NoteStart || seals.First != 1 {
		t.Error(got, list[0].Note, seals.First)
	}
}

// AUD-20, AUD-35: a reader finds out whether a line has all arguments of its request, in each form.
func TestIsComplete(t *testing.T) {
	schema := []byte(`{"properties":{"pin":{"writeOnly":true}}}`)
	look := events.Target{Method: "tools/call", Name: "look"}
	for _, row := range []struct {
		form            Form
		target          events.Target
		arguments, want string // the arguments that are written
		complete        bool
	}{
		{"full", look, `{"password":"sesame"}`, `{"password":"sesame"}`, true},
		{"full", look, "", `{}`, true},
		{"full", events.Target{Method: "tools/call", Name: "password=sesame"}, "{}", `{}`, false},
		{redacted, look, `{"a":1}`, `{"a":1}`, true},
		{redacted, look, `{"password":"sesame"}`, `{"password":"**redacted**"}`, false},
		{redacted, look, `{"pin":1}`, `{"pin":"[redacted]"}`, false},
		{digest, look, `{"a":1}`, "", false},
		{none, look, "", "", false},
	} {
		file := filepath.Join(t.TempDir(), "audit.jsonl")
		s, err := Open(Config{
			To: file, MaxSize: 1 << 20, Files: 1, Arguments: row.form, Redactor: &secrets.Redactor{},
			Warn: func(text string) { t.Error(text) },
		})
		if err != nil {
			t.Fatal(err)
		}
		e := &events.Event{Type: events.ToolCall, Target: row.target, Work: events.Work{Schema: schema}}
		if row.arguments != "" {
			e.Work.Arguments = []byte(row.arguments)
		}
		s.Emit(e)
		s.Close()
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		err = trail.Read(f, func(e *trail.Entry) error {
			if e.IsCall() && (e.IsComplete() != row.complete || string(e.Arguments) != row.want) {
				t.Errorf("%s %s %s: %t, %s", row.form, row.target.Name, row.arguments, e.IsComplete(), e.Arguments)
			}
			return nil
		})
		if f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
