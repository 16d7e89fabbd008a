package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/test/pty"
)

// project makes a project with these tools, each a Bash script with the SDK.
func project(t *testing.T, tools map[string]string) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{"server.d/server.meta.json": "{}"}
	for name, body := range tools {
		files["tools/"+name+"/tool.sh"] = "#!/bin/bash\nsource \"${MCP_SDK}/tool-sdk.sh\"\n" + body
	}
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// atTerminal runs mcp-runtool as a person would.
func atTerminal(t *testing.T, root string, args ...string) *pty.Session {
	t.Helper()
	cmd := exec.Command("mcp-runtool", append(args, "--project-root", root)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir(), "MCPBASH_TOOL_ALLOWLIST=*")
	return pty.Start(t, cmd)
}

// lines returns the lines of a screen without erased text.
func lines(screen string) string {
	var kept []string
	for line := range strings.SplitSeq(strings.ReplaceAll(screen, "\r\n", "\n"), "\n") {
		kept = append(kept, line[strings.LastIndexByte(line, '\r')+1:])
	}
	return strings.Join(kept, "\n")
}

// CLI-803, CLI-115: the result is readable on a terminal, whatever bytes the tool prints.
func TestResultOnATerminal(t *testing.T) {
	root := project(t, map[string]string{
		"text": `printf 'plain\x07text'`,
		"json": `mcp_emit_json '{"n":1,"list":[1,2]}'; echo from stderr >&2`,
		"full": `echo '{"content":[{"type":"text","text":"hi"},{"type":"image","data":"aGkhIQ==","mimeType":"image/png"},` +
			`{"type":"resource","resource":{"uri":"file:///x","mimeType":"text/plain","text":"inside\n"}},` +
			`{"type":"resource_link","uri":"file:///y","name":"y"}],"structuredContent":{"k":1},"isError":true}'`,
		"fails":  `echo oops >&2; exit 3`,
		"error":  `mcp_fail -32010 'Not like this' '{"field":"x"}' 2>/dev/null`,
		"silent": `false`,
	})
	for name, want := range map[string]struct {
		code int
		text string
	}{
		"text": {0, "plain\\u0007text\n"},
		"json": {0, "{\n  \"n\": 1,\n  \"list\": [\n    1,\n    2\n  ]\n}\n" +
			"run-tool: standard error of json:\nfrom stderr\n"},
		"full": {0, "hi\n[image, image/png, 4 bytes]\n[file:///x, text/plain]\ninside\n[y: file:///y]\n{\n  \"k\": 1\n}\n" +
			"run-tool: the result of full is an error\n"},
		"fails":  {1, "oops\nrun-tool: fails failed with exit status 3\n"},
		"error":  {1, "run-tool: error -32010: Not like this\n{\n  \"field\": \"x\"\n}\n"},
		"silent": {1, "run-tool: warning: mcp.tools: Tool 'silent': tools/silent/tool.sh ended with exit status 1 without"},
	} {
		code, screen := atTerminal(t, root, name).Wait()
		got := lines(screen)
		if code != want.code || !strings.HasPrefix(got, want.text) || strings.Count(got, "ended with exit status") > 1 {
			t.Errorf("%s: exit code %d, %q", name, code, got)
		}
	}
	if _, screen := atTerminal(t, root, "text", "--json").Wait(); !strings.HasPrefix(screen, `{"name":"text",`) {
		t.Errorf("%q", screen)
	}
}

// CLI-813: the list of tools on a terminal.
func TestListOnATerminal(t *testing.T) {
	root := project(t, map[string]string{"one": "", "second": "", "third": ""})
	meta := []byte(`{"name":"one","description":"The first\nand more"}`)
	if err := os.WriteFile(filepath.Join(root, "tools/one/tool.meta.json"), meta, 0o644); err != nil {
		t.Fatal(err)
	}
	var screen string
	const gone = "#!/opt/none\n"
	if err := os.WriteFile(filepath.Join(root, "tools/third/tool.sh"), []byte(gone), 0o755); err != nil {
		t.Fatal(err)
	}
	_, screen = atTerminal(t, root, "--allow", "one", "--allow", "third").Wait()
	want := "NAME    STATUS      DESCRIPTION\none     ready       The first\nsecond  not listed\nthird   blocked\n\n" +
		"Why one is blocked: mcp-bash run-tool NAME --dry-run.\n\n" +
		"Agents may call the tools that MCPBASH_TOOL_ALLOWLIST names; mcp-bash config sets it for a client.\n" +
		"Here you can run a tool that is not listed with --allow-self.\n"
	if got := lines(screen); got != want {
		t.Errorf("%q", got)
	}
	if _, screen = atTerminal(t, project(t, nil)).Wait(); !strings.HasPrefix(screen, "The project has no tools") {
		t.Errorf("%q", screen)
	}
}

// CLI-811: progress is on the last line while the tool runs, and is removed afterwards. The tool's log and standard
// error are above.
func TestProgressOnATerminal(t *testing.T) {
	root := project(t, map[string]string{"slow": `
mkfifo go1 go2 go3
mcp_progress 25 $'a quarter\x1b[2J' 100
: <go1
mcp_log_info slow 'a word'
: <go2
echo "on stderr" >&2
mcp_progress 50 half 100
: <go3
mcp_emit_text done`})
	next := func(name string) { os.WriteFile(filepath.Join(root, name), nil, 0o600) }
	s := atTerminal(t, root, "slow", "--verbose")
	s.Expect(`\[######------------------\]  25% a quarter\\u001b\[2J`)
	next("go1")
	s.Expect(`\r +\rrun-tool: info: slow: a word\r\n\[######------------------\]  25%`)
	next("go2")
	s.Expect(`\r +\ron stderr\r\n`)
	s.Expect(`\[############------------\]  50% half`)
	next("go3")
	code, screen := s.Wait()
	if got := lines(screen); code != 0 || got != "run-tool: info: slow: a word\non stderr\ndone\n" {
		t.Errorf("exit code %d, %q", code, got)
	}
}

// CLI-809: on a terminal, mcp-runtool asks the user a tool's questions.
func TestQuestionsOnATerminal(t *testing.T) {
	root := project(t, map[string]string{
		"order": `
a=$(mcp_elicit_titled_choice $'Which size?\x1b[2J' small:'Small, 26 cm' large:Large) || true
b=$(mcp_elicit_multi_choice 'Which toppings?' basil capers) || true
c=$(mcp_elicit_confirm 'Order it?') || true
printf '%s\n' "$a" "$b" "$c"`,
		"sign": `
mcp_elicit 'Who are you?' '{"type":"object","required":["name","mail"],"properties":{
  "name":{"type":"string","title":"Name","minLength":2},
  "mail":{"type":"string","format":"email","description":"for the bill"},
  "age":{"type":"integer","minimum":1,"maximum":150},
  "news":{"type":"boolean","default":true}}}' || true`,
		"page": `mcp_elicit_url 'Link it' https://example.com/link || true`,
		"two":  `{ mcp_elicit_string 'First?' || true; } ; echo; mcp_elicit_string 'Second?' || true`,
	})
	t.Run("choices", func(t *testing.T) {
		s := atTerminal(t, root, "order", "--json")
		s.Expect(`\? Which size\?\\u001b\[2J\r\n  \(Ctrl-D declines, Ctrl-C cancels\)\r\n`)
		s.Expect(`  1\) small  Small, 26 cm\r\n  2\) large  Large\r\n  choice: `)
		s.Type("huge\n")
		s.Expect(`"huge" is not one of the choices\r\n  choice: `)
		s.Type("2\n")
		s.Expect(`Which toppings\?(?s).*  1\) basil\r\n  2\) capers\r\n  choices \(any, separated by commas\): `)
		s.Type("capers, 1\n")
		s.Expect(`Order it\?(?s).*confirmed \(y/n\): `)
		s.Type("\n")
		s.Expect(`a value is required\r\n  confirmed`)
		s.Type("maybe\n")
		s.Expect(`type y or n\r\n  confirmed`)
		s.Type("y\n")
		s.Expect(`\\"choice\\":\\"large\\".*\\"choices\\":\[\\"capers\\",\\"basil\\"\].*\\"confirmed\\":true`)
		if code, screen := s.Wait(); code != 0 {
			t.Errorf("%d %q", code, screen)
		}
	})
	t.Run("form", func(t *testing.T) {
		s := atTerminal(t, root, "sign", "--json")
		s.Expect(`  Name: `)
		s.Type("x\n")
		s.Expect(`it must have at least 2 characters\r\n  Name: `)
		s.Type("Ada\n")
		s.Expect(`  mail \(for the bill; email\): `)
		s.Type("nobody\n")
		s.Expect(`type an e-mail address`)
		s.Type("ada@example.com\n")
		s.Expect(`  age \(integer from 1 to 150; may be left empty\): `)
		s.Type("many\n")
		s.Expect(`type a number`)
		s.Type("151\n")
		s.Expect(`it must be`)
		s.Type("\n")
		s.Expect(`  news \(y/n\) \[y\]: `)
		s.Type("\n")
		s.Expect(`\{\\"name\\":\\"Ada\\",\\"mail\\":\\"ada@example.com\\",\\"news\\":true\}`)
		s.Wait()
	})
	t.Run("a page", func(t *testing.T) {
		s := atTerminal(t, root, "page", "--json")
		s.Expect(`  open https://example.com/link\r\n  and press Enter: `)
		s.Type("\n")
		s.Expect(`\\"action\\":\\"accept\\"`)
		s.Wait()
	})
	t.Run("declined and cancelled", func(t *testing.T) {
		s := atTerminal(t, root, "two", "--json")
		s.Expect(`value: `)
		s.Type("\x04")
		s.Expect(`declined\r\n`)
		s.Expect(`Second\?(?s).*value: `)
		s.Type("\x03")
		s.Expect(`cancelled\r\n`)
		s.Expect(`\\"action\\":\\"decline\\".*\\"action\\":\\"cancel\\"`)
		if code, screen := s.Wait(); code != 0 {
			t.Errorf("%d %q", code, screen)
		}
	})
	t.Run("given beforehand", func(t *testing.T) {
		s := atTerminal(t, root, "two", "--json", "--elicit", `["one"]`)
		s.Expect(`Second\?(?s).*value: `)
		s.Type("two\n")
		s.Expect(`\\"value\\":\\"one\\".*\\"value\\":\\"two\\"`)
		s.Wait()
	})
}

// CLI-809, T-127: if the script stops waiting for an answer, the question is withdrawn. The next typed text answers the
// next question.
func TestQuestionWithdrawnOnATerminal(t *testing.T) {
	root := project(t, map[string]string{"hasty": `
mkfifo go
mcp_elicit_string 'First?' >/dev/null &
: <go
kill $!
mcp_elicit_string 'Now?' || true`})
	s := atTerminal(t, root, "hasty", "--json")
	s.Expect(`First\?(?s).*value: `)
	if err := os.WriteFile(filepath.Join(root, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Expect(`no longer waits(?s).*Now\?(?s).*value: `)
	s.Type("here\n")
	s.Expect(`\\"value\\":\\"here\\"`)
	s.Wait()
}

// CLI-102: with no question open, Ctrl-C ends the run. The message begins on a new line.
func TestInterruptOnATerminal(t *testing.T) {
	root := project(t, map[string]string{"stuck": "mcp_progress 1 ready 2; sleep 60"})
	s := atTerminal(t, root, "stuck")
	s.Expect("ready")
	s.Type("\x03")
	code, screen := s.Wait()
	if code != 130 || !regexp.MustCompile(`\^C\r\n[ \r]*run-tool: error -32001: Tool cancelled\r\n`).MatchString(screen) {
		t.Errorf("%d %q", code, screen)
	}
}

// T-42: a tool has no terminal, even if the command has one. The tool can neither read the person's keys nor type for
// the person.
func TestToolHasNoTerminal(t *testing.T) {
	root := project(t, map[string]string{"look": `
if { exec 3<>/dev/tty; } 2>/dev/null; then echo "a terminal"; else echo "no terminal"; fi`})
	code, screen := atTerminal(t, root, "look").Wait()
	if got := lines(screen); code != 0 || got != "no terminal\n" {
		t.Errorf("%d %q", code, got)
	}
}

// CLI-815: on a terminal, --write shows the change and asks.
func TestWriteOnATerminal(t *testing.T) {
	if lacks := confine.Offered().Lacks(&confine.Profile{}); lacks != nil {
		t.Skipf("this kernel cannot observe: %v", lacks)
	}
	root := project(t, map[string]string{"look": `cat notes.txt`})
	meta := filepath.Join(root, "tools/look/tool.meta.json")
	for file, text := range map[string]string{"notes.txt": "notes", "tools/look/tool.meta.json": `{"name":"look"}`} {
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		answer, end string
		code        int
		written     bool
	}{
		{"\n", `nothing was written\r\n`, 1, false},
		{"y\n", `written to tools/look/tool\.meta\.json\r\n`, 0, true},
	} {
		s := atTerminal(t, root, "look", "--learn", "--write")
		s.Expect(`(?m)^\+\{"name":"look","capabilities":\[\],"confine":\{"read":\["notes\.txt"\]\}\}`)
		s.Expect(`Write this\? \[y/N\] `)
		s.Type(tc.answer)
		s.Expect(tc.end)
		code, _ := s.Wait()
		text, err := os.ReadFile(meta)
		if code != tc.code || err != nil || strings.Contains(string(text), "notes.txt") != tc.written {
			t.Errorf("%q: exit code %d, %s, %v", tc.answer, code, text, err)
		}
	}
}
