// Package adopt makes tools from the scripts in a folder. It selects the scripts, reads them (pkg/shellscript), and
// describes their command lines as recipes. It starts none of them.
package adopt

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/pkg/shellscript"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/text/toolnames"
)

// The largest folder that is read: files, and folders below each other.
const (
	maxFiles = 5000
	maxDepth = 8
)

// A Found is a script of the folder that becomes a tool.
type Found struct {
	Path     string // relative to the folder, with slashes
	Tool     string // the name of the tool
	Language string // "bash", "sh", "python3", …: the base name of the interpreter
	Script   *shellscript.Script
	help     *recipe.Recipe // of the help of a script in another language, or nil
	asked    *wrap.Trial    // the call that made the script print its help, or nil
}

// A LeftOut is a file that does not become a tool although it looks like a script.
type LeftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
	Remedy string `json:"command,omitempty"` // a command, or ""
}

// A Folder has the scripts that were found in a folder.
type Folder struct {
	Dir     string // absolute
	Scripts []*Found
	LeftOut []LeftOut
	Others  int      // files that are not scripts
	Files   []string // all files that were read, and files next to the scripts
}

// skipped are folders whose scripts are not for people.
var skipped = []string{"node_modules", "vendor", "test", "tests", "spec", "__pycache__", "venv"}

// Look reads a folder and those below it. Links are followed only to files inside. Backups are left out.
func Look(dir string) (*Folder, error) {
	return open(dir, func(f *Folder, root *os.Root) error {
		return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			base := path.Base(name)
			hidden := strings.HasPrefix(base, ".")
			switch {
			case err != nil:
				f.leave(name, fsys.Cause(err).Error(), "")
			case name == ".":
			case d.IsDir():
				if hidden || strings.Count(name, "/") >= maxDepth || slices.Contains(skipped, strings.ToLower(base)) {
					return fs.SkipDir
				}
			case hidden, slices.Contains([]string{".bak", ".orig"}, path.Ext(base)), strings.HasSuffix(base, "~"):
			case len(f.Files) >= maxFiles:
				return fmt.Errorf("%s has more than %d files; give a smaller folder", dir, maxFiles)
			default:
				f.Files = append(f.Files, name)
				f.look(root, name)
			}
			return nil
		})
	})
}

// LookAt reads one script. A link is followed.
func LookAt(file string) (*Folder, error) {
	file, err := fsys.Physical(file)
	if err != nil {
		return nil, err
	}
	return open(filepath.Dir(file), func(f *Folder, root *os.Root) error {
		f.Files = []string{filepath.Base(file)}
		f.look(root, f.Files[0])
		f.Others = 0
		for _, s := range f.Scripts {
			f.Files = append(f.Files, s.Script.Sources...)
		}
		return nil
	})
}

// open fills a Folder.
func open(dir string, fill func(f *Folder, root *os.Root) error) (*Folder, error) {
	dir, err := fsys.Physical(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f := &Folder{Dir: dir}
	if err := fill(f, root); err != nil {
		return nil, err
	}
	f.names()
	return f, nil
}

func (f *Folder) leave(name, reason, remedy string) {
	f.LeftOut = append(f.LeftOut, LeftOut{name, reason, remedy})
}

// look reads one file.
func (f *Folder) look(root *os.Root, name string) {
	text, mode, err := read(root, name)
	plain := filepath.Join(f.Dir, filepath.FromSlash(name))
	full := shell.Quote(plain)
	interpreter := script.Interpreter(text)
	looksLike := len(interpreter) > 0 || script.IsShellName(name)
	tooLarge := errors.Is(err, shellscript.ErrSize)
	switch {
	case fsys.Escapes(err):
		if _, err := os.Stat(filepath.Join(f.Dir, name)); err != nil {
			f.leave(name, "a link that leads nowhere", "")
			return
		}
		f.leave(name, "a link to a file outside of the folder, which has to be named", "mcp-bash add "+full)
		return
	case err != nil && !tooLarge:
		f.leave(name, fsys.Cause(err).Error(), "")
		return
	case !looksLike || !tooLarge && !media.IsText(text):
		f.Others++
		return
	case tooLarge:
		f.leave(name, "larger than 1 MiB", "")
		return
	case bytes.Contains(text, []byte("\r\n")):
		f.leave(name, "Windows line ends", script.RemoveReturns(plain))
		return
	case script.HasMark(text):
		f.leave(name, "a byte order mark before the first line, which the system does not understand",
			script.RemoveMark(plain))
		return
	}
	found := &Found{Path: name, Language: "bash"}
	if len(interpreter) > 0 {
		found.Language = path.Base(interpreter[0])
	}
	if found.Parsed() {
		found.Script, err = shellscript.Read(text, func(other string) []byte {
			if text, _, err := read(root, path.Join(path.Dir(name), other)); err == nil && !strings.HasPrefix(other, "..") {
				return text
			}
			return nil
		})
		if syntax, ok := errors.AsType[*shellscript.SyntaxError](err); ok {
			f.leave(name, syntax.Error(), "bash -n "+full)
			return
		}
		if err != nil || found.Script.Library {
			f.Others++ // other scripts source it
			return
		}
	} else {
		found.Script = other(text)
	}
	switch {
	case mode&0o111 == 0:
		f.leave(name, "not executable", "chmod +x "+full)
	case len(interpreter) == 0:
		f.leave(name, "no first line with its interpreter", "sed -i.bak '1i #!/usr/bin/env bash' "+full)
	default:
		f.Scripts = append(f.Scripts, found)
	}
}

// other describes a script of another language. Its arguments are not known.
func other(text []byte) *shellscript.Script {
	return &shellscript.Script{
		Description: headOf(text), Unknown: true,
		Arguments: []*shellscript.Argument{
			{Name: "arguments", Value: true, Repeat: true, Doubts: []shellscript.DoubtKind{shellscript.DoubtPassedOn}},
			shellscript.InputArgument(shellscript.Names{}, 1),
		},
		Effects: shellscript.Effects{Writes: true, OwnFolder: true, Settings: shellscript.SettingsOf(string(text))},
		Doubts:  []shellscript.Doubt{{Kind: shellscript.DoubtPassedOn, What: "arguments", Line: 1}},
	}
}

// headOf returns the description in the head comment or the docstring of a script.
func headOf(text []byte) string {
	var lines []string
	end := "" // of a docstring
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		begins := func(mark string) bool { return strings.HasPrefix(line, mark) }
		switch {
		case end != "":
		case begins("#!"):
			continue
		case begins(`"""`), begins("'''"):
			line, end = line[3:], line[:3]
		case begins("/*"):
			line, end = line[2:], "*/"
		case line == "" || begins("#") || begins("//"):
			line = strings.TrimLeft(line, "#/")
		default:
			return shellscript.Describe(lines)
		}
		before, _, ended := strings.Cut(line, cmp.Or(end, "\x00"))
		if lines = append(lines, strings.TrimPrefix(before, "*")); ended {
			break
		}
	}
	return shellscript.Describe(lines)
}

// read returns the content and the mode of a regular file below root, or shellscript.ErrSize if it is larger than
// shellscript.MaxSize.
func read(root *os.Root, name string) ([]byte, fs.FileMode, error) {
	file, err := boundedfile.OpenIn(root, name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	text, err := io.ReadAll(io.LimitReader(file, shellscript.MaxSize+1))
	if err == nil && len(text) > shellscript.MaxSize {
		return text, 0, shellscript.ErrSize
	}
	return text, info.Mode(), err
}

// names gives each tool a unique name: the names of its folders and of its file, without the extension.
func (f *Folder) names() {
	taken := map[string]bool{}
	for _, s := range f.Scripts {
		name := toolName(strings.TrimSuffix(s.Path, path.Ext(s.Path)))
		if taken[name] {
			name = toolName(s.Path)
		}
		s.Tool = toolnames.Unique(name, taken)
	}
}

var notInName = lazyregexp.New(`[^a-z0-9_]+`)

// toolName returns a name that every client accepts.
func toolName(name string) string {
	name = strings.Trim(notInName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	name = strings.Trim(name[:min(len(name), 64)], "-")
	if !toolnames.IsPortable(name) {
		return "script"
	}
	return name
}
