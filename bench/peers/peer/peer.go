// Package peer is what the peers that are written in Go have in common: their
// options, and how an author who knows Go runs a script.
package peer

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"mcp-bash/bench/work"
)

// A Peer is how a peer was started.
type Peer struct {
	Tools   []string
	scripts string
}

// New reads the command line.
func New() *Peer {
	p := new(Peer)
	n := flag.Int("tools", 10, "how many tools to offer")
	flag.StringVar(&p.scripts, "scripts", "", "the directory of the scripts; none without it")
	flag.Parse()
	p.Tools = work.Names(p.scripts != "", *n)
	return p
}

// Call does what a tool does: run its script, if it has one.
func (p *Peer) Call(ctx context.Context, name string, arguments []byte) (string, error) {
	if !slices.Contains(work.Scripts, name) {
		return "done", nil
	}
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(p.scripts, name, "tool.sh"))
	cmd.Env = append(os.Environ(), "MCP_TOOL_ARGS_JSON="+string(arguments))
	out, err := cmd.Output()
	return string(out), err
}
