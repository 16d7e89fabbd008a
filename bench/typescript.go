package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/bench/work"
)

//go:embed others/typescript/server.mjs
var typescriptServer []byte

// typescriptSDK is the SDK's first generation, which most servers run; typescriptServer2 its
// second, which speaks revision 2026-07-28 too.
const (
	typescriptSDK     = "@modelcontextprotocol/sdk@1.32.2"
	typescriptServer2 = "@modelcontextprotocol/server@2.4.0"
	typescriptNode2   = "@modelcontextprotocol/node@2.1.2" // HTTP for it
)

// npmTime is how long npm may take.
const npmTime = 3 * time.Minute

// installTypescript puts the TypeScript SDK into the cache, and the server next to it, where Node looks for its
// modules.
func (p *fixture) installTypescript() error {
	node, err := exec.LookPath("node")
	if err != nil {
		return err
	}
	version := func(what string) string { return what[strings.LastIndexByte(what, '@')+1:] }
	dir, err := filepath.Abs(filepath.Join(".cache", "typescript-"+version(typescriptSDK)+"-"+version(typescriptServer2)+
		"-"+version(typescriptNode2)))
	if err != nil {
		return err
	}
	if cache := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(cache) {
		dir = filepath.Join(cache, "mcp-bash-bench", filepath.Base(dir))
	}
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err != nil {
		if err := npm(dir, typescriptSDK, typescriptServer2, typescriptNode2); err != nil {
			return err
		}
		if err := os.WriteFile(done, nil, 0o644); err != nil {
			return err
		}
	}
	file := filepath.Join(dir, "server.mjs")
	p.typescript = []string{node, file}
	return os.WriteFile(file, typescriptServer, 0o644)
}

func npm(dir string, what ...string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), npmTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", append([]string{"install", "--prefix", dir, "--ignore-scripts", "--no-audit",
		"--no-fund", "--loglevel", "error"}, what...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm: %w: %s", err, out)
	}
	return nil
}

// typescriptCommand returns the command line of the TypeScript server. It cannot import the Go packages of the
// others, so the options contain their values.
func (p *fixture) typescriptCommand(options []string) []string {
	argv := p.typescript[:len(p.typescript):len(p.typescript)]
	for _, o := range options {
		if strings.HasPrefix(o, "-") {
			o = "-" + o
		}
		argv = append(argv, o)
	}
	return append(argv, "--names", strings.Join(work.Scripts, ","), "--schema", work.Schema, "--description",
		work.Description("NAME"),
		"--resources", strings.Join(work.Resources, ","), "--prompt", work.Prompt, "--prompt-description",
		work.PromptDescription,
		"--argument", work.Argument)
}
