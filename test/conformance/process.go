package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"time"

	"mcp-bash/test/wire"
)

// patience is how long a server may take to end once its input is closed.
const patience = 10 * time.Second

// A process is one server. All its lines are checked and recorded. Use newProcess,
// then begin.
type process struct {
	id         string // in the transcript
	cmd        *exec.Cmd
	transcript *transcript
	checker    *wire.Checker
	ended      chan struct{} // closed when the process has ended

	writing sync.Mutex // held while a line is written
	stdin   io.WriteCloser
}

func newProcess(id string, cmd *exec.Cmd, transcript *transcript) *process {
	return &process{id: id, cmd: cmd, transcript: transcript, checker: wire.NewChecker(), ended: make(chan struct{})}
}

// begin starts the server. It calls deliver with each line, without its end, and
// gone when no more will come.
func (p *process) begin(deliver func(line []byte), gone func()) error {
	var stdout, stderr io.ReadCloser
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		if stdout, err = p.cmd.StdoutPipe(); err == nil {
			stderr, err = p.cmd.StderrPipe()
		}
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return err
	}
	go func() {
		var reading sync.WaitGroup
		reading.Go(func() { lines(stderr, func(line []byte) { p.transcript.note(p.id, '!', line) }) })
		lines(stdout, func(line []byte) {
			p.transcript.note(p.id, '<', line)
			if err := p.checker.Received(line); err != nil {
				p.transcript.fault(p.id, err)
			}
			deliver(line[:len(line)-1])
		})
		reading.Wait()
		if err := p.cmd.Wait(); err != nil {
			p.transcript.fault(p.id, fmt.Errorf("the server ended badly: %w", err))
		}
		close(p.ended)
		gone()
	}()
	return nil
}

// lines reads lines of any length, with their ends; a last one without gets one.
func lines(r io.Reader, each func(line []byte)) {
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if err != nil {
				line = append(line, '\n')
			}
			each(line)
		}
		if err != nil {
			return
		}
	}
}

// errEnded is the error of what is sent to a server that is gone.
var errEnded = errors.New("the session has ended")

// write sends a line, given without its end.
func (p *process) write(line []byte) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.checker.Sent(line)
	p.transcript.note(p.id, '>', append(line, '\n'))
	if _, err := p.stdin.Write(append(line, '\n')); err != nil {
		return errEnded
	}
	return nil
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// end closes the input of the server and waits until it has ended.
func (p *process) end() {
	p.stdin.Close()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.transcript.fault(p.id, fmt.Errorf("the server was still there %v after its input was closed", patience))
		p.cmd.Process.Kill()
		<-p.ended
	}
}
