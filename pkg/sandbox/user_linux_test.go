package sandbox

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// An ordinary user's tools are confined as those of root are (CF-10 to CF-27, CF-60, CF-61).
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the other tests run as an ordinary user already")
	}
	withLandlock(t)
	try, err := buildTry()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "mcp-bash-user.") // not below t.TempDir, which others cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const nobody = 65534
	tmp := filepath.Join(dir, "tmp")
	for _, err := range []error{
		os.Chmod(dir, 0o755), os.Mkdir(tmp, 0o700), os.Chown(tmp, nobody, nobody),
		copyProgram(os.Args[0], dir+"/tests"), copyProgram(try, dir+"/try"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	capabilities := "|S|E|SP|EP|F|FP"
	if testing.Short() {
		capabilities = "|E|FP"
	}
	for _, tests := range []string{
		"^TestEscapes$/^declared_with_(" + capabilities + ")$",
		"^Test(TableIsNotWritten|ListedScripts|HardLinks|BindMounts|WhatExecTakes|PrefixHoldsSecrets|ExchangedLinks|" +
			"ProgramsBelowARoot|FirstLines|ToolsThatShareAScript|WhatRunsNext|" +
			"Extras|ControlFilesThatAreDeclared|ModesOfExchangedDescriptors|ProgramsThatKeepModes)$",
	} {
		cmd := exec.Command(dir+"/tests", fmt.Sprintf("-test.short=%t", testing.Short()), "-test.run="+tests)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "HOME="+tmp, "MCPBASH_TEST_TRY="+dir+"/try")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Credential:  &syscall.Credential{Uid: nobody, Gid: nobody},
			AmbientCaps: []uintptr{unix.CAP_NET_RAW, unix.CAP_SYS_PTRACE}, // scripts do not inherit these (CF-22)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", tests, err, out)
		}
	}
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
