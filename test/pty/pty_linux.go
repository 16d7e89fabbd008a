// Package pty runs a command on a terminal, as a person would, for tests.
package pty

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a session waits for anything.
const patience = 30 * time.Second

// A Session is a command with a terminal as its three streams.
type Session struct {
	t    *testing.T
	cmd  *exec.Cmd
	keys *os.File // the keyboard and the screen

	mu     sync.Mutex
	news   *sync.Cond
	screen []byte
	seen   int // up to here everything was expected
	ended  bool
}

// Start starts cmd with its environment and directory. Its streams must be free.
func Start(t *testing.T, cmd *exec.Cmd) *Session {
	t.Helper()
	return StartWide(t, cmd, 0)
}

// StartWide is [Start] for a terminal with a number of columns. 0 columns are an unknown width.
func StartWide(t *testing.T, cmd *exec.Cmd, columns uint16) *Session {
	t.Helper()
	keys, tty, err := open()
	if err == nil {
		err = unix.IoctlSetWinsize(int(keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: columns})
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &Session{t: t, cmd: cmd, keys: keys}
	s.news = sync.NewCond(&s.mu)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	go s.watch()
	t.Cleanup(func() {
		cmd.Process.Kill()
		keys.Close()
	})
	return s
}

// open returns both ends of a new terminal.
func open() (keys, tty *os.File, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	keys = os.NewFile(uintptr(fd), "terminal")
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		keys.Close()
	}
	return keys, tty, err
}

// watch reads the screen until the last process that writes to it has ended.
func (s *Session) watch() {
	buf := make([]byte, 4096)
	for {
		n, err := s.keys.Read(buf)
		s.mu.Lock()
		s.screen = append(s.screen, buf[:n]...)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			s.ended = true
		}
		s.news.Broadcast()
		ended := s.ended
		s.mu.Unlock()
		if ended {
			return
		}
	}
}

// Expect waits until the screen shows a pattern, after what was expected before.
func (s *Session) Expect(pattern string) {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	late := false
	timer := time.AfterFunc(patience, func() {
		s.mu.Lock()
		late = true
		s.news.Broadcast()
		s.mu.Unlock()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if at := re.FindIndex(s.screen[s.seen:]); at != nil {
			s.seen += at[1]
			return
		}
		if s.ended || late {
			s.t.Fatalf("the screen does not show %q:\n%q", pattern, s.screen[s.seen:])
		}
		s.news.Wait()
	}
}

// Type types.
func (s *Session) Type(text string) {
	s.t.Helper()
	if _, err := s.keys.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// Wait waits for the command to end, and returns its exit code and all that the
// screen showed.
func (s *Session) Wait() (code int, screen string) {
	s.t.Helper()
	late := time.AfterFunc(patience, func() { s.cmd.Process.Kill() })
	err := s.cmd.Wait()
	if !late.Stop() {
		s.t.Fatalf("it does not end:\n%q", s.screen)
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		s.t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.ended {
		s.news.Wait()
	}
	return s.cmd.ProcessState.ExitCode(), string(s.screen)
}
