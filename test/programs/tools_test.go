//go:build programs

package programs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// WRAP-50: for each program, the tool is valid, its smoke test passes, and a client calls it. The arguments have a
// known result, are the required ones, contain the first switch, or have hostile values.
func TestTools(t *testing.T) {
	path, manPath := place(t)
	bin := t.TempDir()
	if err := checkout.Build(bin, checkout.Commands); err != nil {
		t.Fatal(err)
	}
	dir := checkout.Directory(t)
	t.Setenv("PATH", bin+":"+path)
	set := map[string]string{
		"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "GH_TOKEN": "none",
		"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOCACHE": filepath.Join(dir, "go"),
		// So that git status does not hold the lock that git add needs.
		"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_GLOBAL": "/dev/null",
	}
	env := append(os.Environ(), "MANPATH="+manPath, "HOME="+dir,
		"XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "MCPBASH_TOOL_ALLOWLIST=*", "MCPBASH_TOOL_ENV_MODE=allowlist",
		"MCPBASH_TOOL_ENV_ALLOWLIST=PYTHONPATH,LD_LIBRARY_PATH,"+strings.Join(slices.Sorted(maps.Keys(set)), ","))
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	run := func(t *testing.T, in string, words ...string) string {
		t.Helper()
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = in, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", strings.Join(words, " "), err, out)
		}
		return string(out)
	}
	run(t, dir, "mcp-scaffold", "new", "demo", "--no-hello")
	project := filepath.Join(dir, "demo")
	repositories(t, project, func(in string, words ...string) { run(t, in, words...) })
	files, _ := filepath.Glob("facts/*")
	var names []string
	for _, file := range files {
		command, _, _ := facts(t, file)
		name := strings.ReplaceAll(strings.Join(command, "-"), ".", "-")
		words := append([]string{"mcp-scaffold", "wrap", "--no-recipe", "--with", needed(t, callsOf[name].calls)}, command...)
		if only := callsOf[name].only; only != "" {
			words = append(words, "--only", only)
		}
		run(t, project, words...)
		declare(t, filepath.Join(project, "tools", name, "tool.meta.json"), callsOf[name].needs)
		names = append(names, name)
		if err := os.Mkdir(filepath.Join(project, name), 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range callsOf[name].files {
			write(t, filepath.Join(project, name, file), text)
		}
	}
	if known := slices.Sorted(maps.Keys(callsOf)); !slices.Equal(known, slices.Sorted(slices.Values(names))) {
		t.Errorf("calls of %v, not of %v", known, names)
	}
	if report := run(t, project, "mcp-doctor", "validate", "--json"); !strings.Contains(report, `"errors":0`) ||
		strings.Contains(report, "requirements.missing") {
		t.Error(report)
	}

	server := exec.Command("mcp-bash")
	server.Dir, server.Env = project, append(env, "MCPBASH_PROJECT_ROOT="+project)
	client := mcp.NewClient(&mcp.Implementation{Name: "programs-test", Version: "1"}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(listed.Tools) != len(names) {
		t.Errorf("%d tools, not %d", len(listed.Tools), len(names))
	}
	here := strings.NewReplacer(append(listeners(t, project), "{project}", project)...)
	var attacks atomic.Int64
	t.Run("calls", func(t *testing.T) {
		for _, tool := range listed.Tools {
			t.Run(tool.Name, func(t *testing.T) {
				t.Parallel()
				if !slices.Contains(names, tool.Name) {
					t.Fatal("this is no tool of ours")
				}
				run(t, project, filepath.Join(project, "tools", tool.Name, "smoke.sh"))
				if n := len(callsOf[tool.Name].calls); n < 3 {
					t.Errorf("of only %d calls the result is known", n)
				}
				for _, c := range callsOf[tool.Name].calls {
					c.try(ctx, t, session, tool, project, here)
				}
				for _, arguments := range samples(t, tool) {
					survives(ctx, t, session, tool.Name, arguments)
				}
				attacks.Add(int64(attack(ctx, t, session, tool)))
			})
		}
	})
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "PWNED" {
			t.Errorf("%s is there", path)
		}
		return nil
	})
	known := 0
	for _, of := range callsOf {
		known += len(of.calls)
	}
	t.Logf("%d tools, %d calls whose result is known, %d hostile arguments", len(listed.Tools), known, attacks.Load())
	if attacks.Load() < 200 {
		t.Error("fewer than 200 hostile arguments")
	}
}

// try makes a call, and looks at its result.
func (c call) try(ctx context.Context, t *testing.T, session *mcp.ClientSession, tool *mcp.Tool, project string,
	here *strings.Replacer) {
	t.Helper()
	if c.prints == "" && c.says == "" && (c.file == "" || c.holds == "") {
		t.Errorf("%s: nothing is known of the result", c.with)
	}
	var arguments map[string]any
	if err := json.Unmarshal([]byte(here.Replace(c.with)), &arguments); err != nil {
		t.Fatalf("%s: %v", c.with, err)
	}
	list, _ := properties(t, tool)
	for _, p := range list {
		if value, ok := arguments[p.name]; ok {
			arguments[p.name] = p.fit(value)
		}
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool.Name, Arguments: arguments})
	if err != nil {
		t.Errorf("%v: %v", arguments, err)
		return
	}
	text := textOf(result)
	all := fmt.Sprintf("%s\n%v", text, result.Meta["stderr"])
	held, _ := os.ReadFile(filepath.Join(project, c.file))
	right := result.IsError == c.fails && (c.prints == "" || c.fails && strings.Contains(text, here.Replace(c.prints)) ||
		strings.TrimSpace(text) == strings.TrimSpace(here.Replace(c.prints))) &&
		strings.Contains(all, here.Replace(c.says)) && (c.file == "" || strings.Contains(string(held), c.holds))
	if !right {
		t.Errorf("%v: isError %v, %q, file %q; not isError %v, prints %q, says %q, file %s holds %q",
			arguments, result.IsError, all, held, c.fails, c.prints, c.says, c.file, c.holds)
	}
}

// fit changes a value to the type of a property. The help of a program does not always show that a value is a
// number, or that there can be several.
func (p property) fit(value any) any {
	list, isList := value.([]any)
	switch kind := fmt.Sprint(p.Type); {
	case kind == "array" && !isList:
		return []any{p.Items.fit(value)}
	case kind == "string" && isList && len(list) == 1:
		return p.fit(list[0])
	case kind == "string" && !isList:
		return fmt.Sprint(value)
	}
	return value
}

// declare replaces the capabilities of a tool, as a person does who knows the program.
func declare(t *testing.T, file, capabilities string) {
	t.Helper()
	if capabilities == "" {
		return
	}
	var meta map[string]json.RawMessage
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &meta)
	}
	if err != nil {
		t.Fatal(err)
	}
	meta["capabilities"] = json.RawMessage(capabilities)
	if strings.Contains(capabilities, "Process") { // it can start any program
		delete(meta, "confine")
	}
	if text, err = json.Marshal(meta); err != nil {
		t.Fatal(err)
	}
	write(t, file, string(text))
}

// survives makes a call of which it is known only what must not come of it.
func survives(ctx context.Context, t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) {
	t.Helper()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Errorf("%v: %v", arguments, err)
		return
	}
	if text := textOf(result); strings.Contains(text, "Invalid arguments") || strings.Contains(text, "timed out") ||
		strings.Contains(text, "unbound variable") {
		t.Errorf("%v: %s", arguments, text)
	}
}

// repositories makes one of the project, without a commit, and one with two branches in origin.
func repositories(t *testing.T, project string, run func(in string, words ...string)) {
	t.Helper()
	run(project, "git", "init", "-q", "-b", "trunk")
	origin := filepath.Join(project, "origin")
	run(project, "git", "init", "-q", "-b", "trunk", origin)
	write(t, filepath.Join(origin, "file"), "committed\n")
	run(origin, "git", "add", "file")
	run(origin, "git", "-c", "user.name=demo", "-c", "user.email=demo@example.com", "commit", "-qm", "One")
	run(origin, "git", "branch", "side")
}

// listeners starts the servers that calls connect to, and returns their addresses.
func listeners(t *testing.T, project string) []string {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/missing" {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path == "/tone.wav" {
			w.Header().Set("Content-Type", "audio/wav")
			header := []uint16{16, 0, 1, 1, 8000, 0, 8000, 0, 1, 8} // mono, 8000 samples of one byte in a second
			sound, _ := binary.Append([]byte("RIFF\x24\x00\x00\x00WAVEfmt "), binary.LittleEndian, header)
			w.Write(append(sound, "data\x00\x00\x00\x00"...))
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintln(w, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Word")+string(body)))
	}))
	t.Cleanup(web.Close)
	greeter := listen(t, func(c net.Conn) { io.WriteString(c, "hello\n") })
	broker := listen(t, func(c net.Conn) {
		received, err := os.Create(filepath.Join(project, "stomp/received"))
		if err != nil {
			return
		}
		defer received.Close()
		for r := bufio.NewReader(c); ; {
			frame, err := r.ReadString(0)
			received.WriteString(frame)
			if err != nil {
				return
			}
			if strings.HasPrefix(frame, "STOMP\n") {
				io.WriteString(c, "CONNECTED\nversion:1.1\n\n\x00")
			} else if _, id, ok := strings.Cut(frame, "\nreceipt:"); ok {
				id, _, _ = strings.Cut(id, "\n")
				io.WriteString(c, "RECEIPT\nreceipt-id:"+id+"\n\n\x00")
			}
		}
	})
	return []string{"{http}", web.URL, "{tcp}", greeter, "{stomp}", broker, "{dns}", resolver(t)}
}

// resolver answers each question for an address by DNS with 192.0.2.7, and returns its port.
func resolver(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go func() {
		question := make([]byte, 512)
		for {
			n, from, err := c.ReadFrom(question)
			if err != nil {
				return
			}
			end := 12 + bytes.IndexByte(question[12:n], 0) + 5 // of the name, the type and the class
			if end > n {
				continue
			}
			answer := slices.Concat(question[:2], []byte{0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0}, question[12:end],
				[]byte{0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7})
			c.WriteTo(answer, from)
		}
	}()
	_, port, _ := net.SplitHostPort(c.LocalAddr().String())
	return port
}

// listen answers whoever connects, and returns the port.
func listen(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				answer(c)
			}()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func write(t *testing.T, file, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A property is the part of a schema that the test needs to choose a value.
type property struct {
	name     string
	required bool
	Type     any
	Enum     []any
	Items    *property
}

// properties returns the properties of a tool's arguments, and which of them exclude each other.
func properties(t *testing.T, tool *mcp.Tool) (list []property, excluded map[string]map[string]any) {
	t.Helper()
	text, err := json.Marshal(tool.InputSchema)
	var schema struct {
		Properties map[string]property
		Required   []string

		DependentSchemas map[string]struct{ Properties map[string]any }
	}
	if err == nil {
		err = json.Unmarshal(text, &schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range schema.Properties {
		p.name, p.required = name, slices.Contains(schema.Required, name)
		list = append(list, p)
	}
	excluded = map[string]map[string]any{}
	for name, s := range schema.DependentSchemas {
		excluded[name] = s.Properties
	}
	slices.SortFunc(list, func(a, b property) int { return strings.Compare(a.name, b.name) })
	return list, excluded
}

// samples are arguments that fit the tool's schema: what is required, and that with the first switch.
func samples(t *testing.T, tool *mcp.Tool) []map[string]any {
	t.Helper()
	list, _ := properties(t, tool)
	least, switched := map[string]any{}, map[string]any{}
	for _, p := range list {
		if p.required {
			least[p.name], switched[p.name] = p.value("sample"), p.value("sample")
		} else if p.Type == "boolean" && len(switched) == len(least) {
			switched[p.name] = true
		}
	}
	return []map[string]any{least, switched}
}

// hostile are texts that would be more than an argument, if a shell or the program read them so.
var hostile = []string{
	"a  b", "'\"", "x\ntouch PWNED\n", "$(touch PWNED)", "`touch PWNED`;touch PWNED|touch PWNED&", "--PWNED",
}

// attack sends each hostile text through every argument that takes a text, and counts them.
// Where the tool refuses one that could be an option, it goes on without that argument.
func attack(ctx context.Context, t *testing.T, session *mcp.ClientSession, tool *mcp.Tool) (n int) {
	t.Helper()
	list, excluded := properties(t, tool)
	for _, text := range hostile {
		arguments := map[string]any{}
		for _, p := range list {
			if isText := len(p.Enum) == 0 && (strings.Contains(fmt.Sprint(p.Type), "string") || p.Type == "array"); isText ||
				p.required {
				arguments[p.name] = p.value(text)
			}
		}
		for name := range arguments {
			for other := range excluded[name] {
				if name < other {
					delete(arguments, other)
				}
			}
		}
		n += len(arguments)
		for len(arguments) > 0 {
			// Some would try for long to reach a host of that name.
			limited, cancel := context.WithTimeout(ctx, 5*time.Second)
			result, err := session.CallTool(limited, &mcp.CallToolParams{Name: tool.Name, Arguments: arguments})
			late := limited.Err() != nil
			cancel()
			switch refused := refusal.FindStringSubmatch(fmt.Sprint(err)); {
			case late:
			case refused != nil && arguments[refused[1]] != nil:
				delete(arguments, refused[1])
				continue
			case err != nil:
				t.Errorf("%v: %v", arguments, err)
			case strings.Contains(textOf(result), "unbound variable"):
				t.Errorf("%v: %s", arguments, textOf(result))
			}
			break
		}
	}
	return n
}

// refusal matches the error of a tool for a value that the program could read as an option.
var refusal = regexp.MustCompile(`\.(\w+)(?:\[0\])? begins with a dash`)

func (p property) value(text string) any {
	kind := fmt.Sprint(p.Type)
	switch {
	case len(p.Enum) > 0:
		return p.Enum[0]
	case kind == "array":
		return []any{p.Items.value(text)}
	case kind == "integer", kind == "number":
		return 1
	case kind == "boolean":
		return true
	}
	return text
}

// textOf returns the text of a result.
func textOf(result *mcp.CallToolResult) string {
	var parts []string
	for _, c := range result.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, text.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// placeholders matches {tcp} and the like.
var placeholders = regexp.MustCompile(`\{[a-z]+\}`)

// needed returns the arguments of calls. Tools are wrapped with them, whether they are offered unasked or not, because
// this test is about calls.
func needed(t *testing.T, calls []call) string {
	t.Helper()
	names := map[string]bool{}
	for _, c := range calls {
		var arguments map[string]any
		text := placeholders.ReplaceAllString(c.with, "0")
		if err := json.Unmarshal([]byte(text), &arguments); err != nil {
			t.Fatalf("%s: %v", c.with, err)
		}
		for name := range arguments {
			names[name] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ",")
}
