package project

import (
	"strings"

	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/text/secrets"
)

// A StderrTarget is who gets the standard error of scripts, apart from the reason of a failure (T-137).
type StderrTarget struct {
	Client bool // members of results and of errors
	Log    bool // the standard error of the server
}

// stderrTarget reads MCPBASH_TOOL_STDERR for a server whose client is the operator.
func stderrTarget(env Env) StderrTarget {
	value := settings.String(env, "MCPBASH_TOOL_STDERR")
	return StderrTarget{Client: value != "log", Log: value == "log" || value == "both"}
}

// maxReason is the length of a reason for strangers, in bytes.
const maxReason = 1 << 10

// Reason returns the part of standard error that the client of a failed script gets as the reason. If the client gets
// no more than that, it is the last lines, without secrets.
func (s StderrTarget) Reason(stderr string) string {
	if s.Client {
		return stderr
	}
	if cut := len(stderr) - maxReason; cut > 0 {
		stderr = stderr[cut:]
		if _, rest, ok := strings.Cut(stderr, "\n"); ok {
			stderr = rest
		}
		stderr = strings.ToValidUTF8(stderr, "")
	}
	return secrets.Text(stderr)
}

// OverHTTP is the value of MCPBASH_TOOL_POLICY_CONTEXT in a server over HTTP. Its clients do not configure it (T-22).
const OverHTTP = "http"

// ServeStrangers changes settings whose default is another one if clients can be others than the operator.
func (s *Settings) ServeStrangers(env Env) {
	s.Calls.PolicyContext = OverHTTP
	if settings.String(env, "MCPBASH_TOOL_STDERR") == "auto" {
		s.Calls.StderrTo = StderrTarget{Log: true}
	}
}
