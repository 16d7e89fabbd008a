package ask

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

// maxScript limits how much of a shell script is searched.
const maxScript = 4 << 10

// shells matches interpreters whose scripts parse their own options. Other languages have
// libraries for that.
var shells = lazyregexp.New(`^(?:sh|bash|dash|ash|ksh|mksh|zsh|fish)(?:\.exe)?$`)

// inPlace matches the line of a shell script that runs another program in its place.
var inPlace = lazyregexp.New(`(?m)^[ \t]*exec ["']?(/[^"'\s$]+)["']?(?:[ \t]|$)`)

// A reader is what a file shows about the program in it.
type reader struct {
	getopt bool   // a library reads its options, which end at "--"
	node   bool   // it is a script of Node.js
	starts string // the program that a shell script runs in its place, or ""
}

// InPlace returns the program that a shell script runs in its place, or "".
func InPlace(file string) string { return readerOf(file).starts }

// readerOf looks into the file of a program. Compiled programs contain the names of the library's functions, after an
// underscore on macOS.
func readerOf(file string) (r reader) {
	resolved, err := filepath.EvalSymlinks(file)
	if err != nil {
		return r
	}
	text, err := boundedfile.Read(resolved, maxProgram)
	if err != nil {
		return r
	}
	if bytes.HasPrefix(text, []byte("#!")) {
		words := script.Interpreter(text)
		is := func(word string) bool { return path.Base(word) == "node" }
		switch r.node = slices.ContainsFunc(words, is); {
		case len(words) == 0, r.node: // programs of Node.js often read their options themselves
		case !shells.MatchString(path.Base(words[0])):
			r.getopt = true
		default:
			if m := inPlace.FindStringSubmatch(string(text[:min(len(text), maxScript)])); m != nil {
				r.starts = m[1]
			}
		}
		return r
	}
	for _, name := range []string{"getopt", "getopt_long", "getopt_long_only", "argp_parse", "poptGetNextOpt"} {
		r.getopt = r.getopt || bytes.Contains(text, []byte("\x00"+name+"\x00")) ||
			bytes.Contains(text, []byte("\x00_"+name+"\x00"))
	}
	return r
}
