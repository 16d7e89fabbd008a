//go:build unix

package install

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mcp-bash/test/checkout"
)

// CLI-1710, CLI-1112: a newer version replaces an older one, the other way round only
// when that is asked for.
func TestUpgrade(t *testing.T) {
	for _, tc := range []struct {
		from, to string
		code     int
	}{
		{"1.9.9", "2.0.0", 0}, {"2.0.0", "2.0.0", 0}, {"2.0.0", "1.9.9", 3}, {"2.0.10", "2.0.9", 3}, {"2.0.9",
			"2.0.10", 0},
		{"2.1.0", "2.0.99", 3}, {"10.0.0", "9.9.9", 3}, {"2.0.0-rc.1", "2.0.0", 0}, {"2.0.0+build.5", "1.0.0", 3},
	} {
		t.Run(tc.from+" "+tc.to, func(t *testing.T) {
			t.Parallel()
			u := newUser(t)
			u.installs("--archive", unverified(t, pack(with(tc.from, map[string]string{"mcp-bash/bin/mcp-gone": "x"}))))
			if _, err := os.Stat(u.path(".local/bin/mcp-gone")); err != nil {
				t.Error(err)
			}
			archive := released(t, tc.to)
			if tc.code == 0 {
				u.installs("--archive", archive)
			} else {
				u.fails(tc.code, "Refusing to replace version "+tc.from+" with the older "+tc.to, "--archive", archive)
				if got := u.version(); got != tc.from {
					t.Errorf("now there is %q", got)
				}
				u.installs("--archive", archive, "--allow-downgrade")
			}
			if got := u.version(); got != tc.to {
				t.Errorf("now there is %q", got)
			}
			if _, err := os.Lstat(u.path(".local/bin/mcp-gone")); err == nil {
				t.Error("the link of a program that the new version lacks is left")
			}
			if left := u.leftovers(); left != nil {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// CLI-1710, CLI-1713: an installation of the Bash edition is replaced like any other. It does not list
// its files, so it is kept next to the new one.
func TestBashEdition(t *testing.T) {
	u := newUser(t)
	u.write(".local/share/mcp-bash/bin/mcp-bash", "#!/bin/bash\n", 0o755)
	u.write(".local/share/mcp-bash/VERSION", "1.3.0\n", 0o644)
	u.write(".local/share/mcp-bash/INSTALLER.json", `{"managed":true,"version":"1.3.0"}`, 0o644)
	u.write(".local/share/mcp-bash/handlers/tools.sh", "", 0o644)
	u.write(".local/share/mcp-bash/mine.txt", "mine", 0o644)
	u.write(".local/bin/x", "", 0o644)
	if err := os.Symlink("../share/mcp-bash/bin/mcp-bash", u.path(".local/bin/mcp-bash")); err != nil {
		t.Fatal(err)
	}
	r := u.installs("--archive", released(t, "2.0.0"))
	if got := u.version(); got != "2.0.0" {
		t.Errorf("now there is %q", got)
	}
	if _, err := os.Stat(filepath.Join(u.dir(), "handlers")); err == nil {
		t.Error("files of the old one are among those of the new one")
	}
	kept := u.leftovers()
	if len(kept) != 1 || !strings.Contains(r.out,
		"⚠ The old installation does not list its files, and is kept: "+kept[0]) {
		t.Fatalf("%q, %s", kept, r.out)
	}
	if text, err := os.ReadFile(filepath.Join(kept[0], "mine.txt")); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
}

// commands are those that install.sh starts on a usual path through it.
var commands = []string{hasher(), "sh", "awk", "cat", "chmod", "cmp", "cp", "date", "dirname", "find", "grep", "gzip",
	"dd", "head", "id", "ln", "ls", "mkdir", "mktemp", "mv", "readlink", "rm", "sed", "tail", "tar", "tr", "uname", "wc"}

// hasher returns the program that prints checksums on this system.
func hasher() string {
	if _, err := exec.LookPath("sha256sum"); err != nil {
		return "shasum"
	}
	return "sha256sum"
}

// stops puts wrappers of commands on PATH. They count, and the wrapper with the number STOP_AT sends a
// signal to all processes of the run.
func (u *user) stops(signal string, names ...string) {
	u.t.Helper()
	dir := u.t.TempDir()
	for _, name := range names {
		file, err := exec.LookPath(name)
		if err != nil {
			u.t.Fatal(err)
		}
		if name == "sh" || name == "gzip" {
			continue // started by others than install.sh
		}
		text := fmt.Sprintf("#!/bin/sh\nread -r n <%[1]q\nn=$((n + 1))\necho $n >%[1]q\n"+
			"[ \"$n\" != \"${STOP_AT-}\" ] || kill -%[2]s 0\nexec %[3]s \"$@\"\n", u.path("../count"), signal, file)
		if err := checkout.WriteProgram(filepath.Join(dir, name), []byte(text)); err != nil {
			u.t.Fatal(err)
		}
	}
	u.env["PATH"] = dir + ":" + u.env["PATH"]
}

// stopsAt runs install.sh and stops it at a command, 0 for none. It returns how many
// were started.
func (u *user) stopsAt(number int, args ...string) (result, int) {
	u.t.Helper()
	u.write("../count", "0\n", 0o644)
	u.env["STOP_AT"] = strconv.Itoa(number)
	r := u.install(args...)
	count, err := strconv.Atoi(strings.TrimSpace(u.read("../count")))
	if err != nil {
		u.t.Fatal(err)
	}
	return r, count
}

// CLI-1710: a run that is stopped leaves the old installation or the new one, and the next run
// completes it. With -short, upgrades that are killed stop at every third command, and the other runs
// at every tenth.
func TestStopped(t *testing.T) {
	newer := released(t, "2.0.0")
	for _, job := range []struct {
		signal, name string
		before       string // the version that is there; as a folder if the name begins with that
		args         []string
		after        []string // the allowed versions after the signal
		ends         string   // the version after a run without a signal
	}{
		{"KILL", "first", "", []string{"--archive", newer}, []string{"", "2.0.0"}, "2.0.0"},
		{"KILL", "upgrade", "1.9.9", []string{"--archive", newer}, []string{"1.9.9", "2.0.0"}, "2.0.0"},
		{"KILL", "folder upgrade", "1.9.9", []string{"--archive", newer}, []string{"1.9.9", "2.0.0"}, "2.0.0"},
		{"KILL", "folder uninstall", "1.9.9", []string{"--uninstall"}, []string{"1.9.9", ""}, ""},
		{"KILL", "uninstall", "1.9.9", []string{"--uninstall"}, []string{"1.9.9", ""}, ""},
		{"TERM", "upgrade", "1.9.9", []string{"--archive", newer}, []string{"1.9.9", "2.0.0"}, "2.0.0"},
	} {
		start := func(t *testing.T) *user {
			u := newUser(t)
			switch {
			case strings.HasPrefix(job.name, "folder"):
				u.hasFolder(job.before)
			case job.before != "":
				u.has(job.before)
			}
			u.stops(job.signal, commands...)
			return u
		}
		t.Run(job.signal+" "+job.name, func(t *testing.T) {
			u := start(t)
			r, count := u.stopsAt(0, job.args...)
			if r.code != 0 || count < 15 || u.version() != job.ends {
				t.Fatalf("not stopped, after %d commands: %+v", count, r)
			}
			step := 1
			switch {
			case testing.Short() && job.name == "upgrade":
				step = 12
			case testing.Short():
				step = 20
			}
			path := newUser(t).env["PATH"]
			for number := 1; number <= count; number += step {
				t.Run(strconv.Itoa(number), func(t *testing.T) {
					t.Parallel()
					u := start(t)
					r, _ := u.stopsAt(number, job.args...)
					got := u.version()
					if got != job.after[0] && got != job.after[1] {
						t.Errorf("there is %q", got)
					}
					if r.code == 0 && job.signal == "KILL" {
						t.Errorf("it was not stopped: %+v", r)
					}
					if left := u.leftovers(); left != nil && job.signal != "KILL" {
						t.Errorf("left: %q", left)
					}
					u.env["PATH"] = path
					if r := u.install(job.args...); r.code != 0 {
						t.Errorf("the next run: %+v", r)
					}
					if got := u.version(); got != job.ends {
						t.Errorf("after the next run there is %q", got)
					}
					if left := u.leftovers(); left != nil {
						t.Errorf("the next run left %q", left)
					}
					if job.ends == "" && len(u.files()) > 0 {
						t.Errorf("the next run left %q", u.files())
					}
				})
			}
		})
	}
}

// CLI-1710: where the system cannot exchange names, the upgrade of a folder needs two steps. If a run is killed
// between them, the next run repairs the installation, even if that run fails.
func TestTwoSteps(t *testing.T) {
	program := "#!/bin/sh\n[ \"$1\" = --version ] && echo \"${0##*/} 2.0.0\"\n"
	archive := unverified(t, pack(with("2.0.0", map[string]string{"mcp-bash/bin/mcp-bash": program})))
	there := func(u *user) string {
		text, err := os.ReadFile(filepath.Join(u.dir(), "VERSION"))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(text))
	}
	start := func(t *testing.T) *user {
		u := newUser(t)
		u.hasFolder("1.9.9")
		u.stops("KILL", "mv")
		return u
	}
	u := start(t)
	r, count := u.stopsAt(0, "--archive", archive)
	if r.code != 0 || there(u) != "2.0.0" || u.leftovers() != nil {
		t.Fatalf("%+v, left %q", r, u.leftovers())
	}
	var between atomic.Int32
	t.Run("killed", func(t *testing.T) {
		for number := 1; number <= count; number++ {
			t.Run(strconv.Itoa(number), func(t *testing.T) {
				t.Parallel()
				u := start(t)
				u.stopsAt(number, "--archive", archive)
				if there(u) == "" {
					between.Add(1)
				}
				if r, _ := u.stopsAt(0, "--archive", u.path("none")); r.code != 1 || there(u) == "" {
					t.Errorf("the next run, which fails, leaves %q: %+v", there(u), r)
				}
				if left := u.leftovers(); left != nil {
					t.Errorf("beside it: %q", left)
				}
			})
		}
	})
	if between.Load() != 1 {
		t.Errorf("killed %d times between the steps", between.Load())
	}
}

// CLI-1113: a second run waits for the end of the first, and prints that it waits.
func TestLocked(t *testing.T) {
	u := newUser(t)
	archive := released(t, "2.0.0")
	lock := ".local/share/mcp-bash.versions/lock"
	u.write(lock, strconv.Itoa(os.Getpid())+"\n", 0o644)
	u.fails(1, "Timed out waiting for doctor fix lock: "+u.path(lock), "--archive", archive)
	if _, err := os.Stat(u.path(lock)); err != nil {
		t.Error("it took away the lock of another")
	}
	// One whose owner is gone, or never was.
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []string{strconv.Itoa(gone.Process.Pid), "x", "-1"} {
		u.write(lock, pid+"\n", 0o644)
		u.installs("--archive", archive)
	}
	u.write(lock, "", 0o644) // of a run that has not yet written its number, or was killed before
	u.fails(1, "Timed out waiting", "--archive", archive)
	long := time.Now().Add(-3 * time.Minute)
	if err := os.Chtimes(u.path(lock), long, long); err != nil {
		t.Fatal(err)
	}
	u.installs("--archive", archive)
	// A lock that the other run releases while this one waits.
	u.write(lock, strconv.Itoa(os.Getpid())+"\n", 0o644)
	u.write("waits/sleep", "#!/bin/sh\necho \"$1\" >>\"$HOME/slept\"\nrm '"+u.path(lock)+"'\n", 0o755)
	u.env["PATH"] = u.path("waits") + ":" + u.env["PATH"]
	u.env["MCPBASH_DOCTOR_LOCK_TIMEOUT_SECS"], u.env["MCPBASH_DOCTOR_LOCK_POLL_SECS"] = "60.5", "0.25"
	u.installs("--archive", archive)
	if got := u.read("slept"); got != "0.25\n" {
		t.Errorf("it slept %q", got)
	}
}

// CLI-1112: no version older than the minimum is installed. CLI-1710: the previous version stays for its servers, and
// all versions on request.
func TestMinimum(t *testing.T) {
	u := newUser(t)
	u.hasFolder("1.9.9")
	u.fails(1, "It is version 2.0.0, older than 2.0.1", "--archive", released(t, "2.0.0"), "--min-version", "v2.0.1")
	if got := u.version(); got != "1.9.9" {
		t.Errorf("now there is %s", got)
	}
	kept := func() (versions string) {
		files, _ := filepath.Glob(u.dir() + ".versions/*/VERSION")
		for _, file := range files {
			versions += u.contents(file)
		}
		return versions
	}
	u.installs("--archive", released(t, "2.0.0"), "--min-version", "2")
	if got := kept(); got != "1.9.9\n2.0.0\n" || u.version() != "2.0.0" {
		t.Errorf("there is %q", got)
	}
	u.installs("--archive", released(t, "2.0.1"))
	if got := kept(); got != "2.0.0\n2.0.1\n" {
		t.Errorf("there is %q", got)
	}
	u.env["MCPBASH_DOCTOR_KEEP_BACKUP"] = "true"
	u.installs("--archive", released(t, "2.0.2"))
	if got := kept(); got != "2.0.0\n2.0.1\n2.0.2\n" {
		t.Errorf("there is %q", got)
	}
}
