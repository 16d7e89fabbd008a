package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/secrets"
)

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
