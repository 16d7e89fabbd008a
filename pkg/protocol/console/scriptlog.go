package console

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

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
	scriptShares = 1000     // scripts that each have a share; the others have one together
)

// A scriptShare is the part of the log of one script.
type scriptShare struct {
	limiter *rate.Limiter
	left    int // bytes that were left out
}

// NewScriptLog returns a ScriptLog that writes to a console.
func NewScriptLog(c *Console) *ScriptLog {
	return &ScriptLog{console: c, now: time.Now, of: map[string]*scriptShare{}}
}

// Add writes the last lines of the standard error of a script that has ended. name is the script in messages, such as
// "tool 'x'". Lines that are left out are counted (T-137).
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
		l.console.Complain("mcp-bash: %s: [%d bytes left out]", name, left)
	}
	for line := range bytes.Lines(end) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > scriptLine {
			line = append(line[:scriptLine:scriptLine], " (shortened)"...)
		}
		if len(line) > 0 {
			l.console.Complain("mcp-bash: %s: %s", name, strings.ToValidUTF8(string(line), "\uFFFD"))
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
