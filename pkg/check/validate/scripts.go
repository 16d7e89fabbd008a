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
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/shell"
)

// What a script is for decides who may change it.
type purpose int

const (
	otherScript  purpose = iota // of a prompt, a resource or a completion, or a provider
	toolScript                  // run by tools/call: T-41
	serverScript                // of server.d: decides over what runs
)

// maxScript is how much of a script is read; more is no script that a person wrote.
const maxScript = 1 << 20

// A shellScript is the text of a Bash script.
type shellScript struct {
	file  string // absolute
	label string
	text  []byte
}

// script checks a script that the server runs, once: whose it is, its mode, its first line
// and its line ends. dir is the directory of the project that it belongs to.
func (c *check) script(dir, file string, as purpose) {
	if !c.once("script " + file) {
		return
	}
	label := c.label(file)
	if info, err := os.Lstat(file); err != nil {
		return // the registry said so, or it is gone by now
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
	if as != serverScript { // those are sourced
		c.executable(file, label, stamp)
		if isShellName(file) && !bytes.HasPrefix(text, []byte("#!")) {
			c.at("script.no_shebang", label, "missing shebang")
		}
	}
	interpreter := script.Interpreter(firstLine(text))
	if !isShellName(file) && interpreter == nil {
		return
	}
	if at := bytes.Index(text, []byte("\r\n")); at >= 0 {
		line := bytes.Count(text[:at], []byte("\n")) + 1
		c.add(finding.Finding{ID: "script.crlf", Path: label, Line: line, Message: "Windows line ends (CRLF)",
			Fix: "convert it: sed -i.bak 's/\\r$//' " + shell.Quote(label)})
	}
	if isBash(file, interpreter) {
		c.scripts = append(c.scripts, shellScript{file, label, text})
	}
}

// firstLine is as much of a script as tells its interpreter.
func firstLine(text []byte) []byte {
	if at := bytes.IndexByte(text, '\n'); at >= 0 {
		return text[:at+1]
	}
	return append(bytes.Clone(text), '\n')
}

func isShellName(file string) bool {
	ext := filepath.Ext(file)
	return ext == ".sh" || ext == ".bash"
}

// isBash reports whether Bash will read a script: its first line says so, or there is none
// and its name does (T-44).
func isBash(file string, interpreter []string) bool {
	if len(interpreter) == 0 {
		return isShellName(file)
	}
	return slices.Contains([]string{"bash", "bash.exe"}, path.Base(interpreter[0]))
}

// executable checks that a script has an execute bit, and with --fix sees to it (CLI-1006).
func (c *check) executable(file, label string, stamp folder.Stamp) {
	switch {
	case stamp.Mode&0o111 != 0 || runtime.GOOS == "windows":
		c.good("script.executable", label, "executable")
	case !c.o.Fix:
		c.add(finding.Finding{ID: "script.not_executable", Path: label, Message: "not executable", Fixable: true,
			Command: "chmod +x " + shell.Quote(file)})
	case makeExecutable(file, stamp) != nil:
		c.at("script.not_executable", label, "not executable (chmod failed)")
	default:
		c.result.Fixed++
		c.good("script.made_executable", label, "fixed: made executable")
	}
}

// makeExecutable gives a file an execute bit for whoever may read it. It must be the one that
// was looked at: a link that has taken its place is not followed.
func makeExecutable(file string, seen folder.Stamp) error {
	f, err := openRegular(file)
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

// isLink reports whether there is a symbolic link.
func isLink(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// trust applies the path rules that the server applies before it runs or believes a file
// (T-41, R-144). What is wrong with a folder is said once.
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
	f := finding.Finding{ID: "path.insecure", Path: label, Message: "refused by the server: " + insecure.Reason}
	if insecure.Path != file {
		f.Path = c.label(insecure.Path)
		f.Message = "what lies in it is refused by the server: " + insecure.Reason
	}
	c.add(f)
}

// serverFiles are what the server sources.
var serverFiles = []code.Kind{code.Env, code.Policy, code.Register, code.HealthChecks}

// serverFile returns the one of them that lies at a path.
func (c *check) serverFile(path string) code.File {
	at := slices.IndexFunc(serverFiles, func(k code.Kind) bool { return k.In(c.p).Path() == path })
	return serverFiles[at].In(c.p)
}

// openRegular opens a regular file in its directory.
func openRegular(file string) (*os.File, error) {
	dir, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return boundedfile.OpenIn(dir, filepath.Base(file))
}
