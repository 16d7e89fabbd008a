package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/test/checkout"
)

// unsharing is the program that makes a mount namespace, in which a small disk can be had
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
	if err := os.WriteFile(small, []byte(script), 0o755); err != nil {
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
