package tokenfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/auth/internal/reread"
	"mcp-bash/schemas"
)

// A watched is an open file with a clock and a log.
type watched struct {
	*File
	path  string
	time  time.Time     // of the wall clock
	since time.Duration // a time that only grows
	log   []string
}

func open(t *testing.T, path string) *watched {
	t.Helper()
	w := &watched{path: path}
	var err error
	w.File, err = Open(path, func(line string) { w.log = append(w.log, line) })
	if err != nil {
		t.Fatal(err)
	}
	w.time, w.since = time.Now(), w.Elapsed()
	w.Now = func() time.Time { return w.time }
	w.Elapsed = func() time.Duration { return w.since }
	return w
}

// later lets the file be looked at again.
func (w *watched) later() { w.time, w.since = w.time.Add(reread.Interval), w.since+reread.Interval }

func (w *watched) ask(t *testing.T, token string) (*auth.Identity, *auth.Error) {
	t.Helper()
	i, err := w.Authenticate(t.Context(), token)
	if err == nil {
		return i, nil
	}
	e, ok := errors.AsType[*auth.Error](err)
	if !ok || i != nil {
		t.Fatalf("%v, %v", i, err)
	}
	return nil, e
}

func (w *watched) accepts(t *testing.T, token string) bool {
	t.Helper()
	_, err := w.ask(t, token)
	return err == nil
}

func create(t *testing.T, path string, token Token) string {
	t.Helper()
	secret, err := Create(t.Context(), path, token)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// H-240, H-241, H-242: a created token is let in, and the file contains its hash only.
func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	secret := create(t, path, Token{Name: "ci", Tools: []string{"git-*"}})
	other := create(t, path, Token{Name: "ada"})
	if len(secret) != len(Prefix)+43 || !strings.HasPrefix(secret, Prefix) || secret == other {
		t.Errorf("%q, %q", secret, other)
	}
	text, err := os.ReadFile(path)
	hash := sha256.Sum256([]byte(secret))
	if err != nil || strings.Contains(string(text), strings.TrimPrefix(secret, Prefix)) ||
		!strings.Contains(string(text), hex.EncodeToString(hash[:])) {
		t.Errorf("%s %v", text, err)
	}
	for _, fault := range schemas.Compile(schemas.Tokens).Check(text) {
		t.Error(fault)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Error(info.Mode(), err)
	}
	w := open(t, path)
	i, fault := w.ask(t, secret)
	if fault != nil || i.Name != "ci" || !may(i, auth.Tool, "git-log") || may(i, auth.Tool, "rm") {
		t.Errorf("%+v, %v", i, fault)
	}
	if i, fault := w.ask(t, other); fault != nil || i.Name != "ada" || !may(i, auth.Tool, "rm") {
		t.Errorf("%+v, %v", i, fault)
	}
	for _, wrong := range []string{"", Prefix, secret + "x", secret[1:], strings.ToUpper(secret),
		hex.EncodeToString(hash[:])} {
		if _, fault := w.ask(t, wrong); fault == nil || fault.Kind != auth.Invalid {
			t.Errorf("%q: %v", wrong, fault)
		}
	}
	if _, err := Create(t.Context(), path, Token{Name: "ci"}); !errors.Is(err, ErrExists) {
		t.Error(err)
	}
	for _, bad := range []Token{{}, {Name: "a b"}, {Name: strings.Repeat("a", 65)}, {Name: "a", Tools: []string{"a b"}},
		{Name: "a", Resources: []string{"file:x"}}, {Name: "a", Prompts: make([]string, maxRights+1)},
		{Name: "a", Tools: []string{""}}, {Name: "a", Tools: make([]string, maxRights+1)}} {
		if _, err := Create(t.Context(), path, bad); err == nil {
			t.Errorf("%.80q was created", bad.Name)
		}
	}
}

func may(i *auth.Identity, kind auth.ItemKind, name string) bool {
	_, ok := i.Permits(kind, name, nil)
	return ok
}

// H-244: a token with a list of any kind permits only what its lists name, also after an edit of the file.
func TestRights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	all, some := "tool resource prompt", []string{"x*"}
	for name, tc := range map[string]struct {
		token Token
		want  string // the kinds of items, of which it may use x1
	}{
		"all":       {Token{}, all},
		"nothing":   {Token{Resources: []string{}}, ""},
		"tools":     {Token{Tools: some}, "tool"},
		"resources": {Token{Resources: some}, "resource"},
		"prompts":   {Token{Prompts: some}, "prompt"},
		"each":      {Token{Tools: some, Resources: some, Prompts: some}, all},
	} {
		tc.token.Name = name
		secret := create(t, path, tc.token)
		create(t, path, Token{Name: name + "2"})
		id, fault := open(t, path).ask(t, secret)
		if fault != nil {
			t.Fatal(fault)
		}
		var got []string
		for _, kind := range []auth.ItemKind{auth.Tool, auth.Resource, auth.Prompt} {
			if may(id, kind, "x1") {
				got = append(got, strings.ToLower(kind.String()))
			}
			if may(id, kind, "y") != (name == "all") {
				t.Errorf("%s: %v y", name, kind)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s may use %q", name, got)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range schemas.Compile(schemas.Tokens).Check(text) {
		t.Error(fault)
	}
}

// A list of patterns that allows nothing stays one when the file is edited.
func TestEmptyToolsStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	secret := create(t, path, Token{Name: "none", Tools: []string{}})
	create(t, path, Token{Name: "other"})
	if i, fault := open(t, path).ask(t, secret); fault != nil || may(i, auth.Tool, "x") {
		t.Errorf("%+v %v", i, fault)
	}
}

// H-243: a changed file counts within a second, without a restart.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	first := create(t, path, Token{Name: "first"})
	w := open(t, path)
	var seen []string
	w.Watch(func(hashes map[string][sha256.Size]byte, err error) {
		seen = append(seen, fmt.Sprint(slices.Sorted(maps.Keys(hashes)), err))
	})
	second := create(t, path, Token{Name: "second"})
	if w.accepts(t, second) {
		t.Error("the file is read at each request")
	}
	w.later()
	if !w.accepts(t, second) || !w.accepts(t, first) {
		t.Error("the new token is not known")
	}
	id, fault := w.ask(t, first)
	if fault != nil || !id.Accepted() {
		t.Fatal(fault)
	}
	if err := Revoke(t.Context(), path, "first"); err != nil {
		t.Fatal(err)
	}
	w.later()
	if id.Accepted() {
		t.Error("the identity of the revoked token is accepted")
	}
	if w.accepts(t, first) || !w.accepts(t, second) {
		t.Error("the revoked token is valid")
	}
	if err := Revoke(t.Context(), path, "first"); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if len(w.log) != 0 {
		t.Error(w.log)
	}
	if got := strings.Join(seen, "; "); got != "[first] <nil>; [first second] <nil>; [second] <nil>" {
		t.Error(got)
	}
}

// H-243: an unusable file lets nobody in, with one line in the log.
func TestUnusableFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	secret := create(t, path, Token{Name: "a"})
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	faults := map[string]func() error{
		"invalid JSON":   func() error { return os.WriteFile(path, []byte("{"), 0o600) },
		"missing":        func() error { return os.Remove(path) },
		"a directory":    func() error { return os.Mkdir(path, 0o700) },
		"too large":      func() error { return os.WriteFile(path, make([]byte, maxBytes+1), 0o600) },
		"another's name": func() error { return os.WriteFile(path, []byte(`{"tokens":[{"name":"a"}]}`), 0o600) },
	}
	if runtime.GOOS != "windows" {
		faults["writable by others"] = func() error { return os.Chmod(path, 0o666) }
	}
	marked := append([]byte("\ufeff"), good...) // some editors on Windows write it
	if err := os.WriteFile(path, marked, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, fault := open(t, path).ask(t, secret); fault != nil {
		t.Error("a byte order mark:", fault)
	}
	for name, fault := range faults {
		w := open(t, path)
		if name == "a directory" || name == "missing" {
			os.Remove(path)
		}
		if err := fault(); err != nil && name != "missing" {
			t.Fatal(name, err)
		}
		for range 3 {
			w.later()
			if _, fault := w.ask(t, secret); fault == nil || fault.Kind != auth.Unavailable {
				t.Errorf("%s: %v", name, fault)
			}
		}
		if len(w.log) != 1 || !strings.Contains(w.log[0], path) {
			t.Errorf("%s: %q", name, w.log)
		}
		if _, err := Open(path, nil); err == nil {
			t.Errorf("%s: opened", name)
		}
		os.Remove(path)
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		w.later()
		if !w.accepts(t, secret) || len(w.log) != 2 {
			t.Errorf("%s: not usable again: %q", name, w.log)
		}
	}
}

// A file behind links, which Kubernetes exchanges, is read again.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir := t.TempDir()
	var secrets []string
	for _, version := range []string{"v1", "v2"} {
		if err := os.Mkdir(filepath.Join(dir, version), 0o755); err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, create(t, filepath.Join(dir, version, "tokens.json"), Token{Name: "a"}))
	}
	data, path := filepath.Join(dir, "..data"), filepath.Join(dir, "tokens.json")
	if err := errors.Join(os.Symlink("v1", data), os.Symlink("..data/tokens.json", path)); err != nil {
		t.Fatal(err)
	}
	w := open(t, path)
	if !w.accepts(t, secrets[0]) || w.accepts(t, secrets[1]) {
		t.Error("not the first version")
	}
	next := filepath.Join(dir, "next")
	if err := errors.Join(os.Symlink("v2", next), os.Rename(next, data)); err != nil {
		t.Fatal(err)
	}
	w.later()
	if w.accepts(t, secrets[0]) || !w.accepts(t, secrets[1]) {
		t.Error("not the second version")
	}
}

// H-242: a token is valid until it expires.
func TestExpiry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	end := time.Now().Add(time.Minute).Truncate(time.Second)
	secret := create(t, path, Token{Name: "a", Expires: &end})
	w := open(t, path)
	w.time = end.Add(-time.Nanosecond)
	if !w.accepts(t, secret) {
		t.Error("expired early")
	}
	w.time = end
	if _, fault := w.ask(t, secret); fault == nil || fault.Kind != auth.Invalid ||
		fault.Reason != "the token has expired" {
		t.Error(fault)
	}
}

// H-243: the time between two looks does not depend on the wall clock, which may be set back.
func TestClockSetBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	secret := create(t, path, Token{Name: "a"})
	w := open(t, path)
	if err := Revoke(t.Context(), path, "a"); err != nil {
		t.Fatal(err)
	}
	w.later()
	w.time = w.time.Add(-time.Hour)
	if _, fault := w.ask(t, secret); fault == nil || fault.Kind != auth.Invalid {
		t.Errorf("a second after it was revoked, the token counts: %v", fault)
	}
}

// Requests and edits at the same time see a whole file.
func TestConcurrent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	secret := create(t, path, Token{Name: "a"})
	f, err := Open(path, func(line string) { t.Error(line) })
	if err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int64
	f.Elapsed = func() time.Duration { return time.Duration(requests.Add(1)) * time.Hour } // look at each request
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for ctx.Err() == nil {
				if _, err := f.Authenticate(ctx, secret); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 50 {
		create(t, path, Token{Name: fmt.Sprint(i)})
	}
	cancel()
	wait.Wait()
	if tokens, err := List(path); err != nil || len(tokens) != 51 {
		t.Error(len(tokens), err)
	}
}

// H-241: a file with too many tokens is refused, also by Create.
func TestBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	doc := document{Tokens: make([]Token, maxTokens)}
	for i := range doc.Tokens {
		doc.Tokens[i] = Token{Name: fmt.Sprint(i), Hash: sha256.Sum256([]byte{byte(i), byte(i >> 8)})}
	}
	write := func() {
		t.Helper()
		text, err := json.Marshal(doc)
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write()
	open(t, path)
	if _, err := Create(t.Context(), path, Token{Name: "more"}); err == nil {
		t.Error("created")
	}
	doc.Tokens = append(doc.Tokens, Token{Name: "more", Hash: Hash{1}})
	write()
	if _, err := Open(path, nil); err == nil {
		t.Error("opened")
	}
}

// The parser accepts only files that the schema accepts, and what it writes is read alike.
func FuzzParse(f *testing.F) {
	hash := strings.Repeat("0f", 32)
	for _, seed := range []string{
		`{"tokens":[]}`, `{"tokens":[{"name":"a","sha256":"` + hash +
			`","expires":"2030-01-02T03:04:05Z","tools":["*"]}]}`,
		`{"tokens":null}`, `{"$schema":"x","tokens":[{"name":"a","sha256":"` + hash + `","tools":[]}]} `,
		`{"tokens":[]}{}`,
		`[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := parse(text)
		if err != nil {
			return
		}
		written, err := json.Marshal(doc)
		if err != nil {
			return // a time that JSON cannot express
		}
		again, err := parse(written)
		if err != nil || len(again.Tokens) != len(doc.Tokens) {
			t.Fatalf("%s: %v", written, err)
		}
		for i, token := range again.Tokens {
			if want := doc.Tokens[i]; token.Name != want.Name || token.Hash != want.Hash ||
				(token.Tools == nil) != (want.Tools == nil) || (token.Expires == nil) != (want.Expires == nil) {
				t.Errorf("%+v, not %+v", token, want)
			}
		}
		for _, fault := range schemas.Compile(schemas.Tokens).Check(written) {
			t.Error(fault)
		}
	})
}

func BenchmarkAuthenticate(b *testing.B) {
	path := filepath.Join(b.TempDir(), "tokens.json")
	secret, err := Create(b.Context(), path, Token{Name: "a"})
	if err != nil {
		b.Fatal(err)
	}
	f, err := Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := f.Authenticate(b.Context(), secret); err != nil {
			b.Fatal(err)
		}
	}
}
