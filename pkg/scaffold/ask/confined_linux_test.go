package ask

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/run/confine"
)

// WRAP-14: a program that does something else when it is asked for help changes nothing
// outside its own directories. It cannot connect to or signal anything.
func TestConfined(t *testing.T) {
	if confine.Offered().Lacks(&confine.Profile{}) != nil {
		t.Skip("this kernel cannot hold all")
	}
	outside := t.TempDir()
	a, _ := programs(t, map[string]string{"wild": `
echo 'usage: wild [--help]'
echo x >` + outside + `/new && echo '  --wrote  x'
rm -rf ` + outside + ` && echo '  --removed  x'
: >/dev/udp/127.0.0.1/9 && echo '  --sent  x'
kill -0 $PPID && echo '  --signalled  x'
echo x >"$HOME/x" && echo x >"$TMPDIR/x" && [[ $(</etc/passwd) ]] && uname >/dev/null && echo '  --works  x'
`})
	p, err := a.Help(t.Context(), []string{"wild"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"--wrote", "--removed", "--sent", "--signalled"} {
		if has(p, name) {
			t.Errorf("%s was possible", name)
		}
	}
	if !has(p, "--works") {
		t.Error("what help may take was refused")
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

// WRAP-12: processes that outlive the help are killed, in their group, in another session,
// and their children.
func TestOutliving(t *testing.T) {
	place := t.TempDir()
	a, _ := programs(t, map[string]string{"lasting": `
exec 3>&1 >/dev/null 2>&1
sleep 1000 & echo $! >` + place + `/group
setsid bash -c 'echo $$ >` + place + `/session; sleep 1000 & echo $! >` + place + `/child; echo >` + place + `/ready; wait' &
until [[ -e ` + place + `/ready ]]; do :; done
printf 'Usage: lasting [-a]\n\n  -a  all\n' >&3
`})
	a.kernel = func() confine.Kernel { return confine.Kernel{} } // the program writes its children down
	if p, err := a.Help(t.Context(), []string{"lasting"}); err != nil || !has(p, "-a") {
		t.Fatalf("%v, %+v", err, p)
	}
	for _, name := range []string{"group", "session", "child"} {
		text, err := os.ReadFile(filepath.Join(place, name))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		fd, err := unix.PidfdOpen(pid, 0)
		if err == unix.ESRCH {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		// A signal takes effect later than the call that sends it.
		ended := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ended, 10_000)
		for err == unix.EINTR {
			n, err = unix.Poll(ended, 10_000)
		}
		if n != 1 {
			t.Errorf("%s: process %d is alive (%v)", name, pid, err)
		}
		unix.Close(fd)
	}
}
