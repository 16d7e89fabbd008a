package validate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/shell"
)

// The purpose of a script determines who may change it.
type purpose int

const (
	otherScript    purpose = iota // of a prompt, resource, completion or provider
	toolScript                    // run by tools/call: T-41
	importedScript                // started by the tool that was made of it
	serverScript                  // in server.d: controls what the server runs
)

// maxScript is the maximum size of a script that is checked.
const maxScript = 1 << 20

type shellScript struct {
	file  string // absolute
	label string
	text  []byte
	as    purpose
	tool  string              // the script of the tool that runs or starts it, or ""
	needs *access.Declaration // of the tool; nil: it declares nothing, or the script is not that of a tool
}

// script checks a script that the server runs, once: owner, mode, first line and line ends. dir is
// the directory of the project that contains it.
func (c *check) script(dir, file string, as purpose) {
	if !c.once("script " + file) {
		return
	}
	label := c.label(file)
	if info, err := os.Lstat(file); err != nil {
		return // the registry reported it, or it was removed
	} else if info.Mode()&fs.ModeSymlink != 0 {
		c.link(file, label)
		return
	}
	c.trust(dir, file, label, as)
	text, stamp, err := folder.ReadFile(file, maxScript)
	switch {
	case errors.Is(err, folder.ErrTooLarge):
		if head, err := boundedfile.ReadHead(file, 256); err == nil && media.IsText(head) {
			c.at("script.too_large", label, fmt.Sprintf("larger than %d bytes, so it is not looked into", maxScript))
		}
		c.executable(file, label, stamp)
		return
	case err != nil:
		if !folder.Vanished(err) {
			c.at("script.unreadable", label, "cannot be read: "+fsys.Cause(err).Error())
		}
		return
	}
	if script.HasMark(text) && isBash(file, script.Interpreter(firstLine(text))) {
		c.add(finding.Finding{ID: "script.byte_order_mark", Path: label, Line: 1,
			Message: "a byte order mark before the first line, which Bash takes for a command",
			Fix:     script.RemoveMark(label)})
	}
	if as != serverScript { // server scripts are sourced
		c.executable(file, label, stamp)
		if script.IsShellName(file) && script.Interpreter(firstLine(text)) == nil {
			c.at("script.no_shebang", label, "missing shebang")
		}
	}
	interpreter := script.Interpreter(firstLine(text))
	if !script.IsShellName(file) && interpreter == nil {
		return
	}
	if at := bytes.Index(text, []byte("\r\n")); at >= 0 {
		line := bytes.Count(text[:at], []byte("\n")) + 1
		c.add(finding.Finding{ID: "script.crlf", Path: label, Line: line, Message: "Windows line ends (CRLF)",
			Fix: "convert it: sed -i.bak 's/\\r$//' " + shell.Quote(label)})
	}
	if as != serverScript {
		c.interpreter(label, text, interpreter)
	}
	if isBash(file, interpreter) {
		s := shellScript{file: file, label: label, text: text, as: as}
		if as == toolScript {
			s.tool = file
		}
		c.scripts = append(c.scripts, s)
	}
}

// firstLine returns the part of a script that determines its interpreter.
func firstLine(text []byte) []byte {
	if at := bytes.IndexByte(text, '\n'); at >= 0 {
		return text[:at+1]
	}
	return append(bytes.Clone(text), '\n')
}

// isBash reports whether Bash runs a script, according to its first line or, without one, its name (T-44).
func isBash(file string, interpreter []string) bool {
	if len(interpreter) == 0 {
		return script.IsShellName(file)
	}
	return slices.Contains([]string{"bash", "bash.exe"}, path.Base(interpreter[0]))
}

// executable checks the execute bit of a script. With --fix it sets the bit (CLI-1006).
func (c *check) executable(file, label string, stamp folder.Stamp) {
	c.executableAs("script.not_executable", file, label, stamp)
}

// executableAs is [check.executable] with the rule of a missing bit.
func (c *check) executableAs(id, file, label string, stamp folder.Stamp) {
	switch {
	case stamp.Mode&0o111 != 0 || runtime.GOOS == "windows":
		c.good("script.executable", label, "executable")
	case !c.o.Fix:
		c.add(finding.Finding{ID: id, Path: label, Message: "not executable", Fixable: true,
			Command: "chmod +x " + shell.Quote(file)})
	case makeExecutable(file, stamp) != nil:
		c.at(id, label, "not executable (chmod failed)")
	default:
		c.result.Fixed++
		c.good("script.made_executable", label, "fixed: made executable")
	}
}

// makeExecutable sets the execute bit of a file for all users who may read it. The file must be the
// one with the stamp seen, and not a link in its place.
func makeExecutable(file string, seen folder.Stamp) error {
	f, err := boundedfile.OpenBelow(filepath.Dir(file), file)
	if err != nil {
		return err
	}
	defer f.Close()
	if now := folder.StampOfFile(f); now.Dev != seen.Dev || now.Ino != seen.Ino {
		return errors.New("it has become another file")
	}
	mode := seen.Mode.Perm()
	return f.Chmod(mode | mode>>2&0o111)
}

// link reports a script that is a symbolic link, which the server does not offer.
func (c *check) link(file, label string) {
	if info, err := os.Stat(file); err == nil && info.Mode()&0o111 == 0 && runtime.GOOS != "windows" {
		c.at("script.link_not_executable", label,
			"not executable (symlink; skipped auto-fix, please inspect target)")
	}
	c.at("script.link", label, "is a symbolic link, which the server does not offer")
}

func isLink(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// trust applies the path rules of the server to a file (T-41, R-144). It reports each folder once.
func (c *check) trust(dir, file, label string, as purpose) {
	var err error
	switch as {
	case toolScript:
		err = trust.CheckScript(c.p.Root, dir, file)
	case serverScript:
		err = c.p.CheckTrusted(c.serverFile(file))
	default:
		err = c.p.CheckPath(file)
	}
	var insecure *trust.InsecureError
	if !errors.As(err, &insecure) || !c.once("insecure "+insecure.Path) {
		return
	}
	f := finding.Finding{ID: "path.insecure", Path: label, Message: "refused by the server: " + insecure.Why(shell.Quote)}
	if insecure.Path != file {
		f.Path = c.label(insecure.Path)
		f.Message = "the server refuses its content: " + insecure.Why(shell.Quote)
	}
	c.add(f)
}

var serverFiles = []code.Kind{code.Env, code.Policy, code.Register, code.HealthChecks}

func (c *check) serverFile(path string) code.File {
	at := slices.IndexFunc(serverFiles, func(k code.Kind) bool { return k.In(c.p).Path() == path })
	return serverFiles[at].In(c.p)
}
