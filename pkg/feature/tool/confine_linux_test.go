package tool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/test/refuse"
)

// A confinedFixture is a fixture with a confinement mode and files that its tools try to reach.
type confinedFixture struct {
	*fixture
	root, beside string
	event        events.Event // of the last call
}

func newConfinedFixture(t *testing.T, mode string, env project.Env) *confinedFixture {
	t.Helper()
	if confine.Offered().None() {
		t.Skip("the kernel cannot confine")
	}
	y := &confinedFixture{fixture: newFixture(t, env)}
	confinement, ok := access.ParseConfinement(mode)
	if !ok {
		t.Fatal(mode)
	}
	tools := y.tools
	tools.Sandbox = sandbox.New(sandbox.Config{
		Project: tools.project, Mode: confinement, Kernel: confine.Offered, Runner: tools.Runner, Common: tools.Common,
		State: tools.State, Log: tools.Log,
	})
	for _, dir := range []*string{&y.root, &y.beside} {
		physical, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(physical+"/file", []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		*dir = physical
	}
	return y
}

// try runs code as a tool with these capabilities, or "" for none declared.
func (y *confinedFixture) try(capabilities, code string) string {
	y.t.Helper()
	more := []string{}
	if capabilities != "" {
		more = append(more, `"capabilities":`+capabilities)
	}
	name := fmt.Sprintf("t%d", len(y.items))
	y.add(name, code, more...)
	return y.callIt(name)
}

func (y *confinedFixture) callIt(name string) string {
	y.t.Helper()
	list := roots.List{{URI: "file://" + y.root, Path: y.root}}
	y.event = events.Event{}
	return y.call(&Request{Name: name, ID: "1", Roots: roots.Scope{List: list}, Event: &y.event})
}

const reached = "REACHED"

// The declaration of a tool decides which files it can reach, in each mode (CF-1, CF-3, CF-5, CF-10 to CF-16, CF-20).
func TestConfinedCalls(t *testing.T) {
	for _, c := range []struct {
		mode, capabilities, code string
		reaches                  bool
	}{
		{"declared", ``, `cat "$BESIDE/file"`, true},
		{"declared", `[]`, `cat "$BESIDE/file"`, false},
		{"declared", `["search"]`, `cat "$ROOT/file"`, true},
		{"declared", `["Search"]`, `cat "$BESIDE/file"`, false},
		{"declared", `["Edit"]`, `echo >"$ROOT/new"`, true},
		{"declared", `["Kernel"]`, `cat "$ROOT/file"`, false},
		{"declared", `[]`, `d=$(mktemp -d) && echo x >"$d/y" && [[ $d == "$TMPDIR"/* ]]`, true},
		{"declared", `[]`, `cat <<<x && cat "$0"`, true},
		{"declared", `[]`, `uname`, false},
		{"declared", `[]`, `echo x >"$0.new"`, false},
		{"declared", `[]`, `echo x >"$MCPBASH_STATE_DIR/new"`, false},
		{"declared", `[]`, `echo x >"$MCP_PROGRESS_STREAM" && echo x >"$MCPBASH_DEBUG_LOG"`, true},
		{"off", `[]`, `cat "$BESIDE/file" && kill -0 $PPID`, true},
		{"all", ``, `cat "$BESIDE/file"`, false},
		{"all", ``, `cat "$0"`, true},
		{"all,required", ``, `cat "$BESIDE/file"`, false},
		{"all,required", `["FileSystem"]`, `cat "$BESIDE/file"`, true},
	} {
		y := newConfinedFixture(t, c.mode, nil)
		if err := os.WriteFile(y.tools.project.Root+"/notes", []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		got := y.try(c.capabilities, fmt.Sprintf("ROOT=%s BESIDE=%s\n{ %s; } && echo %s || exit 0", y.root, y.beside,
			c.code, reached))
		if strings.Contains(got, reached) != c.reaches {
			t.Errorf("%s, %s: %s: %s", c.mode, c.capabilities, c.code, got)
		}
	}
}

// If the kernel lacks a feature, mode "required" refuses the tool. Other modes run it with one warning and the
// remaining limits (CF-30).
func TestOlderKernelCalls(t *testing.T) {
	for abi := range 3 {
		y := newConfinedFixture(t, "declared,required", nil)
		y.tools.Sandbox.Kernel = func() confine.Kernel { return confine.Kernel{ABI: abi, Filters: abi > 0} }
		mark := filepath.Join(t.TempDir(), "ran")
		code := "echo >" + mark + "; echo " + reached
		if got := y.try(`[]`, code); !strings.Contains(got, "cannot be confined") || strings.Contains(got, reached) {
			t.Errorf("ABI %d: %s", abi, got)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("ABI %d: it ran", abi)
		}
		if got := y.try(``, code); !strings.Contains(got, reached) {
			t.Errorf("ABI %d, undeclared: %s", abi, got)
		}
		y.tools.Sandbox.Mode.Required = false
		code = "cat " + y.beside + "/file && echo " + reached + " || exit 0"
		for range 3 {
			if got := y.try(`[]`, code); strings.Contains(got, reached) != (abi == 0) {
				t.Errorf("ABI %d: %s", abi, got)
			}
		}
		y.mu.Lock()
		warnings := strings.Count(strings.Join(y.logs, "\n"), "runs although this kernel cannot hold")
		y.mu.Unlock()
		if warnings != 1 {
			t.Errorf("ABI %d: %d warnings", abi, warnings)
		}
	}
}

// A failure of confinement fails the call in every mode, and nothing runs (CF-4).
func TestConfinementFaults(t *testing.T) {
	for _, mode := range []string{"declared", "declared,required", "all"} {
		y := newConfinedFixture(t, mode, nil)
		mark := filepath.Join(t.TempDir(), "ran")
		y.tools.Sandbox.Kernel = func() confine.Kernel { return confine.Kernel{ABI: 99, Signals: true, Filters: true} }
		state := y.tools.State.Dir
		if err := os.WriteFile(filepath.Join(state, "private.1"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		y.tools = y.tools.ForClient(nil, nil, func(mcp.Level, string, string) {}, y.tools.Debug)
		for _, got := range []string{y.try(`[]`, "echo >"+mark), y.callIt("t0")} {
			if !strings.Contains(got, "cannot be started") || !strings.Contains(got, "cannot be confined: ") {
				t.Errorf("%s: %s", mode, got)
			}
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("%s: it ran", mode)
		}
		var logged []string
		for _, line := range y.logs {
			if strings.HasPrefix(line, "error mcp.tools Tool 't0' cannot be confined: ") {
				logged = append(logged, line)
			}
		}
		if len(logged) != 1 {
			t.Errorf("%s: the operator's log has %q", mode, logged)
		}
	}
}

// T-53, P-300: a failure of this process is in the log of the operator, once for the same calls of a client.
func TestStartFaults(t *testing.T) {
	b := newFixture(t, nil)
	state := b.tools.State.Dir
	if err := errors.Join(os.RemoveAll(state), os.WriteFile(state, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	b.tools = b.tools.ForClient(nil, nil, func(mcp.Level, string, string) {}, b.tools.Debug)
	for range 3 {
		if got := b.run("echo ran"); !strings.Contains(got, "cannot be started") {
			t.Error(got)
		}
	}
	if len(b.logs) != 1 || !strings.HasPrefix(b.logs[0], "error mcp.tools Tool 't' cannot be started: ") {
		t.Errorf("%q", b.logs)
	}
}

// CF-10 to CF-17, CF-62: tools can be confined although a filter refuses openat2, as RestrictSUIDSGID of systemd does.
func TestWithoutOpenat2(t *testing.T) {
	refuse.Rerun(t, "^Test(ConfinedCalls|EmbedsOfConfinedTools|RefusedPath)$", unix.ENOSYS, unix.SYS_OPENAT2)
}

// The result of a script with denied accesses names the missing declaration, if the confinement is the cause (CF-25).
func TestRefusals(t *testing.T) {
	const start = `it takes \"confine\": {\"exec\": [\"uname\"]}, or the capability Process`
	const file = "it takes the capability FileSystem, or the path in"
	for _, c := range []struct{ capabilities, code, says string }{
		{`[]`, `cat "$BESIDE/file"`, file},
		{`[]`, `cat "$ROOT/file"`, "it takes the capability Search to read it, Edit to write it"},
		{`[]`, `cd "$ROOT" && cat file`, "it takes the capability Search to read it, Edit to write it"},
		{`["Search"]`, `echo >"$ROOT/new"`, "it takes the capability Edit"},
		{`["Edit"]`, `echo >"$BESIDE/new"`, file},
		{`["Edit"]`, `echo >new`, file}, // in the project
		{`[]`, `echo "cp: cannot create regular file 'new': Permission denied" >&2`, file},
		{`[]`, `uname`, start},
		{`["FileSystem"]`, `uname`, start},
		{`[]`, `echo "sh: 1: uname: Permission denied" >&2`, start},
		{`[]`, `echo "find: ‘uname’: Permission denied" >&2`, start},
		{`[]`, `echo "tar (child): uname: Cannot exec: Permission denied" >&2`, start},
		{`[]`, `echo "awk: failed to exec $UNAME -c x (Permission denied)" >&2`, start},
		{`[]`, `echo "x: $UNAME: bad interpreter: Permission denied" >&2`, start},
		{`[]`, `"$BESIDE/program"`, `{\"exec\": [\"BESIDE/program\"]}`},
		{`[]`, `"$PWD/program"`, `{\"exec\": [\"./program\"]}`},
		{`[]`, `exec 3<>/dev/tcp/127.0.0.1/1`, "it takes the capability Network, or the port in"},
		{`[]`, `echo "cat: /none/a: Permission denied" >&2; cat "$BESIDE/file"`, file}, // the first refused file
		// The confinement is not the reason.
		{`[]`, `echo "no: such: Permission denied" >&2`, ""},
		{`[]`, `echo "[Errno 13] Permission denied: '/none/x'" >&2`, ""},
		{`[]`, `echo "open '$BESIDE/file': permission granted" >&2`, ""},
		{`["Search"]`, `echo "cat: $ROOT/none/file: Permission denied" >&2`, ""},
		{`["FileSystem"]`, `echo "cat: $BESIDE/file: Permission denied" >&2`, ""},
		{`["FileSystem"]`, `"$BESIDE/file"`, ""}, // lacks the execute bit
		{`["Search"]`, `"$PWD/dormant"`, ""},     // lacks the execute bit, too
		{`["Process"]`, `echo "sh: 1: uname: Permission denied" >&2`, ""},
		{`["Network"]`, `echo "connect: Permission denied" >&2`, ""},
		{`[]`, `echo "ls: /root: Permission denied" >&2`, ""}, // never declared (CF-55)
		{`[]`, `echo "ls: /: Permission denied" >&2`, ""},
	} {
		y := newConfinedFixture(t, "declared", nil)
		program := []byte("#!/bin/sh\n")
		err := errors.Join(os.WriteFile(y.beside+"/program", program, 0o700),
			os.WriteFile(y.tools.project.Root+"/program", program, 0o700),
			os.WriteFile(y.tools.project.Root+"/dormant", program, 0o600))
		if err != nil {
			t.Fatal(err)
		}
		got := y.try(c.capabilities, fmt.Sprintf("ROOT=%s BESIDE=%s UNAME=$(type -P uname)\n{ %s; }; exit 1", y.root,
			y.beside, c.code))
		says := strings.ReplaceAll(c.says, "BESIDE", y.beside)
		if refused := strings.Contains(got, "was refused to"); refused != (says != "") || !strings.Contains(got, says) {
			t.Errorf("%s: %s: %s", c.capabilities, c.code, got)
		}
		// The record also contains accesses that no declaration permits.
		name, never := y.event.Draft.Refused, strings.Contains(c.code, "ls: /")
		if (name != "") != (says != "" || never) || never && !strings.Contains(c.code, name) {
			t.Errorf("%s: %s: the record has %q", c.capabilities, c.code, name)
		}
	}
	y := newConfinedFixture(t, "declared", nil)
	got := y.try("", "echo 'cat: "+y.beside+"/file: Permission denied' >&2; exit 1")
	if strings.Contains(got, "was refused") {
		t.Errorf("not confined: %s", got)
	}
	y = newConfinedFixture(t, "declared", nil)
	y.root = y.tools.project.Root // the project is the root
	if got := y.try(`["Edit"]`, "echo >new; exit 1"); !strings.Contains(got, "an entry that exists before the call") {
		t.Error(got)
	}
}

// T-198: a script that its confinement stopped has failed, whatever its exit status.
func TestQuietRefusal(t *testing.T) {
	const own = `{\"content\":[],\"isError\":false}`
	for _, c := range []struct {
		capabilities, code string
		isError            bool
	}{
		{`[]`, `find "$ROOT"; true`, true},
		{`[]`, `n=$(uname | wc -l); echo "count: $n"`, true}, // a wrong result
		{`[]`, `cat "$BESIDE/file"; true`, true},
		{`[]`, `cat "$BESIDE/file"; echo done`, false},          // the script may not need the file
		{`[]`, `t=$(mktemp /tmp/slow.XXXXXX); echo done`, true}, // a wrong result
		{`[]`, `echo x > /tmp/slow.$$; echo done`, true},
		{`[]`, `t=$(mktemp -t slow.XXXXXX); echo done; rm -f "$t"`, false},
		{`["Process"]`, `uname; true`, false},
		{`["Process"]`, `echo "x: uname: Permission denied" >&2`, false},
		{`[]`, `echo "x: no-such-program: Permission denied" >&2`, false},
		{`[]`, `uname 2>/dev/null || echo unknown`, false}, // the script handles the failure
		{`[]`, `uname || echo "` + own + `"`, false},       // the script decides
		{``, `echo "x: uname: Permission denied" >&2`, false},
	} {
		for _, output := range []string{"", `"output":{}`} {
			if output != "" && strings.Contains(c.code, own) {
				continue // the output of a program is never a result (T-501)
			}
			y := newConfinedFixture(t, "declared", nil)
			more := []string{}
			for _, member := range []string{output, `"capabilities":` + c.capabilities} {
				if member != "" && !strings.HasSuffix(member, ":") {
					more = append(more, member)
				}
			}
			y.add("t0", fmt.Sprintf("ROOT=%s BESIDE=%s\n%s", y.root, y.beside, c.code), more...)
			got := y.callIt("t0")
			if strings.Contains(got, `"isError":true`) != c.isError || strings.Contains(got, "was refused to") != c.isError {
				t.Errorf("%s: %s %s: %s", c.capabilities, c.code, output, got)
			}
		}
	}
}

// CF-25: the hint contains the path in the formats of various programs.
func TestRefusedPath(t *testing.T) {
	y := newConfinedFixture(t, "declared", nil)
	file := y.beside + "/a b"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, says := range []string{
		`cat: FILE: Permission denied`,
		`tool.sh: line 3: FILE: Permission denied`,
		`sh: 1: cannot create FILE: Permission denied`,
		`sh: 1: cannot open FILE: Permission denied`,
		`ls: cannot open directory 'FILE': Permission denied`,
		`cp: cannot open 'FILE' for reading: Permission denied`,
		`sed: can't read FILE: Permission denied`,
		`cat: can't open 'FILE': Permission denied`,
		`find: ‘FILE’: Permission denied`,
		`env: ‘FILE’: Permission denied`,
		`timeout: failed to run command ‘FILE’: Permission denied`,
		`error: cannot run FILE: Permission denied`,
		`2026/01/02 open FILE: permission denied`,
		`open FILE: permission denied`,
		`PermissionError: [Errno 13] Permission denied: 'FILE'`,
		`Error: EACCES: permission denied, open 'FILE'`,
		`x.rb:1:in 'initialize': Permission denied @ rb_sysopen - FILE`,
		`x.rb:1:in 'Kernel#spawn': Permission denied - FILE (Errno::EACCES)`,
		`Can't open 'FILE': Permission denied at x.pl line 3.`,
		`rsync: [sender] send_files failed to open "FILE": Permission denied (13)`,
		`rsync: [sender] opendir "FILE" failed: Permission denied (13)`,
	} {
		says = strings.ReplaceAll(says, "FILE", file)
		got := y.try(`[]`, "cat >&2 <<'END'\n"+says+"\nEND\nexit 1")
		if path, _, found := strings.Cut(lastText(got), " was refused to "); !found || path != file {
			t.Errorf("%s: %q", says, path)
		}
	}
}

// T-189: a script without the execute bit is the reason, confined or not.
func TestDormant(t *testing.T) {
	for _, capabilities := range []string{"", `["Search"]`} {
		y := newConfinedFixture(t, "declared", nil)
		if err := os.WriteFile(y.tools.project.Root+"/dormant.sh", []byte("#!/bin/sh\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := lastText(y.try(capabilities, "./dormant.sh"))
		if got != "dormant.sh is not executable, so it cannot be started; run chmod +x dormant.sh" {
			t.Errorf("%s: %s", capabilities, got)
		}
	}
}

// CF-25: a failure with another reason is not blamed on the confinement.
func TestOtherReasons(t *testing.T) {
	for code, blamed := range map[string]bool{
		`echo "cat: x: No such file or directory" >&2; exit 1`: false,
		`echo "x: invalid option -- z" >&2; exit 2`:            false,
		`echo "Usage: x FILE" >&2; exit 2`:                     false,
		`echo "no data in July" >&2; exit 3`:                   false,
		`echo "backup failed" >&2; exit 1`:                     true,
		`echo "x: Operation not permitted" >&2; exit 1`:        true,
	} {
		y := newConfinedFixture(t, "declared", nil)
		if got := y.try(`[]`, code); strings.Contains(got, "is confined to") != blamed {
			t.Errorf("%s: %s", code, got)
		}
	}
}

// CF-25: a confined tool that hides error messages still gets a hint, which names the command for
// the list of denied accesses. A tool that reports an error itself, or is not confined, gets no
// hint.
func TestHiddenRefusal(t *testing.T) {
	const hint = "tools/t0/tool.sh is confined to what it declares; mcp-runtool t0 --explain lists what is refused"
	for _, c := range []struct {
		capabilities, code string
		want               bool
	}{
		{`[]`, `cat "$BESIDE/file" 2>/dev/null; exit 1`, true},
		{`[]`, `cat "$BESIDE/file" 2>/dev/null || { echo "cannot read the file" >&2; exit 1; }`, true},
		{`[]`, `cat "$BESIDE/file" 2>/dev/null || { echo '{"n":1}'; exit 1; }`, true},
		{`[]`, `cat "$BESIDE/file" 2>/dev/null || { echo '{"success":false}'; exit 1; }`, false},
		{`[]`, `cat "$BESIDE/file" 2>/dev/null || echo nothing`, false}, // the tool succeeds
		{``, `cat "$BESIDE/none" 2>/dev/null; exit 1`, false},
	} {
		y := newConfinedFixture(t, "declared", nil)
		got := y.try(c.capabilities, fmt.Sprintf("BESIDE=%s\n%s", y.beside, c.code))
		if strings.HasSuffix(lastText(got), hint) != c.want || strings.Contains(got, "is confined to") != c.want {
			t.Errorf("%s: %s", c.code, got)
		}
		logged := slices.ContainsFunc(y.logs, func(line string) bool { return strings.HasSuffix(line, hint) })
		if logged != c.want {
			t.Errorf("%s: logs %q", c.code, y.logs)
		}
	}
}

// Embedded files of a confined tool are limited to files that it may read (CF-62, T-231).
func TestEmbedsOfConfinedTools(t *testing.T) {
	const refused, unreadable = "may not read it", "unreadable"
	for _, c := range []struct {
		capabilities, file string // "" for undeclared
		says               string // log message, or "" if the file is embedded
	}{
		{``, "root/file", ""}, {``, "project/server.d/env.sh", ""},
		{`[]`, "root/file", refused}, {`["Network"]`, "root/file", refused}, {`["Process"]`, "root/file", refused},
		{`["Search"]`, "root/file", ""}, {`["Edit"]`, "root/file", ""}, {`["FileSystem"]`, "root/file", ""},
		{`[]`, "project/server.d/env.sh", refused}, {`["Search"]`, "project/server.d/env.sh", refused},
		{`["Edit"]`, "project/server.d/env.sh", refused}, {`["FileSystem"]`, "project/server.d/env.sh", ""},
		{`["Search"]`, "project/link", refused}, {`["Search"]`, "project/notes", ""},
		{`[]`, "project/tools/own/file", ""},
		{`["Search"]`, "root/pipe", unreadable}, {`["Search"]`, "root", unreadable},
		{`["Search"]`, "beside/file", "outside allowed roots"}, {`["FileSystem"]`, "beside/file", "outside allowed roots"},
	} {
		y := newConfinedFixture(t, "declared", nil)
		project := y.tools.project.Root
		for name, text := range map[string]string{"server.d/env.sh": "SECRET\n", "notes": "x\n", "tools/own/file": "x\n"} {
			file := filepath.Join(project, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		err := errors.Join(os.Symlink("server.d/env.sh", project+"/link"), unix.Mkfifo(y.root+"/pipe", 0o644))
		if err != nil {
			t.Fatal(err)
		}
		dirs := map[string]string{"root": y.root, "project": project, "beside": y.beside}
		place, rest, _ := strings.Cut(c.file, "/")
		more := []string{}
		if c.capabilities != "" {
			more = append(more, `"capabilities":`+c.capabilities)
		}
		y.add("own", `echo "`+filepath.Join(dirs[place], rest)+`" >"$MCP_TOOL_RESOURCES_FILE"`, more...)
		list := roots.List{{URI: "file://" + y.root, Path: y.root}, {URI: "file://" + project, Path: project}}
		got := y.call(&Request{Name: "own", ID: "1", Roots: roots.Scope{List: list}})
		y.mu.Lock()
		logged := strings.Join(y.logs, "\n")
		y.mu.Unlock()
		if embedded := strings.Contains(got, `"type":"resource"`); embedded != (c.says == "") ||
			!strings.Contains(logged, c.says) {
			t.Errorf("%s, %s: %s\nlogged %s", c.capabilities, c.file, got, logged)
		}
	}
}

// BenchmarkConfinedCall compares an empty confined call with an empty unconfined one.
func BenchmarkConfinedCall(b *testing.B) {
	if confine.Offered().None() {
		b.Skip("the kernel cannot confine")
	}
	y := newFixture(b, nil)
	mode, _ := access.ParseConfinement("declared")
	t := y.tools
	t.Sandbox = sandbox.New(sandbox.Config{
		Project: t.project, Mode: mode, Kernel: confine.Offered, Runner: t.Runner, Common: t.Common, State: t.State,
		Log: t.Log,
	})
	y.add("free", "exit 0")
	y.add("confined", "exit 0", `"capabilities":["Search"]`)
	list := roots.List{{URI: "file://" + y.root, Path: y.root}}
	var took [2]time.Duration
	for b.Loop() {
		for i, name := range []string{"free", "confined"} {
			began := time.Now()
			res, err := t.Call(b.Context(), &Request{Name: name, ID: "1", Roots: roots.Scope{List: list}})
			if err != nil {
				b.Fatal(err)
			}
			res.Done()
			took[i] += time.Since(began)
		}
	}
	b.ReportMetric(float64(took[0].Microseconds())/float64(b.N), "µs/free")
	b.ReportMetric(float64(took[1].Microseconds())/float64(b.N), "µs/confined")
	b.ReportMetric(float64(took[1])/float64(took[0]), "ratio")
}
