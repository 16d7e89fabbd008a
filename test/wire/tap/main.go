//go:build unix

// Tap runs between a client and the server that it starts. It checks the server's lines against the
// published schema:
//
//	tap DIR COMMAND [ARG...]
//	tap DIR -http COMMAND [ARG...]
//
// With -http the server serves over HTTP, and the tap prints the address that the client has to use. The end of the
// tap's standard input ends the server then.
//
// The tap passes on each message unchanged, and records all in a file for each process in DIR:
//
//	"> "  a line of the client
//	"< "  a line of the server
//	"! "  an error in the line above
//	". "  the end of the server
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"mcp-bash/test/wire"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("tap: ")
	if len(os.Args) < 3 {
		log.Fatal("usage: tap DIR [-http] COMMAND [ARG...]")
	}
	record, argv := run, os.Args[2:]
	if argv[0] == "-http" {
		record, argv = runHTTP, argv[1:]
	}
	code, err := record(os.Args[1], argv)
	if err != nil {
		log.Fatal(err)
	}
	os.Exit(code)
}

func create(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, fmt.Sprint(os.Getpid())), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
}

func run(dir string, argv []string) (code int, err error) {
	file, err := create(dir)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	told := make(chan os.Signal, 8) // of SIGPIPE too: it is not to end us before the server
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)

	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		for s := range told {
			if s != syscall.SIGPIPE {
				cmd.Process.Signal(s)
			}
		}
	}()

	k := &keeper{file: file, checker: wire.NewChecker()}
	go func() {
		lines(os.Stdin, func(line []byte) {
			k.sent(line)
			in.Write(line)
		})
		in.Close()
	}()
	lines(out, func(line []byte) {
		k.received(line)
		os.Stdout.Write(line)
	})
	cmd.Wait()
	code = cmd.ProcessState.ExitCode()
	return code, k.ended(cmd.ProcessState)
}

// lines hands over what is read, line by line.
func lines(from io.Reader, each func(line []byte)) {
	in := bufio.NewReader(from)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			each(line)
		}
		if err != nil {
			return
		}
	}
}

// A keeper records messages.
type keeper struct {
	checker *wire.Checker

	mu   sync.Mutex
	file *os.File
	err  error
}

func (k *keeper) sent(line []byte) {
	k.checker.Sent(line)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.write("> ", string(line))
}

func (k *keeper) received(line []byte) {
	fault := k.checker.Received(line)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.write("< ", string(line))
	if fault != nil {
		k.write("! ", fault.Error())
	}
}

func (k *keeper) ended(how *os.ProcessState) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.write(". ", how.String())
	return k.err
}

// write writes one line.
func (k *keeper) write(mark, text string) {
	text = strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\t")
	if _, err := fmt.Fprintf(k.file, "%s%s\n", mark, text); err != nil && k.err == nil {
		k.err = err
	}
}
