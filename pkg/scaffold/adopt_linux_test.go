package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/scaffold/adopt"
)

// ADD-26: a script of another language is asked for its help, confined. Without any, it takes a list of words.
func TestAdoptOtherLanguage(t *testing.T) {
	if confine.Offered().None() {
		t.Skip("this kernel cannot confine scripts")
	}
	root := removable(t).Root
	dir := filepath.Join(root, "..", "scripts")
	interpreter := filepath.Join(root, "lang")
	err := errors.Join(os.MkdirAll(dir, 0o700), os.Symlink("/bin/bash", interpreter))
	for name, help := range map[string]string{"told": "usage: told [-v] FILE\n\n  -v  more\n", "untold": ""} {
		text := fmt.Sprintf("#!%s\nprintf %%s '%s'\n: >'%s/ran'\n", interpreter, help, root)
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	folder, err := adopt.Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := project.Open(root, project.Env{"PATH": os.Getenv("PATH")}, root, func(text string) { t.Log(text) })
	made, err := Adopt(t.Context(), p, folder, AdoptOptions{DryRun: true}, func(text string) { t.Log(text) })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tool := range made.Tools {
		for _, a := range tool.Recipe.Arguments {
			got = append(got, fmt.Sprintf("%s %s%s %t", tool.Name, a.Name, a.Option, a.Required))
		}
	}
	if list := strings.Join(got, ", "); list != "told v-v false, told file true, untold arguments false" {
		t.Error(list)
	}
	if _, err := os.Stat(filepath.Join(root, "ran")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a script wrote a file when it was asked for its help: %v", err)
	}
}

// ADD-26: as many scripts as there are processors are asked at the same time. Each waits here until all of them run.
func TestAdoptAsksAtOnce(t *testing.T) {
	if confine.Offered().None() {
		t.Skip("this kernel cannot confine scripts")
	}
	root := removable(t).Root
	dir, interpreter := t.TempDir(), filepath.Join(root, "lang")
	err := os.Symlink("/bin/bash", interpreter)
	var pipes []string
	for n := range runtime.NumCPU() {
		pipe := filepath.Join(root, fmt.Sprintf("pipe%d", n))
		text := fmt.Sprintf("#!%s\nread -r word <%s\necho \"usage: x [-v] $word\"; echo '  -v  more'\n", interpreter, pipe)
		err = errors.Join(err, unix.Mkfifo(pipe, 0o600),
			os.WriteFile(filepath.Join(dir, fmt.Sprintf("script%d", n)), []byte(text), 0o700))
		pipes = append(pipes, pipe)
	}
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan error)
	go func() {
		var files []*os.File
		var err error
		for _, pipe := range pipes { // waits for the reader
			f, failed := os.OpenFile(pipe, os.O_WRONLY, 0)
			err, files = errors.Join(err, failed), append(files, f)
		}
		for _, f := range files {
			fmt.Fprintln(f, "FILE")
			f.Close()
		}
		opened <- err
	}()
	folder, err := adopt.Look(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := project.Open(root, project.Env{"PATH": os.Getenv("PATH")}, root, func(text string) { t.Log(text) })
	made, err := Adopt(t.Context(), p, folder, AdoptOptions{DryRun: true}, func(text string) { t.Log(text) })
	if err = errors.Join(err, <-opened); err != nil {
		t.Fatal(err)
	}
	if len(made.Tools) != len(pipes) {
		t.Fatalf("%d tools", len(made.Tools))
	}
	for _, tool := range made.Tools {
		if tool.Trial == nil || len(tool.Recipe.Arguments) != 2 || tool.Recipe.Arguments[1].Name != "file" {
			t.Errorf("%s: %+v", tool.Name, tool.Recipe.Arguments)
		}
	}
}

// An interpreter in the home directory can be read: that of pyenv, or a virtual environment.
func TestInstallation(t *testing.T) {
	home := t.TempDir()
	bin := filepath.Join(home, ".pyenv", "shims")
	script := filepath.Join(t.TempDir(), "x.py")
	err := errors.Join(os.MkdirAll(bin, 0o700), os.WriteFile(filepath.Join(bin, "lang"), []byte("#!/bin/sh\n"), 0o700),
		os.WriteFile(script, []byte("#!/usr/bin/env lang\n"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := adopt.LookAt(script)
	if err != nil {
		t.Fatal(err)
	}
	tool := adopt.Tool(folder.Dir, folder.Scripts[0], home, bin, false)
	if want := filepath.Join(home, ".pyenv"); !strings.Contains(strings.Join(tool.Reads, " "), want) {
		t.Errorf("%q, want %s", tool.Reads, want)
	}
}
