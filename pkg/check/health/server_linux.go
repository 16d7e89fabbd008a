package health

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// findServer returns the process with the lowest number that is a server: process 1 of a container, or the child of its
// init program.
func findServer(parse ParseFunc) (*running, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		dir := "/proc/" + strconv.Itoa(n)
		line, _ := os.ReadFile(dir + "/cmdline") // each word ends with NUL
		words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		if filepath.Base(words[0]) != "mcp-bash" {
			continue
		}
		ask, ok := parse(words[1:])
		stat, err := os.ReadFile(dir + "/stat")
		if ok && err == nil {
			return &running{n, isStopped(stat), ask}, nil
		}
	}
	return nil, errNoServer
}

// isStopped reads the state of a process from its stat: "pid (command) state parent …". A command may contain any
// character.
func isStopped(stat []byte) bool {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) == 0 || strings.Contains("TtZX", string(fields[0]))
}
