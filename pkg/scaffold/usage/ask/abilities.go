package ask

import (
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/lazyregexp"
)

// Abilities are the things that a program can do other than reading and writing, as far as
// its file shows. Scripts can start other programs. Compiled programs contain the names of
// functions that start programs, look up hosts or parse options.
type Abilities struct {
	Script   bool // the program is a script
	Starts   bool // it can start other programs
	Connects bool // it can look up other hosts
	Getopt   bool // a library parses its options, and "--" ends them
}

// maxProgram limits how many bytes of a program are searched. Larger programs are assumed to
// start others.
const maxProgram = 256 << 20

// The names as they appear in symbol tables, in Go's tables and in the import tables of Windows.
var (
	startNames = append(symbols("execve", "execv", "execvp", "execl", "execlp", "posix_spawn", "posix_spawnp",
		"popen", "system"), []byte("os/exec.(*Cmd).Start"), []byte("CreateProcessW"))
	connectNames = append(symbols("getaddrinfo", "gethostbyname"), []byte("net.(*Dialer).DialContext"))
	getoptNames  = symbols("getopt", "getopt_long", "getopt_long_only", "argp_parse", "poptGetNextOpt")
)

// shells matches interpreters whose scripts parse their own options. Other languages have
// libraries for that.
var shells = lazyregexp.New(`^(?:sh|bash|dash|ash|ksh|mksh|zsh|fish)(?:\.exe)?$`)

// symbols returns names between zero bytes, with and without the leading underscore that
// macOS adds.
func symbols(names ...string) (list [][]byte) {
	for _, name := range names {
		list = append(list, []byte("\x00"+name+"\x00"), []byte("\x00_"+name+"\x00"))
	}
	return list
}

// abilities returns the abilities of a program. Each file is searched once.
func (a *Asker) abilities(file string) Abilities {
	a.mu.Lock()
	known, ok := a.known[file]
	a.mu.Unlock()
	if ok {
		return known
	}
	can := abilitiesOf(file)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[file] = can
	return can
}

func abilitiesOf(file string) (can Abilities) {
	resolved, err := filepath.EvalSymlinks(file)
	if err != nil {
		return can
	}
	dir, err := os.OpenRoot(filepath.Dir(resolved))
	if err != nil {
		return can
	}
	defer dir.Close()
	f, err := boundedfile.OpenIn(dir, filepath.Base(resolved))
	if err != nil {
		return can
	}
	defer f.Close()
	const overlap = 64 // longer than any of the names
	buffer := make([]byte, overlap+1<<20)
	kept := 0
	for total := 0; ; {
		n, err := io.ReadFull(f, buffer[kept:])
		part := buffer[:kept+n]
		if total == 0 && bytes.HasPrefix(part, []byte("#!")) {
			words := script.Interpreter(part)
			return Abilities{Script: true, Starts: true, Getopt: len(words) > 0 && !shells.MatchString(path.Base(words[0]))}
		}
		can.Starts = can.Starts || containsAny(part, startNames)
		can.Connects = can.Connects || containsAny(part, connectNames)
		can.Getopt = can.Getopt || containsAny(part, getoptNames)
		if total += n; err != nil || can.Starts && can.Connects && can.Getopt {
			return can
		}
		if total > maxProgram {
			can.Starts = true
			return can
		}
		kept = copy(buffer, part[len(part)-overlap:])
	}
}

func containsAny(text []byte, names [][]byte) bool {
	for _, name := range names {
		if bytes.Contains(text, name) {
			return true
		}
	}
	return false
}
