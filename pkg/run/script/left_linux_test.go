package script

import (
	"os/exec"
	"syscall"
	"testing"
)

// A lifeline distinguishes a group from a later one with the same number.
func TestTied(t *testing.T) {
	l, err := newLifeline()
	if err != nil || l == nil {
		t.Fatal(l, err)
	}
	defer l.close()
	group := exec.Command("sleep", "600")
	group.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := group.Start(); err != nil {
		t.Fatal(err)
	}
	l.own(-group.Process.Pid)
	if !l.tied() {
		t.Error("not tied to a group that is there")
	}
	group.Process.Kill()
	group.Wait()
	if l.tied() {
		t.Error("tied to a group that has ended")
	}
	l.release()
}
