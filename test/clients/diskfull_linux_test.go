package clients

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	"mcp-bash/test/checkout"
)

// unsharing is the program that makes a mount namespace, in which a small disk can be mounted
// without being root.
func unsharing(t *testing.T) string {
	t.Helper()
	unshare, err := exec.LookPath("unshare")
	if err == nil {
		err = exec.Command(unshare, "-r", "-m", "true").Run()
	}
	if err != nil {
		t.Skip("a small disk takes a mount namespace: ", err)
	}
	return unshare
}

// A full disk fails a call with a clear error; once there is room the next one
// succeeds (P-300).
func TestFullDisk(t *testing.T) {
	t.Parallel()
	unshare := unsharing(t)
	here := checkout.Directory(t)
	room := filepath.Join(here, "room")
	if err := unix.Mkfifo(room, 0o600); err != nil {
		t.Fatal(err)
	}
	small := filepath.Join(here, "server")
	script := "#!/bin/sh\nexec " + unshare + ` -r -m sh -c '
mount -t tmpfs -o size=64k small "$TMPDIR" && cd "$TMPDIR"
dd if=/dev/zero of=fill bs=1k count=100 2>/dev/null
(read -r _ <"$1"; rm -f fill; : >"$1.made") >/dev/null 2>&1 &
exec "$2"' sh "` + room + `" "` + filepath.Join(bin, "mcp-bash") + `"
`
	if err := checkout.WriteProgram(small, []byte(script)); err != nil {
		t.Fatal(err)
	}
	s := open(t, checkout.Copy(t, "testdata/hostile"), opening{binary: small})
	_, err := s.request(s.deadline(), "calm", nil)
	if errors := compact(t, s.tap.messages("")); err == nil || !strings.Contains(errors, "private directory "+s.tmp) ||
		!strings.Contains(errors, "no space left on device; MCPBASH_TMP_ROOT chooses another place") {
		t.Errorf("with a full disk: %v, %s", err, errors)
	}
	go os.WriteFile(room, []byte("\n"), 0o600)
	eventually(t, "there is room", func() bool { return exists(room + ".made") })
	s.calm(nil)
}

// The disk fills up while the user answers a question. A short answer reaches the tool all the same; where
// a long one does not, tool and client learn it at once (T-123, P-2203).
func TestFullDiskDuringQuestion(t *testing.T) { inBothProtocols(t, testFullDiskDuringQuestion) }

func testFullDiskDuringQuestion(t *testing.T, protocol string) {
	t.Parallel()
	unshare := unsharing(t)
	project := checkout.Directory(t)
	write(t, `{"name":"question"}`, project, "server.d/server.meta.json")
	script := write(t, `#!/bin/bash
source "${MCP_SDK}/tool-sdk.sh"
mcp_into fill mcp_args_get .fill
trap 'echo ended >"$fill.ended"' EXIT
(read -r _ <"$fill"; head -c 4000000 /dev/zero >"$TMPDIR/fill" || :; : >"$fill.done") >/dev/null 2>&1 &
mcp_elicit_string 'What?'
`, project, "tools/ask/tool.sh")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, `{"name":"ask"}`, project, "tools/ask/tool.meta.json")
	for name, tc := range map[string]struct {
		setup, says string
		length      int
	}{
		"short": {setup: `mount -t tmpfs -o size=1m small "$TMPDIR"`, length: 3000},
		"long":  {setup: `mount -t tmpfs -o size=1m small "$TMPDIR"`, length: 300_000, says: "no space left on device"},
		"limit": {setup: `ulimit -f 256`, length: 300_000, says: "file too large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here := checkout.Directory(t)
			fill, small := filepath.Join(here, "fill"), filepath.Join(here, "server")
			run := "#!/bin/sh\nexec " + unshare + ` -r -m sh -c '` + tc.setup + ` && cd "$TMPDIR" && exec "$1"' sh "` +
				filepath.Join(bin, "mcp-bash") + "\"\n"
			if err := errors.Join(unix.Mkfifo(fill, 0o600), checkout.WriteProgram(small, []byte(run))); err != nil {
				t.Fatal(err)
			}
			answer := strings.Repeat("x", tc.length)
			s := open(t, project, opening{binary: small, revision: protocol, client: mcp.ClientOptions{
				ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					os.WriteFile(fill, []byte("\n"), 0o600)
					eventually(t, "the disk is full", func() bool { return exists(fill + ".done") })
					return accept(map[string]any{"value": answer}), nil
				},
			}})
			result, err := s.request(s.deadline(), "ask", arguments{"fill": fill})
			if tc.says == "" {
				if err != nil || text(t, result) != `{"action":"accept","content":{"value":"`+answer+`"}}` {
					t.Errorf("%s, %v", compact(t, result), err)
				}
				return
			}
			var rpc *jsonrpc.Error
			if !errors.As(err, &rpc) || rpc.Message != "Tool 'ask' cannot be given its client's answer" ||
				reason(err) != "the answer cannot be handed to the script: "+tc.says+
					"; MCPBASH_TMP_ROOT chooses another place for temporary files" {
				t.Errorf("%s, %v", compact(t, result), err)
			}
			eventually(t, "the tool has ended", func() bool { return exists(fill + ".ended") })
		})
	}
}
