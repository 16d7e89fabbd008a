package ask

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// WRAP-36: abilities are found wherever the name is in the file, also across two reads.
func TestAbilities(t *testing.T) {
	dir := t.TempDir()
	name := []byte("\x00posix_spawnp\x00")
	for file, c := range map[string]struct {
		text []byte
		want Abilities
	}{
		"script":   {[]byte("#!/bin/sh\n"), Abilities{Script: true, Starts: true}},
		"node":     {[]byte("#!/usr/bin/env -S node --x\n"), Abilities{Script: true, Starts: true, Getopt: true}},
		"plain":    {[]byte("\x7fELF posix_spawnp execve getaddrinfo"), Abilities{}}, // words in a text instead of symbols
		"starts":   {append(bytes.Repeat([]byte{1}, 5000), name...), Abilities{Starts: true}},
		"between":  {append(bytes.Repeat([]byte{1}, 64+1<<20-5), name...), Abilities{Starts: true}},
		"connects": {[]byte("\x7fELF\x00getaddrinfo\x00"), Abilities{Connects: true}},
		"macOS":    {[]byte("\x00_execve\x00_getaddrinfo\x00"), Abilities{Starts: true, Connects: true}},
		"options":  {[]byte("\x7fELF\x00getopt_long\x00"), Abilities{Getopt: true}},
		"empty":    {nil, Abilities{}},
	} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, c.text, 0o755); err != nil {
			t.Fatal(err)
		}
		link := path + "-link"
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if got := abilitiesOf(link); got != c.want {
			t.Errorf("%s: %+v", file, got)
		}
	}
	own, err := os.Executable() // tests of Go start programs
	if err != nil {
		t.Fatal(err)
	}
	if got := abilitiesOf(own); !got.Starts {
		t.Errorf("%s: %+v", own, got)
	}
	if got := abilitiesOf(dir); got != (Abilities{}) {
		t.Errorf("a directory: %+v", got)
	}
}
