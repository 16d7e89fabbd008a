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

// shells matches interpreters whose scripts parse their own options. Other languages have
// libraries for that.
var shells = lazyregexp.New(`^(?:sh|bash|dash|ash|ksh|mksh|zsh|fish)(?:\.exe)?$`)

// readerOf looks into the file of a program. getopt reports that a library reads its options, which end at "--", and
// node that it is a script of Node.js. Compiled programs contain the names of the library's functions, after an
// underscore on macOS.
func readerOf(file string) (getopt, node bool) {
	resolved, err := filepath.EvalSymlinks(file)
	if err != nil {
		return getopt, node
	}
	text, err := boundedfile.Read(resolved, maxProgram)
	if err != nil {
		return getopt, node
	}
	if bytes.HasPrefix(text, []byte("#!")) {
		words := script.Interpreter(text)
		getopt = len(words) > 0 && !shells.MatchString(path.Base(words[0]))
		node = slices.ContainsFunc(words, func(word string) bool { return path.Base(word) == "node" })
		return getopt, node
	}
	for _, name := range []string{"getopt", "getopt_long", "getopt_long_only", "argp_parse", "poptGetNextOpt"} {
		getopt = getopt || bytes.Contains(text, []byte("\x00"+name+"\x00")) ||
			bytes.Contains(text, []byte("\x00_"+name+"\x00"))
	}
	return getopt, node
}
