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
		want [2]bool // getopt, node
	}{
		"script":  {"#!/bin/sh\n", [2]bool{}},
		"node":    {"#!/usr/bin/env -S node --x\n", [2]bool{true, true}},
		"python":  {"#!/usr/bin/python3\n", [2]bool{true}},
		"plain":   {"\x7fELF getopt_long", [2]bool{}}, // a word of a text
		"options": {"\x7fELF\x00getopt_long\x00", [2]bool{true}},
		"macOS":   {"\x00_getopt\x00", [2]bool{true}}, "empty": {"", [2]bool{}},
	} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, []byte(c.text), 0o755); err != nil {
			t.Fatal(err)
		}
		link := path + "-link"
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if getopt, node := readerOf(link); [2]bool{getopt, node} != c.want {
			t.Errorf("%s: %v %v", file, getopt, node)
		}
	}
	if getopt, node := readerOf(dir); getopt || node {
		t.Error("a directory")
	}
}
