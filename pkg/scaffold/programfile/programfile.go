// Package programfile looks into the files of programs: which library reads the options, and which other program a
// wrapper runs (WRAP-33, WRAP-36).
package programfile

import (
	"bytes"
	"path"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/lazyregexp"
)

// maxProgram is the size of the largest program that is searched. Programs in C are smaller.
const maxProgram = 32 << 20

// maxScript limits how much of a script is read.
const maxScript = 4 << 10

// shells matches interpreters whose scripts parse their own options. Other languages have
// libraries for that.
var shells = lazyregexp.New(`^(?:sh|bash|dash|ash|ksh|mksh|zsh|fish)(?:\.exe)?$`)

// inPlace matches the line of a shell script that runs another program in its place.
var inPlace = lazyregexp.New(`(?m)^[ \t]*exec ["']?(/[^"'\s$]+)["']?(?:[ \t]|$)`)

// A File is what a file shows about the program in it.
type File struct {
	Getopt bool   // a library reads its options, which end at "--"
	Node   bool   // it is a script of Node.js
	Starts string // the program that a shell script runs in its place, or ""
}

// Read looks into the file of a program. The result is empty if the file cannot be read. Compiled programs contain the
// names of the library's functions, after an underscore on macOS.
func Read(file string) (f File) {
	resolved, err := filepath.EvalSymlinks(file)
	if err != nil {
		return f
	}
	head, err := boundedfile.ReadHead(resolved, maxScript)
	if err != nil || bytes.HasPrefix(head, []byte("#!")) {
		return readScript(head)
	}
	text, err := boundedfile.Read(resolved, maxProgram)
	if err != nil {
		return f
	}
	for _, name := range []string{"getopt", "getopt_long", "getopt_long_only", "argp_parse", "poptGetNextOpt"} {
		f.Getopt = f.Getopt || bytes.Contains(text, []byte("\x00"+name+"\x00")) ||
			bytes.Contains(text, []byte("\x00_"+name+"\x00"))
	}
	return f
}

// Starts returns the program that a shell script runs in its place, or "". It reads only the beginning of the file.
func Starts(file string) string {
	resolved, err := filepath.EvalSymlinks(file)
	if err != nil {
		return ""
	}
	head, _ := boundedfile.ReadHead(resolved, maxScript)
	return readScript(head).Starts
}

func readScript(head []byte) (f File) {
	words := script.Interpreter(head)
	is := func(word string) bool { return path.Base(word) == "node" }
	switch f.Node = slices.ContainsFunc(words, is); {
	case len(words) == 0, f.Node: // programs of Node.js often read their options themselves
	case !shells.MatchString(path.Base(words[0])):
		f.Getopt = true
	default:
		if m := inPlace.FindStringSubmatch(string(head)); m != nil {
			f.Starts = m[1]
		}
	}
	return f
}
