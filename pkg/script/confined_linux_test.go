package script

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/confine"
)

// A scene is what scripts try to get at: a server's surroundings.
type scene struct {
	t                                  *testing.T
	dir, root, private, project, other string
	env                                []string
	runner                             Runner
}

func newScene(t *testing.T) *scene {
	t.Helper()
	if confine.Offered().None() {
		t.Skip("the kernel cannot confine")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, dir: dir}
	for _, d := range []struct {
		path *string
		name string
	}{{&s.root, "root"}, {&s.private, "private"}, {&s.project, "project"}, {&s.other, "other"}} {
		*d.path = filepath.Join(dir, d.name)
		for _, sub := range []string{"", "sub"} {
			if err := os.Mkdir(filepath.Join(*d.path, sub), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(*d.path, "file"), []byte("content of "+d.name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		program := []byte("#!/bin/sh\necho started\n")
		if err := os.WriteFile(filepath.Join(*d.path, "program"), program, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	local, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	abstract, err := net.Listen("unix", "@"+dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close(); local.Close(); abstract.Close() })
	s.env = append(env(), "SCENE="+dir, "ROOT="+s.root, "PRIVATE="+s.private, "PROJECT="+s.project, "OTHER="+s.other,
		"TMPDIR="+s.private, "TRY="+exe, "PORT="+strconv.Itoa(listener.Addr().(*net.TCPAddr).Port),
		"SECRET_OF_TEST=1", "SERVER="+strconv.Itoa(os.Getpid()), "LC_ALL=C")
	return s
}

// profile returns the profile that letters stand for: S reads the root, E writes there, N, P
// and F have network, processes and all files.
func (s *scene) profile(letters string) *confine.Profile {
	p := &confine.Profile{Programs: []string{s.project, filepath.Dir(s.exe())}, Write: []string{s.private}}
	for _, letter := range letters {
		switch letter {
		case 'S':
			p.Read = append(p.Read, s.root)
		case 'E':
			p.Write, p.Modes = append(p.Write, s.root), true
		case 'N':
			p.Network = true
		case 'P':
			p.Process = true
		case 'F':
			p.AllFiles = true
		}
	}
	return p
}

func (s *scene) exe() string {
	for _, e := range s.env {
		if exe, ok := strings.CutPrefix(e, "TRY="); ok {
			return exe
		}
	}
	return ""
}

func (s *scene) run(k confine.Kernel, p *confine.Profile, code string) Result {
	s.t.Helper()
	c, err := s.runner.Confine(k, p)
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Release()
	return s.runner.Run(context.Background(), Spec{
		Argv: []string{"bash", "-c", code}, Dir: s.project, Env: s.env, Confined: c, Timeout: 20 * time.Second,
	})
}

// attempts are what a script may try, in Bash, and with which capabilities it succeeds: each word
// of with names some that suffice together, "" none at all, "-" that nothing does.
var attempts = []struct {
	name, code, with string
}{
	{"read own program", `cat "$PROJECT/file"`, ""},
	{"write own directory", `echo x >"$PRIVATE/new" && mv "$PRIVATE/new" "$PRIVATE/sub/new" && rm "$PRIVATE/sub/new"`, ""},
	{"pipeline", `printf 'b\na\n' | sort | grep -q a && [ "$(sed s/x/y/ <<<x)" = y ]`, ""},
	{"null and here document", `cat >/dev/null <<<"$(printf '%70000s' x)" 2>/dev/null`, ""},
	{"descriptors of its own", `echo x >/dev/stdout && : >/dev/fd/2 && cat <(echo y)`, ""},
	{"start own program", `"$PROJECT/program"`, ""},
	{"signal a child", `sleep 30 & kill $! && ! wait $!`, ""},
	{"signal its group", `trap : USR1; kill -USR1 0`, ""},
	{"look itself up", `id -u && getent passwd 0`, ""},

	{"read a root", `cat "$ROOT/file"`, "S E F"},
	{"list a root", `ls "$ROOT"`, "S E F"},
	{"read through dots", `cat "$PROJECT/../root/sub/../file"`, "S E F"},
	{"write a root", `echo x >"$ROOT/new"`, "E F"},
	{"append in a root", `echo x >>"$ROOT/file"`, "E F"},
	{"truncate in a root", `truncate -s 3 "$ROOT/file"`, "E F"},
	{"remove in a root", `cp "$PROJECT/file" "$ROOT/doomed"; rm "$ROOT/doomed"`, "E F"},
	{"rename in a root", `cp "$PROJECT/file" "$ROOT/a" && mv "$ROOT/a" "$ROOT/sub/a"`, "E F"},
	{"make a directory in a root", `d="$ROOT/d$RANDOM$RANDOM"; mkdir "$d" && rmdir "$d"`, "E F"},
	{"make a link in a root", `ln -sf x "$ROOT/link"`, "E F"},
	{"make a pipe in a root", `p="$ROOT/p$RANDOM$RANDOM"; mkfifo "$p" && rm "$p"`, "E F"},
	{"start from a root", `"$ROOT/program"`, "SP EP F"},
	{"start what it wrote", `cp "$PROJECT/program" "$PRIVATE/p$$" && "$PRIVATE/p$$"`, "P F"},
	{"change a mode", `chmod 755 "$ROOT/program"`, "E F"},
	{"change a mode beside", `chmod 755 "$OTHER/program"`, "E F"},
	{"set an attribute", `"$TRY" xattr "$OTHER/file"`, "E F"},

	{"read beside", `cat "$OTHER/file"`, "F"},
	{"list beside", `ls "$OTHER"`, "F"},
	{"list above", `ls "$SCENE"`, "F"},
	{"read by relative path", `cat ../other/file`, "F"},
	{"read after chdir", `cd "$OTHER" && cat file`, "F"},
	{"read through own link", `ln -sf "$OTHER/file" "$PRIVATE/l" && cat "$PRIVATE/l"`, "F"},
	{"read through proc root", `cat "/proc/self/root$OTHER/file"`, "F"},
	{"read through proc cwd", `cat /proc/self/cwd/../other/file`, "F"},
	{"read through a held directory", `cd "$OTHER" && cat /proc/self/cwd/file`, "F"},
	{"hard link out", `ln "$OTHER/file" "$PRIVATE/h$$" && cat "$PRIVATE/h$$"`, "F"},
	{"hard link in", `ln "$PRIVATE/file" "$OTHER/h$$"`, "F"},
	{"rename out", `cp "$PROJECT/file" "$PRIVATE/r" && mv "$PRIVATE/r" "$OTHER/r$$"`, "F"},
	{"rename in", `mv "$OTHER/file" "$PRIVATE/stolen" && mv "$PRIVATE/stolen" "$OTHER/file"`, "F"},
	{"rename a directory in", `mv "$OTHER/sub" "$PRIVATE/stolen" && mv "$PRIVATE/stolen" "$OTHER/sub"`, "F"},
	{"write beside", `echo x >"$OTHER/new"`, "F"},
	{"truncate beside", `truncate -s 0 "$OTHER/sub/../file" && echo x >"$OTHER/file"`, "F"},
	{"remove beside", `cp "$OTHER/file" "$OTHER/doomed" && rm "$OTHER/doomed"`, "F"},
	{"write own program", `echo x >>"$PROJECT/program.new"`, "F"},
	{"replace own program", `cp "$PROJECT/program" "$PROJECT/p$$" && mv "$PROJECT/p$$" "$PROJECT/program"`, "F"},
	{"start from beside", `"$OTHER/program"`, "F"},
	{"read by another shell", `sh -c 'cat "$OTHER/file"'`, "F"},
	{"read from a child that stays", `(setsid bash -c 'sleep 0.05; cat "$OTHER/file" >"$PRIVATE/out"' &) ; sleep 0.5
		s="$(<"$PRIVATE/out")"; rm -f "$PRIVATE/out"; [ -n "$s" ]`, "F"},
	{"read as the loader", `for l in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do
		[ -e "$l" ] && "$l" /bin/cat "$OTHER/file" && exit; done; exit 1`, "F"},
	{"read with a preloaded library", `LD_PRELOAD="$OTHER/file" cat "$OTHER/file"`, "F"},
	{"read shadow", `cat /etc/shadow`, "F"},
	{"write to the temporary files of all", `f=/tmp/confined.$$.$RANDOM; echo x >"$f" && rm "$f"`, "F"},
	{"write to shared memory", `f=/dev/shm/confined.$$.$RANDOM; echo x >"$f" && rm "$f"`, "F"},
	{"write a system setting", `f=/etc/confined.$$; echo x >"$f" && rm "$f"`, "F"},

	{"TCP", `exec 3<>"/dev/tcp/127.0.0.1/$PORT"`, "N"},
	{"TCP in C", `"$TRY" tcp`, "N"},
	{"TCP listener", `"$TRY" listen`, "N"},
	{"UDP", `"$TRY" udp`, "N"},
	{"netlink", `"$TRY" netlink`, "N"},
	{"Unix socket", `"$TRY" unix`, "NP"},
	{"Unix socket, abstract", `"$TRY" abstract`, "NP"},
	{"Unix datagram to anybody", `"$TRY" pair`, "NP"},
	{"connected pair", `"$TRY" streampair`, ""},
	{"raw socket", `"$TRY" raw`, "-"},
	{"packet socket", `"$TRY" packet`, "-"},
	{"vsock", `"$TRY" vsock`, "-"},
	{"algorithm socket", `"$TRY" alg`, "-"},
	{"socket by the x32 ABI", `"$TRY" x32`, "-"},
	{"io_uring", `"$TRY" uring`, "-"},
	{"bpf", `"$TRY" bpf`, "-"},
	{"perf", `"$TRY" perf`, "-"},
	{"userfaultfd", `"$TRY" userfault`, "-"},
	{"keyring", `"$TRY" keyring`, "F"},
	{"mount", `"$TRY" mount`, "-"},

	{"signal the server", `kill -0 $SERVER`, "P"},
	{"signal the server's group", `kill -0 -$(ps -o pgid= $SERVER | tr -d ' ')`, "P"},
	{"signal init", `kill -0 1`, "P"},
	{"signal the server's threads", `"$TRY" threads`, "P"},
	{"signal by descriptor", `"$TRY" pidfd`, "P"},
	{"signal by owner of a pipe", `"$TRY" owner`, "P"},
	{"limits of the server", `prlimit --pid $SERVER --nofile`, "P"},
	{"trace the server", `"$TRY" trace`, "-"},
	{"memory of the server", `"$TRY" memory`, "-"},
	{"memory of the server's threads by file", `"$TRY" memoryfile`, "-"},
	{"environment of the server", `for t in /proc/$SERVER/task/*; do
		tr '\0' '\n' <"$t/environ" | grep . && exit; done; exit 1`, "-"},
	{"descriptors of the server", `for t in /proc/$SERVER/task/*; do readlink "$t/fd/0" && exit; done; exit 1`, "-"},
	{"root of the server", `for t in /proc/$SERVER/task/*; do ls "$t/root/" && exit; done; exit 1`, "-"},
	{"directory of the server", `for t in /proc/$SERVER/task/*; do ls "$t/cwd/" && exit; done; exit 1`, "-"},
	{"more privileges", `grep -q 'NoNewPrivs:.0' /proc/self/status`, "-"},
	{"tracing by capability", `(( (0x$(sed -n 's/^CapEff:.//p' /proc/self/status) >> 19) & 1 ))`, "-"},
}

// ofRoot are attempts that others than root fail at in any case.
var ofRoot = []string{"read shadow", "write a system setting", "signal init"}

// suffices reports whether letters hold one of the words of with.
func suffices(letters, with string) bool {
	if with == "" {
		return true
	}
	for word := range strings.FieldsSeq(with) {
		all := true
		for _, letter := range word {
			all = all && strings.ContainsRune(letters, letter)
		}
		if all {
			return true
		}
	}
	return false
}

// Whatever a script tries succeeds with what it declares, and fails without (CF-10 to CF-27).
func TestEscapes(t *testing.T) {
	s := newScene(t)
	k := confine.Offered()
	for _, letters := range []string{"", "S", "E", "N", "SP", "EP", "NP", "F", "FN", "FP"} {
		p := s.profile(letters)
		if lacks := k.Lacks(p); lacks != nil {
			t.Logf("%q: this kernel cannot hold %s", letters, lacks)
			continue
		}
		t.Run("with "+letters, func(t *testing.T) {
			s.t = t
			for _, a := range attempts {
				res := s.run(k, p, a.code)
				want := suffices(letters, a.with) && (os.Geteuid() == 0 || !slices.Contains(ofRoot, a.name))
				if got := res.Status == 0; got != want {
					t.Errorf("%s: succeeded: %t, want %t\n%s%s", a.name, got, want, res.Stdout, res.Stderr)
				}
			}
		})
	}
}

func init() {
	if len(os.Args) == 2 && os.Getenv("SECRET_OF_TEST") != "" && tricks[os.Args[1]] != nil ||
		len(os.Args) == 3 && os.Args[1] == "xattr" {
		if err := tricks[os.Args[1]](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// tricks are attempts that take system calls of their own.
var tricks = map[string]func() error{
	"xattr": func() error {
		if err := unix.Removexattr(os.Args[2], "user.none"); err == unix.EACCES {
			return err
		}
		return nil
	},
	"tcp":        func() error { return connect("tcp", "127.0.0.1:"+os.Getenv("PORT")) },
	"udp":        func() error { return connect("udp", "127.0.0.1:"+os.Getenv("PORT")) },
	"unix":       func() error { return connect("unix", os.Getenv("SCENE")+"/socket") },
	"abstract":   func() error { return connect("unix", "@"+os.Getenv("SCENE")) },
	"listen":     func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err },
	"netlink":    func() error { return socket(unix.AF_NETLINK, unix.SOCK_RAW) },
	"raw":        func() error { return socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC) },
	"packet":     func() error { return socket(unix.AF_PACKET, unix.SOCK_RAW) },
	"vsock":      func() error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM) },
	"alg":        func() error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET) },
	"pair":       func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0); return err },
	"streampair": func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
	"x32":        func() error { return call(0x40000000|unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM, 0) },
	"uring": func() error {
		var params [120]byte
		return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	},
	"bpf": func() error { var attr [128]byte; return call(unix.SYS_BPF, 0, uintptr(unsafe.Pointer(&attr)), 128) },
	"perf": func() error {
		var attr [128]byte
		return call(unix.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&attr)), 0, 0)
	},
	"userfault": func() error { return call(unix.SYS_USERFAULTFD, 1, 0, 0) },
	"keyring":   func() error { _, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, true); return err },
	"mount":     mount,
	"threads": func() error {
		return eachThread(func(tid int) error {
			return anyOf(unix.Kill(tid, 0), call(unix.SYS_TKILL, uintptr(tid), 0, 0),
				unix.Tgkill(server(), tid, 0))
		})
	},
	"pidfd": func() error {
		return eachThread(func(tid int) error {
			fd, err := unix.PidfdOpen(tid, unix.O_EXCL) // PIDFD_THREAD
			if err != nil {
				fd, err = unix.Open("/proc/"+strconv.Itoa(tid), unix.O_DIRECTORY|unix.O_RDONLY, 0)
			}
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			return unix.PidfdSendSignal(fd, 0, nil, 0)
		})
	},
	"owner": func() error {
		var pipe [2]int
		if err := unix.Pipe(pipe[:]); err != nil {
			return err
		}
		return eachThread(func(tid int) error {
			_, err := unix.FcntlInt(uintptr(pipe[0]), unix.F_SETOWN, tid)
			return err
		})
	},
	"trace": func() error { return eachThread(unix.PtraceSeize) },
	"memory": func() error {
		return eachThread(func(tid int) error {
			var b [1]byte
			_, err := unix.ProcessVMReadv(tid, []unix.Iovec{{Base: &b[0], Len: 1}}, []unix.RemoteIovec{{Base: 1, Len: 1}}, 0)
			if err == unix.EFAULT { // it was looked at
				return nil
			}
			return err
		})
	},
	"memoryfile": func() error {
		return eachThread(func(tid int) error {
			_, err := os.Open(fmt.Sprintf("/proc/%d/mem", tid))
			return err
		})
	},
}

func server() int { pid, _ := strconv.Atoi(os.Getenv("SERVER")); return pid }

// eachThread does something to each thread of the server until it succeeds.
func eachThread(do func(tid int) error) error {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%s/task", os.Getenv("SERVER")))
	if err != nil {
		return err
	}
	for _, e := range list {
		tid, _ := strconv.Atoi(e.Name())
		if err = do(tid); err == nil {
			return nil
		}
	}
	return err
}

func anyOf(errs ...error) error {
	for _, err := range errs {
		if err == nil {
			return nil
		}
	}
	return errs[0]
}

// call makes a system call, and fails when that is refused; whether it does anything
// with such arguments is another question.
func call(number, a, b, c uintptr) error {
	switch _, _, errno := unix.Syscall(number, a, b, c); errno {
	case unix.EACCES, unix.ENOSYS, unix.EPERM, unix.ESRCH:
		return errno
	}
	return nil
}

func mount() error {
	dir := os.Getenv("PRIVATE") + "/sub"
	if err := unix.Mount("none", dir, "tmpfs", 0, ""); err != nil {
		return err
	}
	return unix.Unmount(dir, 0)
}

func connect(network, address string) error { _, err := net.Dial(network, address); return err }

func socket(family, kind int) error { _, err := unix.Socket(family, kind, 0); return err }

// On an older kernel a domain holds what that one can, and what it cannot is known before (CF-30).
func TestOlderKernels(t *testing.T) {
	s := newScene(t)
	now := confine.Offered()
	for abi := range now.ABI {
		k := now
		k.ABI = abi
		for _, letters := range []string{"", "S", "E", "N"} {
			p := s.profile(letters)
			lacks := k.Lacks(p)
			for _, a := range attempts {
				switch a.name {
				case "read beside", "write beside", "write own program", "hard link out":
					if abi < 1 {
						continue
					}
				case "truncate in a root", "truncate beside":
					if abi < 3 {
						continue
					}
				case "TCP", "UDP", "Unix socket", "trace the server", "io_uring", "memory of the server", "pipeline",
					"null and here document":
				default:
					continue
				}
				if res := s.run(k, p, a.code); (res.Status == 0) != suffices(letters, a.with) {
					t.Errorf("ABI %d, with %q: %s: %+v", abi, letters, a.name, res)
				}
			}
			for what, lacking := range map[string]bool{
				"files": abi < 1, "truncating files": abi == 1 || abi == 2, "signals": abi < 6,
			} {
				if slices.Contains(lacks, what) != lacking {
					t.Errorf("ABI %d, with %q: lacks %q", abi, letters, lacks)
				}
			}
		}
	}
}

// A confinement that cannot be made starts nothing, is tried again the next time, and leaves
// no thread (CF-4).
func TestConfinementFails(t *testing.T) {
	s := newScene(t)
	failure := errors.New("injected")
	enter = func(confine.Kernel, *confine.Profile) error { return failure }
	t.Cleanup(func() { enter = confine.Kernel.Enter })
	before := threads(t)
	for range 50 {
		if c, err := s.runner.Confine(confine.Offered(), s.profile("")); c != nil || err != failure {
			t.Fatalf("%v, %v", c, err)
		}
	}
	settle(t, func() bool { return threads(t) < before+20 })
	enter = confine.Kernel.Enter
	if res := s.run(confine.Offered(), s.profile(""), `cat "$OTHER/file"`); res.Status == 0 {
		t.Errorf("%+v", res)
	}
}

// Threads are shared by scripts that are held to the same, bounded in number when idle, and
// ended when they were idle for long, but not before their scripts.
func TestConfinementsComeAndGo(t *testing.T) {
	s := newScene(t)
	k, same := confine.Offered(), s.profile("S")
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			p := same
			if i%2 == 0 {
				p = s.profile("")
				p.Read = []string{filepath.Join(s.dir, strconv.Itoa(i))}
			}
			c, err := s.runner.Confine(k, p)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Release()
			res := s.runner.Run(context.Background(), Spec{
				Argv: []string{"bash", "-c", `cat "$PROJECT/file" && ! cat "$OTHER/file"`}, Dir: s.project, Env: s.env, Confined: c,
			})
			if res.Status != 0 {
				t.Errorf("%+v", res)
			}
		})
	}
	all.Wait()
	confined := &s.runner.confined
	count := func() int { confined.mu.Lock(); defer confined.mu.Unlock(); return len(confined.byKey) }
	if n := count(); n != 13 {
		t.Errorf("%d confinements, want 13", n)
	}
	for i := range 2 * idleConfinements {
		p := s.profile("")
		p.Read = []string{filepath.Join(s.dir, "idle"+strconv.Itoa(i))}
		c, err := s.runner.Confine(k, p)
		if err != nil {
			t.Fatal(err)
		}
		c.Release()
	}
	if n := count(); n != idleConfinements {
		t.Errorf("%d confinements, want %d", n, idleConfinements)
	}
	held, err := s.runner.Confine(k, same)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan Result)
	go func() {
		done <- s.runner.Run(context.Background(), Spec{
			Argv: []string{"bash", "-c", `echo >"$PRIVATE/on"; while [ ! -e "$PRIVATE/go" ]; do sleep 0.02; done; echo end`},
			Env:  s.env, Confined: held,
		})
	}()
	settle(t, func() bool { _, err := os.Stat(s.private + "/on"); return err == nil })
	confined.mu.Lock()
	confined.sweep(0)
	confined.mu.Unlock()
	if n := count(); n != 1 {
		t.Errorf("%d confinements, want the one in use", n)
	}
	if err := os.WriteFile(s.private+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if res := <-done; string(res.Stdout) != "end\n" {
		t.Errorf("%+v", res)
	}
	tid := held.c.thread
	held.Release()
	confined.mu.Lock()
	confined.sweep(0)
	confined.mu.Unlock()
	settle(t, func() bool { _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", tid)); return err != nil })
}

// The kernel ends a confined script with us, as it does any other.
func TestConfinedDeathSignal(t *testing.T) {
	s := newScene(t)
	c, err := s.runner.Confine(confine.Offered(), s.profile(""))
	if err != nil {
		t.Fatal(err)
	}
	done, started := make(chan Result), make(chan bool)
	go func() {
		tell := sync.OnceFunc(func() { close(started) })
		done <- s.runner.Run(context.Background(), Spec{
			Argv: []string{"sleep", "60"}, Env: s.env, Confined: c,
			Watch: func(time.Time) error { tell(); return nil },
		})
	}()
	<-started
	close(c.c.work) // its thread ends as if with the process
	if res := <-done; res.Signal != int(unix.SIGKILL) {
		t.Errorf("%+v", res)
	}
}

func threads(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// settle waits for something that comes to be by itself.
func settle(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come to be")
		}
	}
}

// What it takes to start a script that is confined, beside one that is not.
func BenchmarkConfined(b *testing.B) {
	dir := b.TempDir()
	var r Runner
	p := &confine.Profile{Programs: []string{dir}, Write: []string{dir}}
	spec := Spec{Argv: []string{"/bin/true"}, Dir: dir, Env: env()}
	var took [2]time.Duration
	for range b.N {
		for i := range took {
			began := time.Now()
			one := spec
			if i == 1 {
				c, err := r.Confine(confine.Offered(), p)
				if err != nil {
					b.Fatal(err)
				}
				one.Confined = c
			}
			if res := r.Run(context.Background(), one); res.Status != 0 {
				b.Fatalf("%+v", res)
			}
			if one.Confined != nil {
				one.Confined.Release()
			}
			took[i] += time.Since(began)
		}
	}
	b.ReportMetric(float64(took[0].Microseconds())/float64(b.N), "µs/free")
	b.ReportMetric(float64(took[1].Microseconds())/float64(b.N), "µs/confined")
}
