package clients

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/test/checkout"
)

// suspendedCalls is the default of `MCPBASH_MAX_PARKED_CALLS`.
const suspendedCalls = 64

// M-55, M-73: every end of a server or of its suspended calls removes their processes and files.
func TestEndOfSuspendedCalls(t *testing.T) {
	t.Parallel()
	project := checkout.Copy(t, "testdata/asking")
	for name, tc := range map[string]struct {
		env    map[string]string
		end    func(t *testing.T, s *tap)
		killed bool
	}{
		"killed":       {end: func(_ *testing.T, s *tap) { s.cmd.Process.Kill() }, killed: true},
		"end of input": {end: func(_ *testing.T, s *tap) { s.stdin.Close() }},
		"expiry":       {env: map[string]string{"MCPBASH_PARKED_CALL_TTL": "2"}, end: func(*testing.T, *tap) {}},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := checkout.Directory(t)
			s, scripts := suspend(t, project, tmp, tc.env)
			tc.end(t, s)
			for _, p := range scripts {
				if !p.ends(t) {
					t.Errorf("process %s outlives its call", p.id)
				}
			}
			if tc.killed {
				<-s.ended
				next := open(t, project, opening{env: map[string]string{"TMPDIR": tmp}})
				next.succeed("suspend", nil) // this client cannot be asked
			}
			eventually(t, "the files of the calls are removed, but for one directory for the next call", func() bool {
				list, err := filepath.Glob(filepath.Join(tmp, "mcpbash.*", "call.*"))
				return err == nil && len(list) <= 1
			})
			s.stdin.Close()
			<-s.ended
			if !tc.killed && s.exit != nil {
				t.Errorf("the server ended with %v\n%s", s.exit, &s.stderr)
			}
			for _, fault := range s.faults {
				t.Errorf("a line of the server: %v", fault)
			}
			if left := leftovers(t, tmp); len(left) > 0 && !tc.killed { // there the next one's is left
				t.Errorf("the server left behind %q", left)
			}
		})
	}
}

// suspend starts a server and as many suspended calls as it allows. It returns the processes of the
// calls: each has a script and a child.
func suspend(t *testing.T, project, tmp string, env map[string]string) (*tap, []*process) {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, "mcp-bash"))
	cmd.Dir, cmd.Env = tmp, environment(project, tmp, env)
	s := newTap(cmd)
	conn, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	go func() { // the tap keeps the lines
		for err == nil {
			_, err = conn.Read(t.Context())
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-s.ended
	})
	for i := range suspendedCalls {
		fmt.Fprintf((*clientEnd)(s), `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"suspend","_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`+"\n", i)
	}
	var scripts []*process
	eventually(t, "all calls are suspended", func() bool { return len(s.messages("")) == suspendedCalls })
	for _, m := range s.messages("") {
		var result struct {
			InputRequests map[string]struct{ Params struct{ Message string } }
		}
		if err := json.Unmarshal(m.Result, &result); err != nil {
			t.Fatal(err)
		}
		pids := strings.Fields(result.InputRequests["input-1"].Params.Message)
		if len(pids) != 2 {
			t.Fatalf("%s", m.Result)
		}
		for _, id := range pids {
			if pid, err := strconv.Atoi(id); err != nil || unix.Kill(pid, 0) == nil { // else it has expired already
				scripts = append(scripts, watch(t, id))
			}
		}
	}
	return s, scripts
}
