package ask

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
		want reader
	}{
		"script":  {"#!/bin/sh\n", reader{}},
		"starter": {"#!/bin/sh\nX=1\nexec '/opt/brew/leaf' \"$@\"\n", reader{starts: "/opt/brew/leaf"}},
		"unclear": {"#!/bin/sh\nexec \"$DIR/leaf\"\n", reader{}},
		"node":    {"#!/usr/bin/env -S node --x\n", reader{node: true}},
		"python":  {"#!/usr/bin/python3\n", reader{getopt: true}},
		"plain":   {"\x7fELF getopt_long", reader{}}, // a word of a text
		"options": {"\x7fELF\x00getopt_long\x00", reader{getopt: true}},
		"macOS":   {"\x00_getopt\x00", reader{getopt: true}}, "empty": {"", reader{}},
	} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, []byte(c.text), 0o755); err != nil {
			t.Fatal(err)
		}
		link := path + "-link"
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if r := readerOf(link); r != c.want {
			t.Errorf("%s: %+v", file, r)
		}
	}
	if r := readerOf(dir); r != (reader{}) {
		t.Error("a directory")
	}
}
