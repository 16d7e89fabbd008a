//go:build amd64 || arm64

package observe

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
)

// A fixture has a directory that observed scripts may write to, and one that they may not read.
type fixture struct {
	own, other string
	kernel     confine.Kernel
	runner     script.Runner
	profile    confine.Profile
	env        []string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &fixture{own: filepath.Join(dir, "own"), other: filepath.Join(dir, "other"), kernel: confine.Offered()}
	for _, d := range []string{s.own, s.other} {
		if err := os.MkdirAll(filepath.Join(d, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"file": "text\n", "program": "#!/bin/sh\necho started\n"} {
			if err := os.WriteFile(filepath.Join(d, name), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Symlink(s.other, filepath.Join(s.own, "link")); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.profile = confine.Profile{Programs: []string{exe}, Write: []string{s.own}}
	const used = "bash sh cat ls sort id getent rm mkdir rmdir mv ln mkfifo truncate chmod sleep setsid"
	for name := range strings.FieldsSeq(used) {
		if program, err := filepath.EvalSymlinks(script.LookPath(name, os.Getenv("PATH"))); err == nil {
			s.profile.Programs = append(s.profile.Programs, program)
		}
	}
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "OWN=" + s.own, "OTHER=" + s.other, "TRY=" + exe,
	}
	return s
}

// run observes Bash code and returns its denied accesses. With enforce, the code is also confined.
func (s *fixture) run(t *testing.T, enforce bool, code string, env ...string) (Report, script.Result) {
	t.Helper()
	var session *Session
	c, err := s.runner.Prepared(func() (err error) {
		session, err = Enter(s.kernel, &s.profile, enforce)
		return err
	})
	if err != nil {
		t.Skip(err)
	}
	defer c.Release()
	res := s.runner.Run(context.Background(), script.Spec{
		Argv: []string{"bash", "-c", code}, Dir: s.own, Env: append(env, s.env...), Confined: c,
	})
	return session.Report(), res
}

// lines returns accesses as text, in order, without differences between machines.
func (s *fixture) lines(r Report) []string {
	var list []string
	for _, a := range r.Accesses {
		text := string(a.Kind)
		for _, part := range []string{a.Path, a.Name} {
			if part != "" {
				text += " " + part
			}
		}
		if a.Port != 0 {
			text += " " + strconv.Itoa(a.Port)
		}
		list = append(list, strings.NewReplacer(s.other, "OTHER", s.own, "OWN").Replace(text)+" by "+a.Program)
	}
	return list
}

// shell is the program behind /bin/sh.
var shell = func() string { sh, _ := filepath.EvalSymlinks("/bin/sh"); return filepath.Base(sh) }()

// CF-50, CF-51: accesses that the profile does not permit are reported, whether or not the script
// is confined. Permitted ones are not reported.
func TestObserve(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	lacks := confine.Offered().Lacks(&confine.Profile{})
	for _, c := range []struct {
		code       string
		free, held string // reported accesses; confined "" means the same
	}{
		{`:`, "", ""},
		{`cat file </dev/null >sub/new && rm sub/new; echo x >/dev/null; ls / >/dev/null`, "read / by ls", ""},
		{`echo <(:) >/dev/stdout; : >/dev/fd/2; cat /proc/self/status | sort >/dev/null`, "", ""},
		{`read -r x <"$OTHER/file"`, "read OTHER/file by bash", ""},
		{`cat "$OTHER/sub/../file" "$OTHER/file" "$OTHER/none"`, "read OTHER/file by cat", ""},
		{`cat link/file`, "read OTHER/file by cat", ""},
		{`cd /; cat "${OTHER#/}/file"`, "read OTHER/file by cat", ""},
		{`ls link/`, "read OTHER by ls", ""},
		{`echo x >"$OTHER/file"`, "write OTHER/file by bash", ""},
		{`echo x >>"$OTHER/new"; cat "$OTHER/new"`, "change OTHER/new by bash,read OTHER/new by cat",
			"change OTHER/new by bash"},
		{`mkdir -p "$OTHER/sub/a"`, "change OTHER/sub/a by mkdir", ""},
		{`mv "$OTHER/file" "$OTHER/moved"`, "change OTHER/file by mv,change OTHER/moved by mv", ""},
		{`mv "$OTHER/none" "$OTHER/moved"; rm -f "$OTHER/none"; mkdir "$OTHER/sub"; rmdir "$OTHER/none"`, "", ""},
		{`rm "$OTHER/file"`, "change OTHER/file by rm", ""},
		{`ln -s x "$OTHER/l"`, "change OTHER/l by ln", ""},
		{`ln "$OTHER/file" "$OTHER/hard"`, "change OTHER/hard by ln", ""},
		{`mkfifo "$OTHER/pipe"`, "change OTHER/pipe by mkfifo", ""},
		{`truncate -s 1 "$OTHER/file"`, "write OTHER/file by truncate", ""},
		{`chmod 700 "$OTHER/file"`, "modes OTHER/file by chmod", ""},
		{`chmod 700 file`, "modes OWN/file by chmod", ""},
		{`"$OTHER/program"`, "start OTHER/program by bash,read OTHER/program by sh",
			"start OTHER/program by bash,read OTHER/program by bash"}, // Bash reads the file to find its type
		{`./program`, "start OWN/program by bash", ""},
		{`"$TRY" nothing; id; getent passwd 0`, "", ""},
		{`PATH=/nowhere:$OTHER:$PATH; program`, "start OTHER/program by bash,read OTHER/program by sh",
			"start OTHER/program by bash,read OTHER/program by bash"},
		{`echo x 2>/dev/null >/dev/tcp/127.0.0.1/` + port, "connect tcp " + port + " by bash", "socket tcp by bash"},
		{`echo x >/dev/udp/127.0.0.1/9`, "connect udp 9 by bash", "socket udp by bash"},
		{`kill -0 $TEST`, "signal " + strconv.Itoa(os.Getpid()) + " (observe.test) by bash", ""},
		{`sleep 30 & kill $!; (while :; do :; done) & kill $!; kill -0 0; kill -0 $$`, "", ""},
		// The child, which is killed at once, is a target that can stop.
		{`sleep 30 & kill -STOP $!; s=$?; kill $!; exit $s`, "call kill by bash", ""},
		{`"$TRY" uring`, "call io_uring_setup by observe.test", ""},
		{`"$TRY" threads`, "read OTHER/file by observe.test,read OTHER/program by observe.test", ""},
		{`"$TRY" unix`, "connect OTHER/socket unix by observe.test", "socket unix by observe.test"},
		{`"$TRY" udp`, "send udp 9 by observe.test", "socket udp by observe.test"},
		{`"$TRY" raw`, "socket raw by observe.test", ""},
		{`"$TRY" udplite`, "socket protocol 136 by observe.test", ""},
		{`"$TRY" diag`, "socket netlink protocol 4 by observe.test", ""},
		{`"$TRY" fchmod`, "modes OWN/file by observe.test", ""},
		{`"$TRY" fchmodopen`, "", ""},
		{`"$TRY" fsetxattr`, "modes OWN/file by observe.test", ""},
		{`"$TRY" setflags`, "modes OWN/file by observe.test", ""},
		{`"$TRY" terminal; TMPDIR=$OWN; read -r x < <(:) <<<"$(printf '%70000s' x)"`, "", ""},
		{`"$TRY" type`, "call ioctl by observe.test", ""},
		{`"$TRY" affinity`, "call sched_setaffinity by observe.test", ""},
		{`"$TRY" watch`, "call inotify_init by observe.test", ""},
		{`"$TRY" attribute`, "", ""},
		{`"$TRY" at`, "read OTHER/file by observe.test", ""},
	} {
		for _, enforce := range []bool{false, true} {
			signals := strings.HasPrefix(c.free, "signal ")
			if enforce && (slices.Contains(lacks, "files") || signals && slices.Contains(lacks, "signals")) {
				continue // the kernel does not support it
			}
			s := newFixture(t)
			socket, err := net.Listen("unix", filepath.Join(s.other, "socket"))
			if err != nil {
				t.Fatal(err)
			}
			r, res := s.run(t, enforce, c.code, "TEST="+strconv.Itoa(os.Getpid()))
			socket.Close()
			want := c.free
			if enforce && c.held != "" {
				want = c.held
			}
			want = strings.ReplaceAll(want, "by sh", "by "+shell)
			if got := strings.Join(s.lines(r), ","); got != want || r.Dropped+r.Unread > 0 {
				t.Errorf("%s\nheld %t: %q, want %q (%+v)\n%s", c.code, enforce, got, want, r, res.Stderr)
			}
			if c.free != "" && !strings.HasPrefix(c.free, "call ") && !enforce &&
				strings.Contains(string(res.Stderr), "denied") {
				t.Errorf("%s: %s", c.code, res.Stderr)
			}
			if enforce && want != "" && res.Status == 0 && !strings.Contains(c.code, "ls /") {
				t.Errorf("%s: it was not refused", c.code)
			}
		}
	}
}

// CF-55: the report contains whether a created entry can exist beforehand. Creating and removing an
// entry are two accesses.
func TestMade(t *testing.T) {
	for code, want := range map[string][]Made{
		`mkdir "$OTHER/a"`:                          {Directory},
		`echo x >"$OTHER/a"`:                        {File},
		`echo x >"$OTHER/a"; rm "$OTHER/a"`:         {File, ""},
		`mkfifo "$OTHER/a"`:                         {""},
		`ln -s x "$OTHER/a"`:                        {""},
		`ln "$OTHER/file" "$OTHER/a"`:               {""},
		`mv "$OTHER/file" "$OTHER/a"`:               {"", ""},
		`mkdir "$OTHER/a"; rmdir "$OTHER/a"`:        {Directory, ""},
		`mkdir "$OTHER/a"; mkdir -p "$OTHER/a"`:     {Directory},
		`echo x >"$OTHER/file"; rm -f "$OTHER/non"`: nil,
	} {
		r, _ := newFixture(t).run(t, false, code)
		var got []Made
		for _, a := range r.Accesses {
			if a.Kind == Change {
				got = append(got, a.Made)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}

// Accesses of unconfined scripts are reported as under a kernel with all features (CF-30).
func TestUnconfinedReportsAsTheFullKernel(t *testing.T) {
	s := newFixture(t)
	s.kernel = confine.Kernel{Filters: s.kernel.Filters}
	r, _ := s.run(t, false, `read -r x <"$OTHER/file"; kill -0 `+strconv.Itoa(os.Getpid()))
	want := []string{"read OTHER/file by bash", "signal " + strconv.Itoa(os.Getpid()) + " (observe.test) by bash"}
	if got := s.lines(r); !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A child that left its script is observed while the script runs, and continues after it.
func TestLeftBehind(t *testing.T) {
	s := newFixture(t)
	r, res := s.run(t, false, `mkfifo sub/on go; (setsid bash -c 'cat "$OTHER/file" >sub/early; echo >sub/on; read -r line <go
		cat "$OTHER/program" >sub/late; echo >sub/end' </dev/null >/dev/null 2>&1 &); read -r line <sub/on`)
	if got := s.lines(r); res.Status != 0 || !slices.Contains(got, "read OTHER/file by cat") {
		t.Errorf("%q %+v", got, res)
	}
	if err := os.WriteFile(filepath.Join(s.own, "go"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settle(t, func() bool { _, err := os.Stat(filepath.Join(s.own, "sub", "end")); return err == nil })
	if text, err := os.ReadFile(filepath.Join(s.own, "sub", "late")); len(text) == 0 {
		t.Error(err)
	}
}

// Calls that signals interrupt are repeated, and reported once.
func TestSignalsMeanwhile(t *testing.T) {
	s := newFixture(t)
	r, res := s.run(t, false, `trap : USR1; (while kill -USR1 $$; do :; done) 2>/dev/null & for ((i = 0; i < 2000; i++)); do
		read -r x <"$OTHER/file" || exit 1; done; until kill $!; do :; done`)
	if got := s.lines(r); res.Status != 0 || strings.Join(got, ",") != "read OTHER/file by bash" || r.Unread > 0 {
		t.Errorf("%q %+v", got, res)
	}
}

// The number of stored accesses is limited, and the report counts the others (CF-52).
func TestBound(t *testing.T) {
	s := newFixture(t)
	const more = 100
	r, _ := s.run(t, false, fmt.Sprintf(`for ((i = 0; i < %d; i++)); do : >"$OTHER/sub/$i"; done`, mostAccesses+more))
	if len(r.Accesses) != mostAccesses || r.Dropped != more {
		t.Errorf("%d accesses, %d dropped", len(r.Accesses), r.Dropped)
	}
}

// Starting an observed script does not wait for our other threads, during constant garbage
// collections and on one processor.
func TestStartsAmongGarbage(t *testing.T) {
	starts := 60
	if testing.Short() {
		starts = 12
	}
	for _, processors := range []int{1, 4} {
		func() {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			s := newFixture(t)
			stop := make(chan struct{})
			var busy sync.WaitGroup
			for range 4 {
				busy.Go(func() {
					var keep [][]byte
					for {
						select {
						case <-stop:
							return
						default:
							keep = append(keep[max(0, len(keep)-50):], make([]byte, 100_000))
						}
					}
				})
			}
			busy.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						runtime.GC()
					}
				}
			})
			defer busy.Wait()
			defer close(stop)
			for i := range starts {
				r, res := s.run(t, i%2 == 0 && confine.Offered().ABI > 0, `: <"$OTHER/file"; sleep 0`)
				if got := s.lines(r); !reflect.DeepEqual(got, []string{"read OTHER/file by bash"}) {
					t.Fatalf("%q %+v", got, res)
				}
			}
		}()
	}
}

// If observation is impossible, nothing starts and the error names the requirements (CF-54).
func TestCannotObserve(t *testing.T) {
	s := newFixture(t)
	c, err := s.runner.Prepared(func() error { _, err := Enter(confine.Kernel{}, &s.profile, true); return err })
	if c != nil || err == nil || !strings.Contains(err.Error(), "seccomp") {
		t.Errorf("%v, %v", c, err)
	}
}

// FuzzAddress parses addresses, which a process can set to any bytes.
func FuzzAddress(f *testing.F) {
	f.Add([]byte("\x02\x00\x01\xbb\x7f\x00\x00\x01"))
	f.Add([]byte("\x01\x00/run/x\x00y"))
	f.Add([]byte("\x01\x00\x00abstract"))
	f.Fuzz(func(t *testing.T, b []byte) {
		to := parseAddress(b)
		if to.port < 0 || to.port > 0xffff || len(to.name) > len(b) ||
			len(to.name) > 0 && to.name[0] != 0 && slices.Contains(to.name, 0) {
			t.Errorf("%+v", to)
		}
	})
}

// FuzzInterpreter parses first lines of arbitrary files.
func FuzzInterpreter(f *testing.F) {
	f.Add([]byte("#! /bin/sh -e\n"))
	f.Add([]byte("#!\t/usr/bin/env\tbash"))
	f.Fuzz(func(t *testing.T, head []byte) {
		if program := interpreter(head); strings.ContainsAny(program, " \t\n\x00") {
			t.Errorf("%q", program)
		}
	})
}

// Descriptors and threads of sessions end with their scripts.
func TestSessionsEnd(t *testing.T) {
	s := newFixture(t)
	s.run(t, true, ":")
	before := count(t, "/proc/self/fd")
	for range 30 {
		s.run(t, false, "cat file")
	}
	settle(t, func() bool { return count(t, "/proc/self/fd") <= before+1 })
}

func count(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// settle waits until a condition is true.
func settle(t *testing.T, so func() bool) {
	t.Helper()
	for end := time.Now().Add(90 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come to be")
		}
	}
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && tricks[os.Args[1]] != nil {
		if err := tricks[os.Args[1]](os.Getenv("OTHER")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// tricks are operations that Bash cannot do.
var tricks = map[string]func(other string) error{
	"uring": func(string) error {
		var params [120]byte
		_, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, bytesPointer(params[:]), 0)
		if errno == 0 {
			return nil
		}
		return errno
	},
	"threads": func(other string) error {
		var all sync.WaitGroup
		var failed error
		for _, name := range []string{"file", "program"} { // one after the other, each on a separate thread
			all.Go(func() {
				runtime.LockOSThread()
				if _, err := os.ReadFile(filepath.Join(other, name)); err != nil {
					failed = err
				}
			})
			all.Wait()
		}
		return failed
	},
	"nothing": func(string) error { return nil },
	"unix":    func(other string) error { _, err := net.Dial("unix", filepath.Join(other, "socket")); return err },
	"udp": func(string) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
		if err != nil {
			return err
		}
		return unix.Sendmsg(fd, []byte("x"), nil, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}}, 0)
	},
	"raw": func(string) error {
		_, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
		return err
	},
	"udplite": func(string) error {
		_, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_UDPLITE)
		return err
	},
	"diag": func(string) error {
		_, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG)
		return err
	},
	"fchmod":     onOwnFile(os.O_RDONLY, func(fd int) error { return unix.Fchmod(fd, 0o700) }),
	"fchmodopen": onOwnFile(os.O_WRONLY, func(fd int) error { return unix.Fchmod(fd, 0o700) }),
	"fsetxattr":  onOwnFile(os.O_WRONLY, func(fd int) error { return unix.Fsetxattr(fd, "user.x", nil, 0) }),
	"setflags": onOwnFile(os.O_RDONLY, func(fd int) error {
		flags, _ := unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS) // before Linux 6.6 tmpfs does not support it
		return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(flags))
	}),
	"terminal": func(string) error { unix.IoctlGetTermios(0, unix.TCGETS); return nil },
	"type":     func(string) error { return unix.IoctlSetPointerInt(0, unix.TIOCSTI, 0) },
	"affinity": func(string) error {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(os.Getppid(), &set); err != nil {
			return err
		}
		return unix.SchedSetaffinity(os.Getppid(), &set)
	},
	"watch": func(string) error { _, err := unix.InotifyInit1(0); return err },
	"attribute": func(other string) error {
		_, err := unix.Listxattr(filepath.Join(other, "file"), nil)
		return err
	},
	"at": func(other string) error {
		dir, err := unix.Open(other, unix.O_PATH|unix.O_DIRECTORY, 0)
		if err != nil {
			return err
		}
		_, err = unix.Openat2(dir, "file", &unix.OpenHow{Flags: unix.O_RDONLY})
		return err
	},
}

func onOwnFile(flags int, do func(fd int) error) func(string) error {
	return func(string) error {
		f, err := os.OpenFile(filepath.Join(os.Getenv("OWN"), "file"), flags, 0)
		if err != nil {
			return err
		}
		return do(int(f.Fd()))
	}
}

func bytesPointer(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }
