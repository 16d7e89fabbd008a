package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var errNoProc = errors.New("this system has no /proc")

// memoryOf reads a size from a process's status, in kB.
func memoryOf(pid int, key string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(text), "\n"+key+":")
	fields := strings.Fields(rest)
	if !found || len(fields) == 0 {
		return 0, errNoProc
	}
	return strconv.ParseFloat(fields[0], 64)
}

func descriptorsOf(pid int) (float64, error) {
	list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return float64(len(list)), err
}

// childrenOf counts the children of a process, the dead that nobody has
// collected included.
func childrenOf(pid int) (float64, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	n := 0.0
	for _, file := range files {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile
		}
		// pid (command) state parent …; a command may hold anything.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 1 && string(fields[1]) == strconv.Itoa(pid) {
			n++
		}
	}
	return n, err
}

// runTime returns how long a process has run on any core. It adds the times of the threads, because the
// kernel reports the time of a process only in hundredths of a second.
func runTime(pid int) (time.Duration, error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	if len(files) == 0 {
		return 0, errNoProc
	}
	var sum time.Duration
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		fields := bytes.Fields(text)
		if len(fields) == 0 {
			return 0, errNoProc
		}
		ns, err := strconv.ParseInt(string(fields[0]), 10, 64)
		if err != nil {
			return 0, err
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}
