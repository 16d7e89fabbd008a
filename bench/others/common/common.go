// Package common contains the common parts of the other servers in Go: their options, and the code with
// which a Go programmer runs a script.
package common

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/bench/work"
)

// A Server runs the tools that its command line options select.
type Server struct {
	Tools   []string
	Content string // the directory of resources and the prompt; "" for none
	HTTP    bool   // serve over HTTP
	scripts string
	prompt  string
}

// New reads the command line.
func New() *Server {
	p := new(Server)
	n := flag.Int("tools", 10, "number of tools")
	flag.StringVar(&p.scripts, "scripts", "", "the directory of the scripts; none without it")
	flag.StringVar(&p.Content, "content", "", "the directory of resources and the prompt; none without it")
	flag.BoolVar(&p.HTTP, "http", false, "serve over HTTP, on a free port of 127.0.0.1")
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

// Prompt returns the text of the prompt. New reads it, as if it were part of
// the program.
func (p *Server) Prompt(arguments map[string]string) string {
	return strings.ReplaceAll(p.prompt, "{{"+work.Argument+"}}", arguments[work.Argument])
}

// Call runs the script of a tool, if it has one.
func (p *Server) Call(ctx context.Context, name string, arguments []byte) (string, error) {
	if !slices.Contains(work.Scripts, name) {
		return "done", nil
	}
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(p.scripts, name, "tool.sh"))
	cmd.Env = append(os.Environ(), "MCP_TOOL_ARGS_JSON="+string(arguments))
	out, err := cmd.Output()
	return string(out), err
}

// Serve serves over HTTP and prints the address.
func Serve(handler http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "serving http://%s/mcp\n", listener.Addr())
	return http.Serve(listener, handler)
}
