package sdk_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/run/handoff"
)

// patience is the time limit for expected events.
const patience = time.Minute

// a script with this prefix waits forever unless woken
const woken = `
read() {
	case " $* " in *' -t '*) builtin read -r _ ;; *) builtin read "$@" ;; esac
}
sleep() { echo slept >&2; exit 9; }
`

// A desk is a hand-off directory and a tool that uses it.
type desk struct {
	*handoff.Dir
	tool
}

func newDesk(t *testing.T, script string) desk {
	t.Helper()
	path := t.TempDir()
	root, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	pool := new(handoff.Cache).Pool(path, func() (*os.Root, error) { return root, nil })
	d, err := pool.Take()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Keep(d); root.Close() })
	return desk{d, tool{script: script, env: []string{"MCP_ELICIT_SUPPORTED=1", "MCP_INPUT_DIR=" + d.InputPath(),
		"MCP_ELICIT_REQUEST_FILE=" + d.Path("elicit.request"), "MCP_ELICIT_RESPONSE_FILE=" + d.Path("elicit.response"),
		"MCP_CANCEL_FILE=" + d.Path("cancelled")}}}
}

// ask runs the tool. The server answers each question at once, or cancels the call at the first one.
func (d desk) ask(t *testing.T, cancel bool) outcome {
	t.Helper()
	cmd := d.command(t)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer kill.Stop()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		_, elicited := d.Take("elicit.request", 1<<10)
		_, asked := d.Input.Take("batch.request", 1<<10)
		var err error
		switch {
		case elicited && cancel, asked && cancel:
			err = d.Create("cancelled", nil)
		case elicited:
			err = d.Put("elicit.response", []byte(`{"action":"accept","content":{}}`))
		case asked:
			err = d.Input.Put("batch.response", []byte(`{"roots":{"result":{"roots":[]}}}`))
		default:
			runtime.Gosched()
		}
		if err != nil {
			t.Error(err)
		}
		if elicited || asked {
			d.Input.Wake("wake")
		}
		select {
		case <-ended:
			return outcome{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
		default:
		}
	}
}

// T-129, SDK-142: a question waits only for the server's byte, for both ways to ask, any number of times.
func TestWoken(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no FIFOs")
	}
	const accepted, roots = `{"action":"accept","content":{}}`, `{"roots":[]}`
	const three = `mcp_elicit_confirm m; mcp_roots_request; (umask 0; mcp_elicit_string m)`
	for _, c := range []struct {
		script string
		cancel bool
		want   outcome
	}{
		{three, false, out(accepted + roots + accepted)},
		{`x=$(mcp_input_request roots roots/list; mcp_input_wait); echo "$x"`, false, out(`{"roots":` + roots + "}\n")},
		{`set -o posix; set -C; IFS=k; ` + three, false, out(accepted + roots + accepted)},
		{`mcp_elicit_confirm m`, true, outcome{out: `{"action":"cancel","content":null}`, rc: 1}},
		{`mcp_roots_request`, true, outcome{out: `{"error":{"code":-32001,"message":"Cancelled"}}`, rc: 1}},
		// The tool uses its standard input and a trap.
		{`trap 'echo ended' EXIT; x=$(echo text | { mcp_elicit_confirm m; cat; }); echo "$x"`, false,
			out(accepted + "text\nended\n")},
	} {
		d := newDesk(t, woken+c.script)
		if got := d.ask(t, c.cancel); got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.script, got, c.want)
		}
		left, err := filepath.Glob(d.Input.Path("*"))
		info, err2 := os.Lstat(d.Input.Path("wake"))
		if err != nil || err2 != nil || len(left) != 1 || info.Mode() != os.ModeNamedPipe|0o600 {
			t.Errorf("%s: left %q, %v, %v", c.script, left, info, err2)
		}
	}
}

// SDK-141: the timeout applies with a FIFO and unrelated bytes. The request is removed.
func TestWokenTooLate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no FIFOs")
	}
	const late = `{"action":"error","content":null}`
	for _, c := range []struct {
		script string
		want   string
		least  time.Duration
	}{
		{`mcp_elicit m '{}' 1.4 || :`, late, 1400 * time.Millisecond},
		{`mcp_elicit m '{}' 0 || :`, late, 0},
		{`mcp_sample --timeout 1 x || :`, `{"error":{"code":-32001,"message":"Timed out"}}`, time.Second},
		{`mkfifo "$MCP_INPUT_DIR/wake"
			{ for i in 1 2 3 4 5 6 7 8 9; do echo >&3; done; mcp_elicit m '{}' 0.7 || :; } 3<>"$MCP_INPUT_DIR/wake"`, late, 0},
	} {
		d := newDesk(t, c.script)
		start := time.Now()
		got := d.run(t)
		got.err = strings.TrimPrefix(got.err, "mcp_elicit: Timeout waiting for user response\n")
		if got != out(c.want) || time.Since(start) < c.least {
			t.Errorf("%s: %+v after %s", c.script, got, time.Since(start))
		}
		if _, found := d.Take("elicit.request", 1<<10); found {
			t.Errorf("%s: the request is still there", c.script)
		}
		if _, found := d.Input.Take("batch.request", 1<<10); found {
			t.Errorf("%s: the batch is still there", c.script)
		}
	}
}

// SDK-142: a tool without a FIFO or mkfifo waits by sleeping.
func TestNoFIFO(t *testing.T) {
	t.Parallel()
	for _, before := range []string{
		`: >"$MCP_INPUT_DIR/wake"`, `mkdir "$MCP_INPUT_DIR/wake"`, `ln -s /dev/null "$MCP_INPUT_DIR/wake"`,
		`ln -s wake "$MCP_INPUT_DIR/wake"`, `mkfifo() { echo missing >&2; return 127; }`, `OSTYPE=msys`,
		`mkfifo() { :; }; exec 2>/dev/null`, // it is missing when it is opened
	} {
		d := newDesk(t, before+`; mcp_elicit_confirm m; mcp_roots_request`)
		if got := d.ask(t, false); got != out(`{"action":"accept","content":{}}{"roots":[]}`) {
			t.Errorf("%s: %+v", before, got)
		}
	}
}

// SDK-142: a question starts mkfifo, mv and rm once, for any time to wait.
func TestProcessesOfQuestions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no FIFOs")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, "")
	for i, got := range count(t, d.tool, []string{`mcp_elicit m '{}' 3`, `mcp_elicit m '{}' 2`}) {
		if want := 3 - i; got != (processes{want, want}) {
			t.Errorf("question %d started %+v", i+1, got)
		}
	}
}
