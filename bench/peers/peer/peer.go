// Package peer is what the peers that are written in Go have in common: their
// options, and how an author who knows Go runs a script.
package peer

import (
	"context"
	"flag"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/bench/work"
)

// A Peer is how a peer was started.
type Peer struct {
	Tools   []string
	Content string // the directory of resources and the prompt; "": there are none
	scripts string
	prompt  string
}

// New reads the command line.
func New() *Peer {
	p := new(Peer)
	n := flag.Int("tools", 10, "how many tools to offer")
	flag.StringVar(&p.scripts, "scripts", "", "the directory of the scripts; none without it")
	flag.StringVar(&p.Content, "content", "", "the directory of resources and the prompt; none without it")
	flag.Parse()
	p.Tools = work.Names(p.scripts != "", *n)
	if p.Content != "" {
		text, err := os.ReadFile(work.PromptFile(p.Content))
		if err != nil {
			log.Fatal(err)
		}
		p.prompt = string(text)
	}
	return p
}

// Prompt is the text of the prompt, which is read once, as if it were part of
// the program.
func (p *Peer) Prompt(arguments map[string]string) string {
	return strings.ReplaceAll(p.prompt, "{{"+work.Argument+"}}", arguments[work.Argument])
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
