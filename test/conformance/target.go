package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/test/wire"
)

// A target is a running server for a copy of the project, behind a recorder of its messages.
type target struct {
	transcript
	address string // of the recorder
	dir     string // a copy of the project, and directories for the server's files
	cmd     *exec.Cmd
	web     http.Server
	ended   chan error
}

// start starts a server.
func start(server, project, results string) (*target, error) {
	server, err := filepath.Abs(server)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mcp-bash-conformance.")
	if err != nil {
		return nil, err
	}
	if physical, err := filepath.EvalSymlinks(dir); err == nil {
		dir = physical
	}
	t := &target{transcript: transcript{out: io.Discard}, dir: dir, ended: make(chan error, 1)}
	err = errors.Join(os.MkdirAll(results, 0o755), os.Mkdir(filepath.Join(dir, "tmp"), 0o700),
		os.CopyFS(filepath.Join(dir, "project"), os.DirFS(project)))
	if err == nil {
		err = t.start(server)
	}
	if err != nil {
		t.remove()
		return nil, err
	}
	return t, nil
}

func (t *target) start(server string) error {
	t.cmd = exec.Command(server, "serve", "--http", "127.0.0.1:0")
	t.cmd.Dir = t.dir
	t.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.dir, "TMPDIR=" + filepath.Join(t.dir, "tmp"),
		"MCPBASH_PROJECT_ROOT=" + filepath.Join(t.dir, "project"), "MCPBASH_TOOL_ALLOWLIST=*",
	}
	printed, err := t.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := t.cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(printed)
	address := ""
	for address == "" {
		line, err := lines.ReadString('\n')
		if _, rest, found := strings.Cut(line, "serving "); found {
			address = strings.TrimSpace(rest)
		} else if err != nil {
			return fmt.Errorf("the server ended at its start: %w", errors.Join(err, t.cmd.Wait()))
		}
		t.note("server", '!', line)
	}
	go func() {
		for line, err := lines.ReadString('\n'); err == nil; line, err = lines.ReadString('\n') {
			t.note("server", '!', line)
		}
		t.ended <- t.cmd.Wait()
	}()
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	t.address = "http://" + listener.Addr().String() + u.Path
	t.web.Handler = wire.NewRecorder(u, t.report)
	go t.web.Serve(listener)
	return nil
}

// report keeps what the recorder reports.
func (t *target) report(session string, mark byte, text string) {
	t.note(session, mark, text+"\n")
	if mark == '!' {
		t.fault(session, errors.New(text))
	}
}

// end ends the server, and waits for its end.
func (t *target) end() {
	t.web.Close()
	t.cmd.Process.Signal(os.Interrupt)
	select {
	case <-t.ended:
		if code := t.cmd.ProcessState.ExitCode(); code != 130 {
			t.fault("server", fmt.Errorf("the server ended badly: %s", t.cmd.ProcessState))
		}
	case <-time.After(10 * time.Second):
		t.fault("server", errors.New("the server does not end"))
		t.cmd.Process.Kill()
	}
}

// remove removes the files of the server.
func (t *target) remove() {
	if t.cmd != nil && t.cmd.Process != nil {
		t.cmd.Process.Kill()
	}
	os.RemoveAll(t.dir)
}
