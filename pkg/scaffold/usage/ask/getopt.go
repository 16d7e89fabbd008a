package ask

import (
	"bytes"
	"path"
	"path/filepath"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/lazyregexp"
)

// maxProgram is the size of the largest program that is searched. Programs in C are smaller.
const maxProgram = 32 << 20

// shells matches interpreters whose scripts parse their own options. Other languages have
// libraries for that.
var shells = lazyregexp.New(`^(?:sh|bash|dash|ash|ksh|mksh|zsh|fish)(?:\.exe)?$`)

// hasGetopt reports whether a library parses the options of a program, so that "--" ends them.
// Compiled programs contain the names of the library's functions, after an underscore on macOS.
func hasGetopt(file string) bool {
	resolved, err := filepath.EvalSymlinks(file)
	if err != nil {
		return false
	}
	text, err := boundedfile.Read(resolved, maxProgram)
	if err != nil {
		return false
	}
	if bytes.HasPrefix(text, []byte("#!")) {
		words := script.Interpreter(text)
		return len(words) > 0 && !shells.MatchString(path.Base(words[0]))
	}
	for _, name := range []string{"getopt", "getopt_long", "getopt_long_only", "argp_parse", "poptGetNextOpt"} {
		if bytes.Contains(text, []byte("\x00"+name+"\x00")) || bytes.Contains(text, []byte("\x00_"+name+"\x00")) {
			return true
		}
	}
	return false
}
