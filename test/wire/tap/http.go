//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"mcp-bash/test/wire"
)

// runHTTP records the messages of a server over HTTP.
func runHTTP(dir string, argv []string) (code int, err error) {
	file, err := create(dir)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	printed, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	k := &keeper{file: file}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cmd.Process.Signal(syscall.SIGTERM)
	}()
	lines := bufio.NewReader(printed)
	for {
		line, err := lines.ReadString('\n')
		io.WriteString(os.Stderr, line)
		if _, address, found := strings.Cut(line, "serving "); found {
			if err := k.serve(strings.TrimSpace(address)); err != nil {
				return 0, err
			}
		}
		if err != nil {
			break
		}
	}
	cmd.Wait()
	return max(cmd.ProcessState.ExitCode(), 0), k.ended(cmd.ProcessState)
}

// serve serves on another address what the server serves on its own, and prints the address.
func (k *keeper) serve(server string) error {
	u, err := url.Parse(server)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(listener, wire.NewRecorder(u, func(_ string, mark byte, text string) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.write(string(mark)+" ", text)
	}))
	_, err = fmt.Printf("http://%s%s\n", listener.Addr(), u.Path)
	return err
}
