package programfile

import (
	"os"
	"path/filepath"
	"testing"
)

// WRAP-33: the file of a program shows whether a library reads its options.
func TestGetopt(t *testing.T) {
	dir := t.TempDir()
	for file, c := range map[string]struct {
		text string
		want File
	}{
		"script":  {"#!/bin/sh\n", File{}},
		"starter": {"#!/bin/sh\nX=1\nexec '/opt/brew/leaf' \"$@\"\n", File{Starts: "/opt/brew/leaf"}},
		"unclear": {"#!/bin/sh\nexec \"$DIR/leaf\"\n", File{}},
		"node":    {"#!/usr/bin/env -S node --x\n", File{Node: true}},
		"python":  {"#!/usr/bin/python3\n", File{Getopt: true}},
		"plain":   {"\x7fELF getopt_long", File{}}, // a word of a text
		"options": {"\x7fELF\x00getopt_long\x00", File{Getopt: true}},
		"macOS":   {"\x00_getopt\x00", File{Getopt: true}}, "empty": {"", File{}},
	} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, []byte(c.text), 0o755); err != nil {
			t.Fatal(err)
		}
		link := path + "-link"
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if r := Read(link); r != c.want {
			t.Errorf("%s: %+v", file, r)
		} else if Starts(link) != r.Starts {
			t.Errorf("%s starts %q", file, Starts(link))
		}
	}
	if r := Read(dir); r != (File{}) {
		t.Error("a directory")
	}
}
