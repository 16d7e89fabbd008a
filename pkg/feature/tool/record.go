package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

// A trace is a log of the commands of a tool.
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
	root, dir := c.tools.State.Logs, c.tools.project.Logging.Dir // T-260
	if root == nil {
		var err error
		if root, err = c.tools.State.Root(); err != nil {
			return
		}
		dir = c.tools.State.Dir
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

const lastCommand = "last-command" // a file of a call, written by the SDK's file with the same name

// maxCommand limits the last command of a script in messages, in bytes.
const maxCommand = 200

// watchEnd lets a Bash script that fails write its last command to a file. Bash reads the file of BASH_ENV before the
// script.
func (c *call) watchEnd(spec *script.Spec) {
	isSet := func(entry string) bool { return strings.HasPrefix(entry, "BASH_ENV=") }
	if !c.isBash() || slices.ContainsFunc(spec.Env, isSet) {
		return
	}
	for _, entry := range spec.Env {
		if dir, ok := strings.CutPrefix(entry, "MCP_SDK="); ok && dir != "" {
			spec.Env = append(spec.Env, "BASH_ENV="+filepath.Join(dir, lastCommand+".sh"))
			return
		}
	}
}

// isBash reports whether Bash runs the script. It reads the script once, because that costs a call time.
func (c *call) isBash() bool {
	if known, ok := c.tools.bash.Load(c.script); ok {
		return known.(bool)
	}
	words := c.argv
	if len(words) == 1 { // the first line names the interpreter
		words = script.Interpreter(c.head(c.script, firstLine))
	}
	is := len(words) > 0 && strings.TrimSuffix(filepath.Base(words[0]), ".exe") == "bash"
	c.tools.bash.Store(c.script, is)
	return is
}

// end returns the last command of a script that failed, as a clause for messages, or "".
func (c *call) end(status int) string {
	if line := c.traceLine(); line != "" {
		return "; the last command in its trace is " + line
	}
	record, _ := c.files.Read(lastCommand, maxHead)
	head := c.head(c.script, maxHead)
	if command, line := readEnd(string(record), c.script, head); command != "" {
		text := "; its last command is " + secrets.Text(validText([]byte(command[:min(len(command), maxCommand)])))
		if line > 0 {
			text += fmt.Sprintf(" in line %d", line)
		}
		return text
	}
	command := fmt.Sprintf("exit %d", status)
	if line := lineOf(head, command); status > 0 && line > 0 && isShell(c.script, head) {
		return fmt.Sprintf("; possibly at %s in line %d, which MCPBASH_TRACE_TOOLS=true shows", command, line)
	}
	return ""
}

// readEnd returns the last command of a script from the record of sdk/last-command.sh, and its line, or 0 if that is
// unknown. If the command is in another file, readEnd returns the line of the script that led to it. head is the text
// of the script.
func readEnd(record, file string, head []byte) (command string, line int) {
	fields := strings.Split(record, "\n")
	if len(fields) < 2 {
		return "", 0
	}
	at, depth := 0, 0 // the frame of the script, and the number of frames
	if depth, _ = strconv.Atoi(fields[1]); depth > 1 {
		at = slices.Index(fields[2:], file)
	}
	names := depth // outside of functions, Bash lists no names
	if depth == 1 {
		names = 0
	}
	rest := 2 + depth + names // the index of the lines of the calls; the command follows them
	if depth < 1 || depth > len(fields) || len(fields) <= rest+depth {
		return "", 0
	}
	switch {
	case at > 0 && at < depth:
		line, _ = strconv.Atoi(fields[rest+at-1])
		return textOfLine(head, line), line
	case depth == 1:
		line, _ = strconv.Atoi(fields[0])
	}
	command = fields[rest+depth]
	if line <= 1 { // Bash has no line for a function or the trap for EXIT
		line = lineOf(head, command)
	}
	return command, line
}

// textOfLine returns a line of a script.
func textOfLine(head []byte, line int) string {
	lines := strings.Split(string(head), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}

// lineOf returns the line of a script with a command, or 0 if none or several have it.
func lineOf(head []byte, command string) int {
	before, after, found := bytes.Cut(head, []byte(command))
	if !found || bytes.Contains(after, []byte(command)) {
		return 0
	}
	return bytes.Count(before, []byte("\n")) + 1
}

func isShell(file string, head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	return script.IsShellName(file) || bytes.Contains(line, []byte("sh"))
}

// finish shortens the trace and redacts secrets.
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

// fail adds the cause of a result with an error to the record.
func (r *Request) fail(cause mcp.Cause) {
	if r.Event != nil {
		r.Event.Draft.Cause = cause
	}
}

// recordEnd adds the end of the script, and the reason of a failure, to the record.
func (c *call) recordEnd(res *script.Result, r *Result, err error) {
	if c.request.Event == nil {
		return
	}
	w := &c.request.Event.Draft
	w.Processor, w.Peak = res.Processor, res.Peak
	w.Ran, w.Ended, w.Status, w.Signal = time.Since(c.clock.start), true, res.Status, res.Signal
	var timeout *timeoutError
	var own *mcp.Error
	switch {
	case errors.As(err, &own) && own.Cause == mcp.CauseTool:
		w.Cause = own.Cause
	case errors.Is(res.Cause, script.ErrStdoutLimit), errors.Is(res.Cause, script.ErrStderrLimit):
		w.Cause = mcp.CauseOutput
	case errors.As(res.Cause, &timeout):
		w.Cause = mcp.CauseTime
	case c.cancelled(res.Cause) != nil:
		w.Cause = mcp.CauseCancelled
	case res.Signal != 0:
		w.Cause = mcp.CauseSignal
	case res.Status != 0:
		w.Cause = mcp.CauseStatus
	case r != nil && r.cause != mcp.CauseNone:
		w.Cause = r.cause
	case err != nil || r.IsError || r.Failure != nil:
		w.Cause = mcp.CauseTool
	}
}

// digests remembers hashes of tools for the record, so that a call of an unchanged tool reads no file. It is safe for
// concurrent use.
type digests struct {
	mu sync.Mutex
	of map[string]*digest // by the path of the script
}

type digest struct {
	stamp folder.Stamp // of the script
	read  time.Time
	item  json.RawMessage // the metadata

	script, metadata events.Hash
}

const (
	maxDigests = 4096
	maxHashed  = 4 << 20 // bytes of a script
)

// fill adds the hashes of a script, which may be a link, and of its metadata to the record.
func (d *digests) fill(w *events.Work, script string, item json.RawMessage) {
	stamp := folder.StampOfPath(script)
	if file := script; !stamp.Mode.IsRegular() {
		if file, _ = filepath.EvalSymlinks(file); file != "" {
			stamp = folder.StampOfPath(file)
		}
	}
	d.mu.Lock()
	of := d.of[script]
	d.mu.Unlock()
	if of == nil || of.stamp != stamp || !stamp.Settled(of.read) || !bytes.Equal(of.item, item) {
		of = &digest{stamp: stamp, read: time.Now(), item: item, metadata: sha256.Sum256(item), script: hashFile(script)}
		d.mu.Lock()
		if d.of == nil || len(d.of) >= maxDigests {
			d.of = map[string]*digest{}
		}
		d.of[script] = of
		d.mu.Unlock()
	}
	w.Script, w.Metadata = of.script, of.metadata
}

// hashFile returns the hash of a file, or zero for one that is not regular, is too long or cannot be read.
func hashFile(path string) events.Hash {
	text, err := boundedfile.Read(path, maxHashed)
	if err != nil {
		return events.Hash{}
	}
	return sha256.Sum256(text)
}

// summarise reports a failure to CI: a line in the log directory, and an annotation for GitHub Actions.
func (c *call) summarise(res *script.Result, message string, timedOut bool) {
	p := c.tools.project
	line := c.traceLine()
	message = secrets.Text(message)
	if p.CI && c.tools.State.Logs != nil {
		c.appendSummary(res, message, line, timedOut)
	}
	if p.Calls.GithubActions && line != "" && c.tools.Stderr != nil {
		if at := regexp.MustCompile(`^\++ ([^:]+):([0-9]+): `).FindStringSubmatch(line); at != nil {
			fmt.Fprintf(c.tools.Stderr, "::error file=%s,line=%s::%s\n", at[1], at[2],
				annotation.Replace(fmt.Sprintf("Tool %s failed: %s", c.entry.name, message)))
		}
	}
}

var annotation = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")

func (c *call) appendSummary(res *script.Result, message, traceLine string, timedOut bool) {
	args := c.request.Arguments
	size, status := len(args), res.Status
	if string(args) == "{}" {
		size = 0
	}
	if timedOut {
		status = timeoutStatus
	}
	sum := sha256.Sum256(args)
	var b rawjson.Builder
	b.Object().Name("ts").String(time.Now().UTC().Format("2006-01-02T15:04:05Z")).
		Name("tool").String(c.entry.name).Name("exitCode").Int(status).Name("timedOut").Bool(timedOut).
		Name("argCount").Int(len(rawjson.Members(args))).Name("argBytes").Int(size).
		Name("argHash").String(hex.EncodeToString(sum[:])).
		Name("metaKeys").Int(len(rawjson.Members(c.entry.item))).Name("roots").Int(len(c.request.Roots.List)).
		Name("message").String(message).Name("stderrTail").String(secrets.Text(c.tail(res.Stderr))).
		Name("traceLine").String(traceLine)
	f, err := handoff.OpenAppend(c.tools.State.Logs, "failure-summary.jsonl")
	if err != nil {
		return
	}
	f.Write(append(b.End().Bytes(), '\n')) // one write, so that calls do not interleave
	f.Close()
}
