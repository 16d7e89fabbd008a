// Package console writes what the operator of a server reads: lines on standard error, and the
// record of all messages in a debug run. No line contains a secret.
package console

import (
	"fmt"
	"io"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
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

// Notice writes a line unless the operator wants quiet (P-1306).
func (c *Console) Notice(format string, args ...any) {
	if !c.Settings.Quiet {
		c.write(mcp.Info, fmt.Sprintf(format, args...))
	}
}

// Complain writes a line whatever the operator wants, for errors of the process. The line stays
// one line, does nothing to a terminal and contains no secret (P-1308, P-2502).
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
