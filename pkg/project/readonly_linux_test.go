package project

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// P-300: with a read-only root directory and no writable /tmp, the error names the reason and the remedy.
func TestReadOnlyTmp(t *testing.T) {
	const child = "MCPBASH_TEST_READ_ONLY"
	if os.Getenv(child) != "" {
		s := ReadSettings(Env{}, Dirs{})
		_, _, err := NewState(Env{}, &s)
		e, ok := errors.AsType[*NoStateError](err)
		if !ok || !errors.Is(err, syscall.EROFS) || e.Dir != "/tmp" || !strings.Contains(err.Error(), "read-only") ||
			!strings.Contains(err.Error(), "MCPBASH_TMP_ROOT") {
			t.Errorf("%v", err)
		}
		return
	}
	if err := exec.Command("unshare", "-r", "-m", "true").Run(); err != nil {
		t.Skip("needs unshare and user namespaces: ", err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test program may be below /tmp, so it is open before /tmp is replaced.
	cmd := exec.Command("unshare", "-r", "-m", "sh", "-c",
		`exec 9<"$1"; mount -t tmpfs -o ro none /tmp && exec /proc/self/fd/9 -test.run='^TestReadOnlyTmp$' -test.v`,
		"sh", program)
	// A program that records its coverage needs a folder for temporary files: its working directory stays writable.
	cmd.Env = append(os.Environ(), child+"=1", "TMPDIR=.")
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: TestReadOnlyTmp") {
		t.Errorf("%v\n%s", err, out)
	}
}

// P-300: the text for each kind of error.
func TestNoStateError(t *testing.T) {
	for want, err := range map[string]error{
		"file system of /t is read-only": syscall.EROFS, "no permission to write to /t": syscall.EACCES,
		"Windows path length limits may apply": syscall.ENOTDIR, "to a short, writable directory": fs.ErrNotExist,
	} {
		if e := (&NoStateError{"/t", err}); !strings.Contains(e.Error(), want) || !errors.Is(e, err) {
			t.Errorf("%v: %v", err, e)
		}
	}
}
