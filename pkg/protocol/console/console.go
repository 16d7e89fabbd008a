// Package console writes what the operator of a server reads: lines on standard error, and the
// record of all messages in a debug run. No line contains a secret.
package console

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

// A Console writes lines to standard error. It is safe for concurrent use if its writer is.
type Console struct {
	io.Writer
	Redactor secrets.Redactor
	Settings *project.Logging
}

// New returns a Console for a project. The redactor knows the project's shared secret.
func New(stderr io.Writer, p *project.Project) *Console {
	return &Console{
		Writer: stderr, Settings: &p.Logging,
		Redactor: secrets.Redactor{Names: []string{p.Token.Key, p.Token.Fallback}, Values: []string{p.Token.Secret}},
	}
}

// Notice writes a line, unless the setting Quiet is on.
func (c *Console) Notice(format string, args ...any) {
	if !c.Settings.Quiet {
		c.write(mcp.Info, fmt.Sprintf(format, args...))
	}
}

// Announce writes a line that the operator always wants, such as an address, or text of a script.
func (c *Console) Announce(format string, args ...any) {
	c.write(mcp.Notice, fmt.Sprintf(format, args...))
}

// Complain writes a line whatever the operator wants, for errors of the process. The line stays one line, does nothing
// to a terminal and contains no secret.
func (c *Console) Complain(format string, args ...any) {
	c.write(mcp.Warning, fmt.Sprintf(format, args...))
}

func (c *Console) write(level mcp.Level, text string) {
	text = c.Redactor.Text(text)
	if j, ok := c.Writer.(*JSONLog); ok {
		j.Log(level, "mcp-bash", strings.TrimPrefix(text, "mcp-bash: "))
		return
	}
	cli.Printf(c.Writer, "%s\n", text)
}

// A CallLog writes a line for each request of a client. It is for servers with many clients.
type CallLog struct{ Console *Console }

// Emit implements [events.Sink].
func (l CallLog) Emit(e *events.Event) error {
	if e.Target.Method == "" {
		return nil
	}
	var b strings.Builder
	b.WriteString(e.Target.Method)
	if e.Target.Name != "" {
		fmt.Fprintf(&b, " %s", cli.Line(cli.Cut(e.Target.Name, maxName)))
	}
	if who := e.Caller(); who != "" {
		fmt.Fprintf(&b, " by %s", cli.Line(cli.Cut(who, maxName)))
	}
	if e.Source.Address != "" {
		fmt.Fprintf(&b, " from %s", e.Source.Address)
	}
	fmt.Fprintf(&b, ": %s", e.Outcome())
	switch {
	case e.Cause == mcp.CauseStatus:
		fmt.Fprintf(&b, " (exit %d)", e.Work.Status)
	case e.Cause != mcp.CauseNone:
		fmt.Fprintf(&b, " (%s)", strings.ReplaceAll(string(e.Cause), "_", " "))
	}
	if e.Work.Took > 0 {
		fmt.Fprintf(&b, ", %s", e.Work.Took.Round(100*time.Microsecond))
	}
	fmt.Fprintf(&b, " [%s]", e.ID)
	l.Console.Log(mcp.Info, "mcp.calls", b.String())
	return nil
}

// Ready implements [events.Sink].
func (CallLog) Ready() error { return nil }

// maxName is the width of a name in a line, in columns.
const maxName = 200

// A JSONLog writes each line as a JSON object with the members time, level, logger and msg. Text without a level has
// the level info. It is safe for concurrent use.
type JSONLog struct {
	Out  io.Writer
	mu   sync.Mutex
	part []byte // of a line that is not complete
}

// maxPart is the maximum length of a line, in bytes. Longer lines are split.
const maxPart = 64 << 10

// Write writes the lines of a text.
func (j *JSONLog) Write(text []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.part = append(j.part, text...)
	for {
		line, rest, whole := bytes.Cut(j.part, []byte("\n"))
		if !whole && len(line) < maxPart {
			return len(text), nil
		}
		if !whole {
			line, rest = line[:maxPart], line[maxPart:]
		}
		if line = bytes.TrimRight(line, "\r"); len(line) > 0 {
			if err := j.write(mcp.Info, "mcp-bash", string(line)); err != nil {
				return len(text), err
			}
		}
		j.part = append(j.part[:0], rest...)
	}
}

// Log writes a message.
func (j *JSONLog) Log(level mcp.Level, logger, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.write(level, logger, message) // an error cannot be reported anywhere
}

func (j *JSONLog) write(level mcp.Level, logger, message string) error {
	var b rawjson.Builder
	b.Object().Name("time").String(time.Now().UTC().Format(events.TimeFormat)).
		Name("level").String(level.String()).Name("logger").String(logger).Name("msg").String(message)
	_, err := j.Out.Write(append(b.End().Bytes(), '\n'))
	return err
}

// Log writes a message of the server itself. It has no filter.
func (c *Console) Log(level mcp.Level, logger, message string) {
	message = c.Redactor.Text(message)
	if j, ok := c.Writer.(*JSONLog); ok {
		j.Log(level, logger, message)
		return
	}
	cli.Printf(c.Writer, "mcp-bash: %s: %s: %s\n", level, logger, message)
}

// A ScriptLog writes the standard error of scripts for the operator. It bounds how fast each script fills the log,
// because clients decide how often a script runs. It is safe for concurrent use.
type ScriptLog struct {
	console *Console
	now     func() time.Time

	mu sync.Mutex
	of map[string]*scriptShare
}

// The bounds of a ScriptLog.
const (
	scriptEnd    = 4 << 10  // bytes of one run that are logged
	scriptLine   = 2 << 10  // bytes of a line
	scriptBurst  = 64 << 10 // bytes of a script at once
	scriptPace   = 1 << 10  // bytes of a script in a second, in the long run
	scriptShares = 1000     // scripts that each have a share; all others share one
)

// A scriptShare limits how much one script writes to the log.
type scriptShare struct {
	limiter *rate.Limiter
	left    int // bytes that were left out
}

// NewScriptLog returns a ScriptLog that writes to a console.
func NewScriptLog(c *Console) *ScriptLog {
	return &ScriptLog{console: c, now: time.Now, of: map[string]*scriptShare{}}
}

// Add writes the last lines of the standard error of a script that has ended. name is the script in messages, such as
// "tool 'x'". Lines that are left out are counted.
func (l *ScriptLog) Add(name string, stderr []byte) {
	stderr = bytes.TrimSpace(stderr)
	if len(stderr) == 0 {
		return
	}
	end := stderr
	if cut := len(stderr) - scriptEnd; cut > 0 {
		end = stderr[cut:]
		if i := bytes.IndexByte(end, '\n'); i >= 0 {
			end = end[i+1:]
		}
	}
	l.mu.Lock()
	share := l.share(name)
	share.left += len(stderr) - len(end)
	ok := share.limiter.AllowN(l.now(), len(end))
	left := share.left
	if share.left += len(end); ok {
		share.left = 0
	}
	l.mu.Unlock()
	if !ok {
		return
	}
	if left > 0 {
		l.console.Announce("mcp-bash: %s: [%d bytes left out]", name, left)
	}
	for line := range bytes.Lines(end) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > scriptLine {
			line = append(line[:scriptLine:scriptLine], " (shortened)"...)
		}
		if len(line) > 0 {
			l.console.Announce("mcp-bash: %s: %s", name, strings.ToValidUTF8(string(line), "\uFFFD"))
		}
	}
}

// share returns the share of a script. The lock is held.
func (l *ScriptLog) share(name string) *scriptShare {
	if l.of[name] == nil && len(l.of) >= scriptShares {
		name = ""
	}
	if l.of[name] == nil {
		l.of[name] = &scriptShare{limiter: rate.NewLimiter(scriptPace, scriptBurst)}
	}
	return l.of[name]
}

// A Record contains every message of a debug run, without secrets (protocol section 25). A nil
// Record records nothing.
type Record struct {
	mu       sync.Mutex
	file     *os.File
	ndjson   bool
	redactor *secrets.Redactor
}

// OpenRecord opens the record in the state directory. It returns nil if the project wants no
// record. ndjson selects one JSON object a line instead of text.
func (c *Console) OpenRecord(state *project.State, ndjson bool) (*Record, error) {
	if !c.Settings.DebugPayloads {
		return nil, nil
	}
	dir, err := state.Root()
	if err != nil {
		return nil, err
	}
	f, err := handoff.OpenAppend(dir, "payload.debug.log")
	if err != nil {
		return nil, err
	}
	return &Record{file: f, ndjson: ndjson, redactor: &c.Redactor}, nil
}

// Add appends a row: time, category, key, status, payload.
func (r *Record) Add(category, key, status string, payload []byte) {
	if r == nil {
		return
	}
	text := r.redact(payload)
	row := fmt.Sprintf("%d|%s|%s|%s|%s\n", time.Now().Unix(), category, key, status, text)
	if r.ndjson {
		row = string(object(category, key, status, text))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.WriteString(row)
}

// object returns a row for programs, in which a JSON payload stays JSON.
func object(category, key, status, payload string) []byte {
	var b rawjson.Builder
	b.Object().Name("ts").Int(int(time.Now().Unix())).Name("category").String(category).
		Name("key").String(key).Name("status").String(status).Name("payload")
	if v, err := rawjson.Check([]byte(payload)); err == nil {
		b.Raw(v)
	} else {
		b.String(payload)
	}
	return append(b.End().Bytes(), '\n')
}

var onOneLine = strings.NewReplacer("\r", `\r`, "\n", `\n`)

// redact returns a payload without secrets, and only the hash of a payload that is not JSON.
func (r *Record) redact(payload []byte) string {
	if len(payload) == 0 {
		return ""
	}
	if _, err := rawjson.Check(payload); err != nil {
		sum := sha256.Sum256(payload)
		return fmt.Sprintf("[payload hash=%x bytes=%d]", sum[:8], len(payload))
	}
	return onOneLine.Replace(r.redactor.Text(string(payload)))
}
