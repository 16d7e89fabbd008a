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
		want bool
	}{
		"script": {"#!/bin/sh\n", false}, "node": {"#!/usr/bin/env -S node --x\n", true},
		"plain":   {"\x7fELF getopt_long", false}, // a word of a text
		"options": {"\x7fELF\x00getopt_long\x00", true}, "macOS": {"\x00_getopt\x00", true}, "empty": {"", false},
	} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, []byte(c.text), 0o755); err != nil {
			t.Fatal(err)
		}
		link := path + "-link"
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if hasGetopt(link) != c.want {
			t.Errorf("%s: %v", file, !c.want)
		}
	}
	if hasGetopt(dir) {
		t.Error("a directory")
	}
}
