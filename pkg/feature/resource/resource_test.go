//go:build unix

package resource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/jsontest"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/builtin"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/urimatch"
	"mcp-bash/pkg/wire/mcp"
)

// A fixture is a project whose resources are read.
type fixture struct {
	*Resources
	t    *testing.T
	root string
	mu   sync.Mutex
	logs []string

	templates []urimatch.Template // the first ones declare the scheme of every provider script
}

// open makes a project with these files and entries. {R} is replaced by its root.
func open(t *testing.T, files map[string]string, entries []string, env project.Env) *fixture {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &fixture{t: t, root: root}
	for name, content := range files {
		b.write(name, content)
		if scheme, ok := strings.CutPrefix(strings.TrimSuffix(name, ".sh"), "providers/"); ok {
			b.templates = append(b.templates, urimatch.Template{Name: scheme, Text: scheme + "://{?any}"})
		}
	}
	full := project.Env{"PATH": os.Getenv("PATH"), "HOME": "/home/x", "MY_SECRET": "s",
		"MCPBASH_REMOTE_TOKEN": "hidden"}
	for name, value := range env {
		full[name] = b.fill(value)
	}
	p := project.Open(root, full, root, func(string) {})
	find := func(member string) func(context.Context, string) (json.RawMessage, error) {
		return func(_ context.Context, text string) (json.RawMessage, error) {
			for _, e := range entries {
				if e := json.RawMessage(b.fill(e)); rawjson.TextOf(e, member) == text {
					return e, nil
				}
			}
			return nil, nil
		}
	}
	b.Resources = New(Config{
		Project: p, Scripts: NewScripts(p), FindName: find("name"),
		FindURI: func(ctx context.Context, uri string) (*Entry, error) {
			if entry, _ := find("uri")(ctx, uri); entry != nil {
				return NewEntry(p, entry), nil
			}
			return nil, nil
		},
		Templates: func(context.Context) (*urimatch.Set, error) { return urimatch.NewSet(b.templates), nil },
		Bound:     func(context.Context, string) (bool, error) { return false, nil },
		UIMeta:    func(_ context.Context, uri string) json.RawMessage { return json.RawMessage(`{"ui":{}}`) },
		New:       builtin.New,
		Builtin:   provider.Config{Env: full, Root: root, Resources: p.Resources},
		Runner:    &script.Runner{}, Common: p.Common("/mcp/home", "/mcp/helper",
			project.JSONTool{Name: "jq", Bin: "/mcp/jq"}), State: &project.State{Dir: filepath.Join(t.TempDir(), "state")},
		Log: func(level mcp.Level, logger, text string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.logs = append(b.logs, level.String()+" "+logger+" "+text)
		},
		Debug: func() bool { return true },
	})
	return b
}

func (b *fixture) fill(s string) string { return strings.ReplaceAll(s, "{R}", b.root) }

// write makes a file. A file whose name ends in .sh is a script.
func (b *fixture) write(name, content string) {
	file := filepath.Join(b.root, name)
	os.MkdirAll(filepath.Dir(file), 0o755)
	mode := os.FileMode(0o644)
	if strings.HasSuffix(name, ".sh") {
		mode, content = 0o755, "#!/bin/bash\n"+content+"\n"
	}
	if err := os.WriteFile(file, []byte(content), mode); err != nil {
		b.t.Fatal(err)
	}
	os.Chmod(file, mode)
}

// logged reports whether a log message was written.
func (b *fixture) logged(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.logs {
		if strings.Contains(line, b.fill(text)) {
			return true
		}
	}
	return false
}

// read returns the result as JSON, or the error as code, message and data.
func (b *fixture) read(name, uri string) string {
	b.t.Helper()
	c, err := b.Read(b.t.Context(), Request{Name: name, URI: b.fill(uri)})
	if err != nil {
		var e *mcp.Error
		if !errors.As(err, &e) {
			return "? " + err.Error()
		}
		return strings.ReplaceAll(strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Code, e.Message, e.Data)), b.root, "{R}")
	}
	line := c.AppendJSON(nil, mcp.Extra{})
	if len(line) > c.Size()+len(line)/8 {
		b.t.Errorf("%d bytes where %d were expected", len(line), c.Size())
	}
	if !json.Valid(line) {
		b.t.Errorf("%s", line)
	}
	return strings.ReplaceAll(string(line), b.root, "{R}")
}

func contents(uri, mimeType, rest string) string {
	return `{"contents":[{"uri":"` + uri + `","mimeType":"` + mimeType + `",` + rest + `}]}`
}

const alpha = `{"name":"alpha","path":"alpha.txt","uri":"file://{R}/resources/alpha.txt","mimeType":"text/plain",
	"provider":"file"}`

// RES-30 to RES-36: requests by name, by URI, or both, and their errors.
func TestRead(t *testing.T) {
	b := open(t, map[string]string{
		"resources/alpha.txt": "alpha\n", "resources/binary.bin": "\xff\x00\x01bZn",
		"providers/myapi.sh": `echo "api:$1"`, "secret": "no",
	}, []string{
		alpha,
		`{"name":"relative","uri":"file://./resources/alpha.txt","mimeType":"text/markdown","provider":"file"}`,
		`{"name":"hello","path":"x.txt","uri":"echo://Hello-from-manual-registry","mimeType":"text/plain","provider":"echo"}`,
		`{"name":"swapped","uri":"file://{R}/resources/swapped.txt","mimeType":"text/plain","provider":"echo"}`,
		`{"name":"nobody","uri":"x://y","mimeType":"text/plain","provider":"nobody"}`,
		`{"name":"evil","uri":"x://z","mimeType":"text/plain","provider":"../../secret"}`,
		`{"name":"moved","path":"alpha.txt","uri":"file:///old/place/alpha.txt","uriAuto":true,"mimeType":"text/plain",
			"provider":"file"}`,
		`{"name":"variable","uri":"file://${MCPBASH_RESOURCES_DIR}/alpha.txt","mimeType":"text/plain"}`,
	}, nil)
	const uri = "file://{R}/resources/alpha.txt"
	text := contents(uri, "text/plain", `"text":"alpha\n"`)
	const different = "-32602 Resource name and uri belong to different resources"
	for _, tc := range []struct{ name, uri, want string }{
		{"", "", "-32602 Resource name or uri required"},
		{"alpha", "", text}, {"alpha", uri, text}, {"", uri, text}, {"unknown", uri, text},
		{"", "file://{R}/resources/binary.bin", contents("file://{R}/resources/binary.bin", "application/octet-stream",
			`"blob":"/wABYlpu"`)},
		{"relative", "", contents("file://./resources/alpha.txt", "text/markdown", `"text":"alpha\n"`)},
		{"", "resources/alpha.txt", contents("resources/alpha.txt", "text/plain", `"text":"alpha\n"`)},
		{"moved", "", text}, {"variable", "", text},
		{"hello", "", contents("echo://Hello-from-manual-registry", "text/plain",
			`"text":"Hello-from-manual-registry"`)},
		{"", "ECHO://a%20b", contents("ECHO://a%20b", "text/plain", `"text":"a b"`)},
		// The provider of a named entry is not used for another URI.
		{"hello", uri, different}, {"alpha", "echo://x", different}, {"alpha", uri + "?", different},
		{"nobody", "echo://x", different}, {"evil", uri, different},
		// An entry's provider is used for every URI.
		{"swapped", "", "-32602 Unsupported URI scheme for echo provider"},
		{"unknown", "", `-32002 Resource not found {"name":"unknown"}`},
		{"", "file://{R}/resources/none.txt", `-32002 Resource not found {"uri":"file://{R}/resources/none.txt"}`},
		{"", "file://{R}/secret", "-32603 Resource outside allowed roots"},
		{"", "urn:isbn:1", `-32002 Resource not found {"uri":"urn:isbn:1"}`}, // RES-39
		{"", "nothing://x", `-32002 Resource not found {"uri":"nothing://x"}`},
		{"", "git://x/y", `-32002 Resource not found {"uri":"git://x/y"}`},
		{"", "../x://y", `-32002 Resource not found {"uri":"../x://y"}`},
		{"", "://y", `-32002 Resource not found {"uri":"://y"}`},
		{"", "file://%00", "-32602 Invalid file URI"},
		{"nobody", "", `-32603 Unsupported resource provider {"reason":"there is no provider \"nobody\"; correct the URI ` +
			`or its \"provider\", or add providers/nobody.sh to the project"}`},
		{"evil", "", `-32603 Unsupported resource provider {"reason":"the scheme of the URI cannot be the name of a ` +
			`provider"}`},
		// A scheme that a provider script of the project reads.
		{"", "myapi://one?x=1", contents("myapi://one?x=1", "text/plain", `"text":"api:myapi://one?x=1\n"`)},
		{"", "MyAPI://two", `-32002 Resource not found {"uri":"MyAPI://two"}`}, // RES-32a
		{"", "myapi://\x00", "-32602 Invalid resource specification"},
	} {
		if got := b.read(tc.name, tc.uri); !jsontest.Same(got, tc.want) {
			t.Errorf("%q %q:\n got %s\nwant %s", tc.name, tc.uri, got, tc.want)
		}
	}
	if !b.logged("debug mcp.resources Using project provider: {R}/providers/myapi.sh") ||
		!b.logged("Using framework provider: file") { // RES-75
		t.Errorf("%q", b.logs)
	}
}

// RES-35, RES-40 to RES-45, R-54a: the MIME type of contents, and text or blob.
func TestContent(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00"
	files := map[string]string{
		"r.md": "# x\n\n", "empty.txt": "", "empty.png": "", "pic.svg": "<svg/>", "nul.txt": "a\x00b",
		"latin.txt": "caf\xe9", "noext": "plain\n", "bytes": png, "late": strings.Repeat("a", 5000) + "\xff",
		"x.JSON": "{}", "pic.png": "text in truth", "x.unknown": "clean é", "crlf.txt": "a\r\n\r\n",
		"bom.txt": "\ufeffx", "esc.txt": "\"\\\b\f\n\r\t\x01\x1f\x7f/<>&\u2028\u2029\U0001F600", "arch.gz": "text",
		"page.html": "<p>", "doc": "%PDF-1.4", "conf": "a = 1",
	}
	list := map[string]string{}
	for name, content := range files {
		list["resources/"+name] = content
	}
	b := open(t, list, []string{
		`{"name":"declared","path":"r.md","uri":"file://{R}/resources/r.md#declared","mimeType":"application/x-notes",
			"provider":"file"}`,
		`{"name":"derived","path":"x.unknown","uri":"file://{R}/resources/bytes","mimeType":"text/plain","provider":"file"}`,
		`{"name":"binary","uri":"file://{R}/resources/noext","mimeType":"text/plain; charset=binary","provider":"file"}`,
		`{"name":"pdf","uri":"file://{R}/resources/doc#","mimeType":"application/x-any","provider":"file"}`,
		`{"name":"plain","uri":"file://{R}/resources/doc?p","mimeType":"text/plain","mimeTypeDeclared":true,
			"provider":"file"}`,
		`{"name":"toml","uri":"file://{R}/resources/conf","mimeType":"application/toml","provider":"file"}`,
		`{"name":"audio","uri":"file://{R}/resources/r.md?audio","mimeType":"audio/x-any","provider":"file"}`,
	}, nil)
	for name, want := range map[string]string{
		"r.md#x":    `"mimeType":"text/markdown","text":"# x\n\n"`,
		"empty.txt": `"mimeType":"text/plain","text":""`,
		"empty.png": `"mimeType":"text/plain","text":""`,
		"pic.svg":   `"mimeType":"image/svg+xml","text":"<svg/>"`,
		"nul.txt":   `"mimeType":"text/plain","blob":"YQBi"`,
		"latin.txt": `"mimeType":"text/plain","blob":"Y2Fm6Q=="`,
		"noext":     `"mimeType":"text/plain; charset=binary","text":"plain\n"`,
		"bytes":     `"mimeType":"image/png","blob":"iVBORw0KGgoA"`,
		"x.JSON":    `"mimeType":"application/json","text":"{}"`,
		"pic.png":   `"mimeType":"text/plain","text":"text in truth"`,
		"x.unknown": `"mimeType":"text/plain","text":"clean é"`,
		"crlf.txt":  `"mimeType":"text/plain","text":"a\r\n\r\n"`,
		"arch.gz":   `"mimeType":"text/plain","text":"text"`,
		"page.html": `"mimeType":"text/html","text":"<p>"`,
		"doc":       `"mimeType":"application/pdf","blob":"JVBERi0xLjQ="`,
	} {
		if got := b.read("", "file://{R}/resources/"+name); !strings.HasSuffix(got, want+"}]}") {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"declared": `"application/x-notes","text"`, "derived": `"image/png","blob"`,
		"binary": `"text/plain; charset=binary","text"`, "audio": `"audio/x-any","text"`,
		"plain": `"text/plain","blob":"JVBERi0xLjQ="`,
		"pdf":   `"application/x-any","blob":"JVBERi0xLjQ="`, "toml": `"application/toml","text"`,
	} {
		if got := b.read(name, ""); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	// The content is unchanged, byte for byte.
	for _, name := range []string{"bom.txt", "esc.txt", "crlf.txt", "r.md"} {
		var got struct{ Contents []struct{ Text string } }
		if err := json.Unmarshal([]byte(b.read("", "file://{R}/resources/"+name)), &got); err != nil ||
			got.Contents[0].Text != files[name] {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got := b.read("", "file://{R}/resources/late"); !strings.Contains(got, `"application/octet-stream","blob"`) {
		t.Error("only the beginning was looked at")
	}
}

// RES-46: the limit is allowed, one more byte is not. The log names the resource.
func TestLimit(t *testing.T) {
	b := open(t, map[string]string{"resources/fits.txt": "12345", "resources/long.txt": "123456",
		"providers/p.sh": `printf '%s' "${1#p://}"`, "providers/endless.sh": "yes"},
		[]string{`{"name":"long","uri":"file://{R}/resources/long.txt","provider":"file"}`},
		project.Env{"MCPBASH_MAX_RESOURCE_BYTES": "5"})
	for _, tc := range []struct{ name, uri, want string }{
		{"", "file://{R}/resources/fits.txt", contents("file://{R}/resources/fits.txt", "text/plain",
			`"text":"12345"`)},
		{"long", "", "-32603 Resource content exceeds 5 bytes"},
		{"", "echo://12345", contents("echo://12345", "text/plain", `"text":"12345"`)},
		{"", "echo://123456", "-32603 Resource content exceeds 5 bytes"},
		{"", "p://12345", contents("p://12345", "text/plain", `"text":"12345"`)},
		{"", "p://123456", "-32603 Resource content exceeds 5 bytes"},
		{"", "endless://", "-32603 Resource content exceeds 5 bytes"},
	} {
		if got := b.read(tc.name, tc.uri); !jsontest.Same(got, tc.want) {
			t.Errorf("%q %q: %s", tc.name, tc.uri, got)
		}
	}
	if !b.logged("error mcp.resources Resource long content exceeds limit 5") ||
		!b.logged("error mcp.resources Resource <direct> content exceeds limit 5") {
		t.Errorf("%q", b.logs)
	}
	for value, want := range map[string]int{"": 77, "x": 77, "9": 9} {
		p := project.Open(b.root, project.Env{"MCPBASH_MAX_RESOURCE_BYTES": value,
			"MCPBASH_MAX_TOOL_OUTPUT_SIZE": "77"}, b.root, func(string) {})
		if p.MaxResource != want {
			t.Errorf("%q: %d", value, p.MaxResource)
		}
	}
}

// RES-60, RES-37, RES-62: the error for each exit status of a provider.
func TestExitStatus(t *testing.T) {
	b := open(t, map[string]string{
		"providers/p.sh": `case "$1" in
			p://signal) kill -9 $$;;
			p://chatty) echo '{"status":"ok"}'; echo "all is well" >&2; exit 0;;
			p://lines) printf 'one "quoted"\ntwo\n\n' >&2; exit 5;;
			p://latin) printf 'caf\xe9' >&2; exit 5;;
			p://long) printf 'é%.0s' {1..3000} >&2; exit 5;;
			p://silent*) exit "${1#p://silent}";;
			p://redirect) echo 'redirect:https://x' >&2; exit 7;;
		esac
		echo "partial"; echo "it says why" >&2; exit "${1#p://}"`,
	}, nil, nil)
	for uri, want := range map[string]string{
		"p://2": "-32603 Resource outside allowed roots", "p://3": `-32002 Resource not found {"uri":"p://3"}`,
		"p://4": "-32602 it says why", "p://5": "-32603 it says why", "p://6": "-32603 it says why",
		"p://7": "-32603 it says why", "p://1": "-32603 it says why", "p://99": "-32603 it says why",
		"p://silent2": "-32603 Resource outside allowed roots",
		"p://silent3": `-32002 Resource not found {"uri":"p://silent3"}`,
		"p://silent4": "-32602 Invalid resource specification",
		"p://silent5": "-32603 Resource fetch failed", "p://silent6": "-32603 Resource exceeded size limit",
		"p://silent7": "-32603 Resource provider failed", "p://silent1": "-32603 Resource provider failed",
		"p://silent126": "-32603 Resource provider failed",
		"p://signal":    "-32603 Resource provider failed", "p://redirect": "-32603 redirect:https://x",
		"p://lines": "-32603 one \"quoted\"\ntwo", "p://latin": "-32603 caf\uFFFD",
		"p://chatty": contents("p://chatty", "text/plain", `"text":"{\"status\":\"ok\"}\n"`),
	} {
		if got := b.read("", uri); !jsontest.Same(got, want) {
			t.Errorf("%s: %q, want %q", uri, got, want)
		}
	}
	long := strings.TrimPrefix(b.read("", "p://long"), "-32603 ")
	if len(long) > 2048 || len(long) < 2046 || !utf8.ValidString(long) || strings.Contains(long, "\uFFFD") {
		t.Errorf("%d bytes", len(long))
	}
	if !b.logged("debug mcp.resources Provider 'p': all is well") {
		t.Errorf("%q", b.logs)
	}
}

// RES-70, RES-71, RES-74: the provider scripts of a project.
func TestProjectProvider(t *testing.T) {
	b := open(t, map[string]string{
		"providers/echo.sh": `printf 'ours'`, "providers/where.sh": `pwd; cat; printf '%s|' "$#" "$@"`,
		"providers/open.sh": "echo x", "providers/noexec.sh": `echo "$BASH_VERSION" | grep -c .`,
		"elsewhere/out.sh": "echo x", "providers/sub/inner.sh": "echo inner",
	}, nil, nil)
	dir := filepath.Join(b.root, "providers")
	os.Chmod(filepath.Join(dir, "open.sh"), 0o757)
	os.Chmod(filepath.Join(dir, "noexec.sh"), 0o644)
	os.Symlink("../elsewhere/out.sh", filepath.Join(dir, "out.sh"))
	os.Symlink("sub/inner.sh", filepath.Join(dir, "inner.sh"))
	b.templates = append(b.templates, urimatch.Template{Text: "out://{x}"}, urimatch.Template{Text: "inner://{x}"})
	os.Mkdir(filepath.Join(dir, "dir.sh"), 0o755)
	for uri, want := range map[string]string{
		"echo://x":          contents("echo://x", "text/plain", `"text":"ours"`),
		"where://a b'$(id)": contents("where://a b'$(id)", "text/plain", `"text":"{R}\n1|where://a b'$(id)|"`),
		"noexec://":         contents("noexec://", "text/plain", `"text":"1\n"`),
		"inner://":          contents("inner://", "text/plain", `"text":"inner\n"`),
		"open://": `-32603 Resource provider failed {"reason":"providers/open.sh (mode 0757, others can ` +
			`write to it; run chmod o-w providers/open.sh)"}`,
		"out://":       `-32603 Resource provider failed {"reason":"providers/out.sh (leads out of providers)"}`,
		"dir://":       `-32002 Resource not found {"uri":"dir://"}`,
		"sub/inner://": `-32002 Resource not found {"uri":"sub/inner://"}`,
	} {
		if got := b.read("", uri); !jsontest.Same(got, want) {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
	if !b.logged("error mcp.resources Provider 'open' refused: {R}/providers/open.sh (mode 0757, ") ||
		!b.logged("Provider 'out' refused") {
		t.Errorf("%q", b.logs)
	}
	os.Chmod(dir, 0o757)
	if got := b.read("", "where://"); !strings.HasPrefix(got, "-32603 Resource provider failed ") ||
		!b.logged("{R}/providers (mode 0757, others can write to it; run chmod o-w {R}/providers)") {
		t.Errorf("%s, %q", got, b.logs)
	}
}

// RES-72, RES-93, E-4, P-2304: the environment of a provider script.
func TestEnvironment(t *testing.T) {
	env := project.Env{
		"MCPBASH_GIT_TIMEOUT": "3", "https_proxy": "http://p", "SSH_AUTH_SOCK": "a", "SSL_CERT_FILE": "c",
		"MCPBASH_TOOLS_DIR": "tools2", "MCPBASH_OTHER": "o",
		"MCP_RESOURCES_ROOTS": "docs::~/more:/abs/", "LC_TIME": "fr",
	}
	// "exec env" removes the variables that Bash adds.
	files := map[string]string{}
	for _, name := range []string{"p", "git", "https", "ui"} {
		files["providers/"+name+".sh"] = "unset SHLVL PWD OLDPWD _; env | grep -v '^_=' | sort"
	}
	b := open(t, files, nil, env)
	b.Caller = &auth.Identity{Name: "reader", Scopes: []string{"a"}} // H-400
	system := project.Open(t.TempDir(), project.Env{}, "/", func(string) {})
	locale := system.ToolBase(&system.Scripts.Tools)["LANG"] // T-62
	base := "MCP_CLIENT_ID=reader MCP_CLIENT_ISSUER= MCP_CLIENT_SCOPES=a MCP_CLIENT_SUBJECT= " +
		"HOME=/home/x LANG=" + locale + " LC_ALL=" + locale + " LC_TIME=fr " +
		"MCPBASH_GIT_TIMEOUT=3 MCPBASH_PROMPTS_DIR={R}/prompts " +
		"MCPBASH_PROVIDERS_DIR={R}/providers MCPBASH_RESOURCES_DIR={R}/resources MCP_RESOURCES_ROOTS={R}" +
		"/docs:/home/x/more:/abs TEMP={T} TMP={T} TMPDIR={T} https_proxy=http://p"
	for _, entry := range b.Common.Entries() { // P-205
		base += " " + strings.ReplaceAll(entry, b.root, "{R}")
	}
	for name, extra := range map[string]string{
		"p": "", "git": "SSH_AUTH_SOCK=a", "https": "SSL_CERT_FILE=c",
		"ui": "MCPBASH_REGISTRY_DIR={R}/.registry MCPBASH_STATE_DIR={S} MCPBASH_TOOLS_DIR={R}/tools2 " +
			"MCPBASH_UI_DIR={R}/ui",
	} {
		uri := name + "://"
		if name == "git" {
			uri = "git+https://"
		}
		c, err := b.Read(t.Context(), Request{URI: uri})
		if err != nil {
			t.Fatal(name, err)
		}
		got := map[string]bool{}
		text := strings.ReplaceAll(strings.ReplaceAll(string(c.data), b.root, "{R}"), b.State.Dir, "{S}")
		text = regexp.MustCompile(`\{S\}/call\.[0-9]+/tmp`).ReplaceAllString(text, "{T}")
		for _, line := range strings.Fields(text) {
			if !strings.HasPrefix(line, "PATH=") {
				got[line] = true
			}
		}
		for _, want := range strings.Fields(base + " " + extra) {
			if !got[want] {
				t.Errorf("%s: no %s", name, want)
			}
			delete(got, want)
		}
		if len(got) > 0 {
			t.Errorf("%s: also %v", name, got)
		}
	}
}

// RES-72: temporary files of a provider are removed with it, also if it is cancelled.
func TestTemporaryFiles(t *testing.T) {
	b := open(t, map[string]string{
		"providers/p.sh": `d=$(mktemp -d) && mktemp "$d/XXXXXX" >made; mv made ready; [[ $1 == p://short ]] || sleep 600`,
	}, nil, nil)
	for _, uri := range []string{"p://short", "p://long"} {
		ready := filepath.Join(b.root, "ready")
		os.Remove(ready)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for uri == "p://long" && ctx.Err() == nil {
				if _, err := os.Stat(ready); err == nil {
					cancel()
				}
				runtime.Gosched()
			}
		}()
		b.Read(ctx, Request{URI: uri})
		cancel()
		made, err := os.ReadFile(ready)
		file := strings.TrimSpace(string(made))
		if err != nil || !strings.HasPrefix(file, b.State.Dir) {
			t.Fatalf("%s: made %q, %v", uri, file, err)
		}
		for deadline := time.Now().Add(90 * time.Second); ; time.Sleep(time.Millisecond) {
			if _, err := os.Lstat(file); err != nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %s is still there", uri, file)
			}
		}
	}
}

// RES-90, RES-93: the roots that a script passes to the file provider never permit more than the server's roots.
func TestRootList(t *testing.T) {
	for _, tc := range []struct {
		roots []string
		want  string
	}{{nil, ":"}, {[]string{"/a"}, "/a"}, {[]string{"/a", "/b c"}, "/a:/b c"}, {[]string{"/a:b/resources"}, ":"},
		{[]string{"/a:b", "/c"}, "/c"}} {
		got := rootList(tc.roots)
		if got != tc.want {
			t.Errorf("%q: %q", tc.roots, got)
		}
		again, set := project.Env{"MCP_RESOURCES_ROOTS": got}.ResourceRoots("/p", "/p/resources")
		if !set || len(again) > len(tc.roots) {
			t.Errorf("%q comes back as %q", tc.roots, again)
		}
	}
}

// RES-73: the timeout of a provider script.
func TestTimeout(t *testing.T) {
	b := open(t, map[string]string{"providers/slow.sh": "trap '' TERM; sleep 100 & wait; sleep 100"}, nil,
		project.Env{"MCPBASH_PROVIDER_TIMEOUT": "1"})
	began := time.Now()
	if got := b.read("", "slow://"); got != `-32603 Request timed out {"timeoutSecs":1}` {
		t.Error(got)
	}
	b.write("providers/slow.sh", "echo waiting >&2; sleep 100")
	if got := b.read("", "slow://"); got != `-32603 Request timed out: waiting {"timeoutSecs":1}` {
		t.Error(got)
	}
	why := mcp.Errorf(1, "the request's own")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, why)
	defer cancel()
	if _, err := b.Read(ctx, Request{URI: "slow://", Bounded: true}); !errors.Is(err, why) {
		t.Error(err)
	}
	if time.Since(began) > 90*time.Second { // the script would take 100
		t.Error("it went on")
	}
	for value, want := range map[string]time.Duration{"": time.Minute, "x": time.Minute, "0": 0, "7": 7 * time.Second,
		"601": 10 * time.Minute} {
		if got := project.ReadSettings(project.Env{"MCPBASH_PROVIDER_TIMEOUT": value},
			project.Dirs{}).Fetching.Timeout; got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

// RES-40, RES-324, RES-325: pages of MCP Apps.
func TestUI(t *testing.T) {
	b := open(t, map[string]string{"providers/ui.sh": "printf '<p>'"}, nil, nil)
	if got := b.read("", "ui://srv/x"); got != contents("ui://srv/x", mcp.UIMimeType,
		`"text":"<p>","_meta":{"ui":{}}`) {
		t.Error(got)
	}
}

// RES-21, R-171, RES-161, RES-166: entries of resources and templates in lists.
func TestListed(t *testing.T) {
	p := &project.Project{Root: "/p", Dirs: project.Dirs{Resources: "/p/resources"}}
	for item, want := range map[string]string{
		`{"name":"a","description":"","path":"a b.txt","uri":"file:///old/a","mimeType":"text/plain","provider":"file",
			"size":3,"annotations":{"audience":["user"],"priority":0.80},"_meta":{"x":1},
			"uriAuto":true,"own":[1]}`: `{"name":"a","description":"","path":"a b.txt","uri":"file:///p/resources/a%20b.txt",
			"mimeType":"text/plain","provider":"file","size":3,"annotations":{"audience":["user"],"priority":0.80},
			"_meta":{"x":1},"own":[1]}`,
		`{"name":"v","uri":"file://${MCPBASH_PROJECT_ROOT}/x"}`: `{"name":"v","uri":"file:///p/x"}`,
	} {
		if got := string(AppendListed(nil, p, json.RawMessage(item))); !jsontest.Same(got, want) {
			t.Errorf("%s", got)
		}
	}
	const template = `{"name":"t","uriTemplate":"file:///{p}","title":"T","extra":1,"annotations":{},"_meta":{},
		"icons":[]}`
	if got := string(AppendListedTemplate(nil, json.RawMessage(template))); !jsontest.Same(got, strings.Replace(template,
		`"extra":1,`, "", 1)) {
		t.Error(got)
	}
}

// RES-143 to RES-145, RES-149: a watch detects changes of a resource.
func TestWatch(t *testing.T) {
	b := open(t, map[string]string{"resources/a.txt": "one", "providers/n.sh": `cat "$MCPBASH_PROJECT_ROOT/n"`,
		"n": "1"}, []string{
		`{"name":"a","uri":"file://{R}/resources/a.txt","mimeType":"text/plain","provider":"file"}`,
	}, nil)
	watch := func(uri string) *Watch {
		t.Helper()
		w, err := b.Watch(t.Context(), Request{URI: b.fill(uri)})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	expect := func(w *Watch, changed bool) {
		t.Helper()
		if w.Changed(t.Context()) != changed {
			t.Errorf("not %v", changed)
		}
	}
	file := watch("file://{R}/resources/a.txt")
	if file.Still() {
		t.Error("it changed a moment ago: only reading tells")
	}
	expect(file, false)
	b.write("resources/a.txt", "two")
	expect(file, true)
	expect(file, false)
	os.Remove(filepath.Join(b.root, "resources/a.txt"))
	expect(file, true)
	expect(file, false)
	b.write("resources/a.txt", "two")
	expect(file, true)
	for end := time.Now().Add(time.Minute); !file.Still(); time.Sleep(20 * time.Millisecond) {
		expect(file, false)
		if time.Now().After(end) {
			t.Fatal("it is never still")
		}
	}
	b.write("resources/a.txt", "six")
	if file.Still() {
		t.Error("another content")
	}
	expect(file, true)
	file.Reconsider()
	if file.Still() {
		t.Error("another entry, perhaps")
	}
	expect(file, false)

	n := watch("n://")
	expect(n, false)
	b.write("n", "2")
	if n.Still() {
		t.Error("of a script nobody knows")
	}
	expect(n, true)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b.write("n", "3")
	if n.Changed(ctx) {
		t.Error("a look that was given up")
	}
	expect(n, true)
	if n.Remote() || n.URI() != "n://" {
		t.Error(n.URI())
	}
	if _, err := b.Watch(t.Context(), Request{URI: b.fill("file://{R}/none")}); err == nil {
		t.Error("what cannot be read is watched")
	}
}

// FuzzContent parses arbitrary entries for the type of the content.
func FuzzContent(f *testing.F) {
	f.Add([]byte("text"), "text/plain", "a.txt")
	f.Add([]byte("\xff\x00"), "image/svg+xml;charset=binary", "x?y#z")
	f.Fuzz(func(t *testing.T, data []byte, mimeType, uri string) {
		c := (&target{uri: uri, provider: "file", declared: mimeType}).content(data, "")
		line := c.AppendJSON(nil, mcp.Extra{})
		var got struct {
			Contents []struct {
				Text *string
				Blob []byte
			}
		}
		if err := json.Unmarshal(line, &got); err != nil || len(got.Contents) != 1 {
			t.Fatalf("%s: %v", line, err)
		}
		if one := got.Contents[0]; one.Text != nil && *one.Text != string(data) ||
			one.Text == nil && !bytes.Equal(one.Blob, data) {
			t.Fatalf("%q came as %s", data, line)
		}
	})
}
