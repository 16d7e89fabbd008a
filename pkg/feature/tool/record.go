package tool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

// recordEnd gives the record the end of the script, and why the call failed.
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

// fill gives the record the hashes of a script, which may be a link, and of its metadata.
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

// summarise reports a failure to CI: a line in the log directory (T-262), and an annotation for
// GitHub Actions (T-263).
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
