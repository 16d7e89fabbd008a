package stream

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// AUD-17: an entry that is too long for a datagram is sent as a sealed file.
func TestJournalLongEntry(t *testing.T) {
	path := socketPath(t)
	server := journald(t, path)
	s, warned := toJournal(t, path, Config{})
	r := s.out.(*receiver)
	line := []byte(strings.Repeat("x", 400_000) + "\n")
	if err := r.write(call("a"), line); err != nil {
		t.Fatal(err, warned())
	}
	control := make([]byte, 100)
	n, oob, _, _, err := server.ReadMsgUnix(make([]byte, 10), control)
	if err != nil || n != 0 {
		t.Fatal(n, err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:oob])
	if err != nil || len(messages) != 1 {
		t.Fatal(messages, err)
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	f := os.NewFile(uintptr(files[0]), "entry")
	defer f.Close()
	content := make([]byte, 500_000)
	n, _ = f.ReadAt(content, 0)
	if seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0); err != nil || seals != 15 ||
		!strings.HasSuffix(string(content[:n]), "\nMESSAGE="+string(line)) {
		t.Errorf("seals %d, %v, %d bytes", seals, err, n)
	}
}

// AUD-17: a real journald keeps the entries, also one that is too long for a datagram. It runs in its own mounts.
func TestRealJournald(t *testing.T) {
	const daemon = "/lib/systemd/systemd-journald"
	if os.Getenv("SINK_TEST_JOURNAL") != "" {
		s := openTest(t, Config{To: "journald"})
		emit(t, s, "short")
		if err := s.out.write(call("long"), []byte(`{"long":"`+strings.Repeat("x", 400_000)+"\"}\n")); err != nil {
			t.Error(err)
		}
		return
	}
	if _, err := os.Stat(daemon); err != nil || os.Geteuid() != 0 {
		t.Skip("left out: needs systemd-journald and root")
	}
	const script = `mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/journal /run/systemd/journald.conf.d /run/log/journal || exit 77
printf '[Journal]\nStorage=volatile\nReadKMsg=no\n' >/run/systemd/journald.conf.d/test.conf
"$1" >&2 & until [ -S /run/systemd/journal/socket ]; do kill -0 $! || exit 77; sleep 0.05; done
"$2" -test.run='^TestRealJournald$' >&2; journalctl --sync
journalctl --file="$(echo /run/log/journal/*/system.journal)" -o json --all SYSLOG_IDENTIFIER=mcp-bash-audit; kill $!`
	cmd := exec.Command("unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", daemon, os.Args[0])
	cmd.Env = append(os.Environ(), "SINK_TEST_JOURNAL=1")
	var errors strings.Builder
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77 || cmd.ProcessState == nil {
		t.Skip("left out: journald cannot run here: ", errors.String())
	}
	type entry struct {
		Message string `json:"MESSAGE"`
		Type    string `json:"MCPBASH_AUDIT_TYPE"`
		ID      string `json:"MCPBASH_AUDIT_ID"`
	}
	var entries []entry
	for line := range strings.Lines(string(out)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Error(err)
		}
		entries = append(entries, e)
	}
	if err != nil || len(entries) != 3 || !strings.Contains(entries[0].Message, `"name":"short"`) ||
		entries[0].Type != "mcp_tool_call" || len(entries[0].ID) != 32 || len(entries[1].Message) < 400_000 ||
		entries[2].Type != "mcpbash_seal" {
		t.Errorf("%v: %d entries\n%.2000s\n%s", err, len(entries), out, errors.String())
	}
}
