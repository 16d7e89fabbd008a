package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/project"
)

// A fixLock keeps two processes from mending one installation at a time (CLI-1113).
type fixLock struct{ dir string }

const pidFile = "pid"

// errLocked is the error when somebody else held the lock all the time.
var errLocked = errors.New("locked")

// takeLock waits for the lock. One whose process is gone, or that has told no process for
// as long as one waits, is taken away.
func takeLock(ctx context.Context, root string, env project.Env) (*fixLock, error) {
	wait := seconds(env["MCPBASH_DOCTOR_LOCK_TIMEOUT_SECS"], 10)
	poll := max(seconds(env["MCPBASH_DOCTOR_LOCK_POLL_SECS"], 0.05), time.Millisecond)
	l := &fixLock{physical(filepath.Dir(root)) + string(filepath.Separator) + filepath.Base(root) + ".doctor.fix.lock"}
	deadline := time.Now().Add(wait)
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		err := os.Mkdir(l.dir, 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(l.dir, pidFile), []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
			if err != nil {
				l.release()
			}
			return l, err
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("%s: %w", l.dir, fsys.Cause(err))
		}
		if err := l.check(); err != nil {
			return nil, err
		}
		if l.takeAway(wait) {
			continue
		}
		if !time.Now().Before(deadline) {
			return l, errLocked
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// check returns an error for a lock that somebody else can have put there: no doctor holds it, and
// what it says is not believed.
func (l *fixLock) check() error {
	info, err := os.Lstat(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = trust.CheckOwn(l.dir, info)
	}
	if err != nil {
		return fmt.Errorf("in the way of the lock: %w; remove it", fsys.Cause(err))
	}
	return nil
}

// takeAway removes a lock that nobody holds any more, and reports whether it did. It is
// renamed first, which only one of several can do.
func (l *fixLock) takeAway(wait time.Duration) bool {
	holder, stale := l.holder(wait)
	if !stale {
		return false
	}
	aside := l.dir + "." + rand.Text()
	if os.Rename(l.dir, aside) != nil {
		return false
	}
	defer os.RemoveAll(aside)
	if now := (&fixLock{aside}); holder != now.pid() { // somebody else took it meanwhile: it is theirs
		return os.Rename(aside, l.dir) != nil
	}
	return true
}

// holder is the process that a lock names, 0 for none, and whether it is gone.
func (l *fixLock) holder(wait time.Duration) (pid int, stale bool) {
	if pid = l.pid(); pid > 0 {
		return pid, !alive(pid)
	}
	info, err := os.Lstat(l.dir)
	return 0, err == nil && time.Since(info.ModTime()) > wait
}

func (l *fixLock) pid() int {
	text, err := boundedfile.Read(filepath.Join(l.dir, pidFile), 32)
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return max(pid, 0)
}

func (l *fixLock) release() {
	os.Remove(filepath.Join(l.dir, pidFile))
	os.Remove(l.dir)
}

// seconds reads a number of seconds with decimals, def for what is none.
func seconds(text string, def float64) time.Duration {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 || n > 1e6 {
		n = def
	}
	return time.Duration(n * float64(time.Second))
}

func randomText() string { return rand.Text() }
