package tool

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/text/shell"
)

// A trace is a log of the commands of a tool (T-260).
type trace struct {
	file     *os.File
	max      int
	line     string // last line, shortened
	nonempty bool
}

const (
	traceFD      = 9
	maxTraceLine = 512
	firstLine    = 256 // bytes that contain the first line of a script
)

// startTrace runs a shell script under "bash -x", with the trace in a separate file. It does not
// change how other programs run.
func (c *call) startTrace(spec *script.Spec) {
	if !isShell(c.script, c.head(c.script, firstLine)) {
		return
	}
	root, dir, err := c.tools.logs()
	if err != nil {
		return
	}
	name := fmt.Sprintf("trace.%s.%d.%s.log", project.FileName(c.entry.name), os.Getpid(), c.tools.unique())
	file, err := root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	calls := &c.tools.project.Calls
	c.trace = &trace{file: file, max: calls.TraceMax}
	spec.Argv = []string{"bash", "-x", c.script}
	spec.Extra = map[int]uintptr{traceFD: file.Fd()}
	spec.Env = append(spec.Env, "BASH_XTRACEFD=9", "MCPBASH_TRACE_FILE="+filepath.Join(dir, name))
	spec.Env = project.Override(spec.Env, "PS4", calls.TracePS4)
}

const lastCommand = "last-command" // a file of a call: the command at which its script ended

// maxCommand limits the last command of a script in messages, in bytes.
const maxCommand = 200

// watchEnd lets a Bash script that fails write its last command to a file (T-190). Bash reads the file of BASH_ENV
// before the script, so a trap of the script replaces this one. Bash scripts that the script starts do not get the
// variable.
func (c *call) watchEnd(spec *script.Spec) {
	const file = "bash-env"
	if slices.ContainsFunc(spec.Env, func(entry string) bool { return strings.HasPrefix(entry, "BASH_ENV=") }) {
		return
	}
	trap := fmt.Sprintf(`case $?,$0 in 0,*) ;; *,%s) printf %%s "$BASH_COMMAND" >|%s ;; esac`, shell.Quote(c.script),
		shell.Quote(c.files.Path(lastCommand))) // $0 is known when the trap runs: Bash 3.2 sets it late
	text := "unset BASH_ENV\ntrap " + shell.Quote(trap) + " EXIT\n"
	if c.files.Create(file, []byte(text)) == nil {
		spec.Env = append(spec.Env, "BASH_ENV="+c.files.Path(file))
		c.watched = true
	}
}

// end returns the last command of a script that failed, as a clause for messages, or "". If nothing recorded it, the
// next call of the script does.
func (c *call) end() string {
	if line := c.traceLine(); line != "" {
		return "; the last command in its trace is " + line
	}
	command, _ := c.files.Read(lastCommand, maxHead)
	head := c.head(c.script, maxHead)
	if len(command) == 0 {
		if !c.watched && isShell(c.script, head) {
			c.tools.failing.Store(c.script, true)
		}
		return ""
	}
	first, _, _ := bytes.Cut(command, []byte("\n"))
	where := ""
	if bytes.Count(head, first) == 1 {
		where = fmt.Sprintf(" in line %d", bytes.Count(head[:bytes.Index(head, first)], []byte("\n"))+1)
	}
	first = first[:min(len(first), maxCommand)]
	return fmt.Sprintf("; its last command is %s%s", secrets.Text(validText(first)), where)
}

func isShell(file string, head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return script.IsShellName(file) || bytes.Contains(line, []byte("sh"))

}

// finish shortens the trace and redacts secrets (T-261).
func (t *trace) finish(res *script.Result) {
	defer t.file.Close()
	t.moveFromStderr(res)
	info, err := t.file.Stat()
	if err != nil || info.Size() == 0 {
		return
	}
	size := min(info.Size(), int64(t.max))
	end := make([]byte, size)
	if _, err := t.file.ReadAt(end, info.Size()-size); err != nil && err != io.EOF {
		return
	}
	shown := []byte(secrets.Text(string(end))) // commands contain their arguments
	if (size < info.Size() || !bytes.Equal(shown, end)) && t.file.Truncate(0) == nil {
		t.file.Write(shown)
	}
	end = shown
	t.nonempty = true
	lines := bytes.Split(bytes.TrimRight(end, "\n"), []byte("\n"))
	last := lines[len(lines)-1]
	t.line = validText(last[:min(len(last), maxTraceLine)])
}

// moveFromStderr moves the trace out of standard error, where Bash before 4.1 writes it.
func (t *trace) moveFromStderr(res *script.Result) {
	info, err := t.file.Stat()
	if err != nil || info.Size() > 0 || !bytes.Contains(res.Stderr, []byte("+ ")) {
		return
	}
	traced := regexp.MustCompile(`^\++ [^ :]+:[0-9]+: `)
	var kept []byte
	for line := range bytes.Lines(res.Stderr) {
		if traced.Match(line) {
			t.file.Write(line)
		} else {
			kept = append(kept, line...)
		}
	}
	res.Stderr = kept
}

func (t *trace) available() bool { return t != nil && t.nonempty }

func (c *call) traceLine() string {
	if c.trace == nil {
		return ""
	}
	return strings.TrimRight(c.trace.line, "\r")
}
