package capacity

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The limits of this process. The test runs itself again below lower limits.
func TestProcessLimits(t *testing.T) {
	if os.Getenv("CAPACITY_TEST") != "" {
		c := Read("/")
		const large = 1 << 50 // more than a process uses
		unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: large, Max: large})
		fmt.Printf("files %d, processes %d, memory %t\n", c.Files, c.Processes, rlimit(unix.RLIMIT_AS) == large)
		return
	}
	for setting, want := range map[string]string{
		"ulimit -n 100":        "files 100,",
		"ulimit -u 90":         "processes 90,",
		":":                    "memory true",
		"ulimit -S -n 50":      "processes ", // the runtime raises it
		"ulimit -n 60; ulimit": "files 60,",
	} {
		again := exec.Command("bash", "-c", setting+`; exec "$0" "$@"`, os.Args[0], "-test.run=^TestProcessLimits$")
		again.Env = append(os.Environ(), "CAPACITY_TEST=1")
		out, err := again.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "files 50,") {
			t.Errorf("%s: %v %s", setting, err, out)
		}
	}
}

// The files of a tmpfs take memory.
func TestMemoryFiles(t *testing.T) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || !strings.Contains(string(mounts), " /dev/shm tmpfs ") {
		t.Skip("no tmpfs at /dev/shm")
	}
	if got := spaceOf("/dev/shm"); !got.Memory || got.Free <= 0 {
		t.Errorf("%+v", got)
	}
	if got := spaceOf("/proc/self"); got.Memory {
		t.Errorf("%+v", got)
	}
}
