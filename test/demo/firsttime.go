package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// firstCommands are what somebody types who has just installed mcp-bash. README.md shows
// the same.
var firstCommands = []string{
	"mcp-bash new my-server --from ~/scripts",
	"cd my-server",
	"mcp-bash validate",
	`mcp-bash run-tool largest --allow-self --roots ~/scripts --args '{"count":2}'`,
	"mcp-bash config --client claude-code --apply",
}

// firstTime goes the way of a newcomer, from nothing to a client that calls a tool, and
// shows how long each command took.
func firstTime(ctx context.Context, server string, workspace *workspace, printer *printer) error {
	printer.step("a first time", "A folder of scripts becomes a server. Each command as typed, and how long it takes.")
	env := workspace.newcomer(filepath.Dir(server))
	dir := workspace.home
	began := time.Now()
	for _, line := range firstCommands {
		if place, ok := strings.CutPrefix(line, "cd "); ok {
			dir = filepath.Join(dir, place)
			printer.note("%9s  $ %s", "", line)
			continue
		}
		started := time.Now()
		cmd := exec.CommandContext(ctx, "bash", "-c", line)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", line, err, out)
		}
		printer.note("%6.0f ms  $ %s", time.Since(started).Seconds()*1000, line)
		if strings.Contains(line, "run-tool") && !bytes.Contains(out, []byte("./backup.sh")) {
			return fmt.Errorf("%s printed\n%s", line, out)
		}
	}
	started := time.Now()
	if err := callAsConfigured(ctx, workspace); err != nil {
		return err
	}
	printer.note("%6.0f ms  a client starts what its file says now, and calls todo", time.Since(started).Seconds()*1000)
	printer.note("%6.0f ms  in all", time.Since(began).Seconds()*1000)
	return wrapped(ctx, dir, env, printer)
}

// wrapCommands make tools of a program that every system has, and run one.
var wrapCommands = []string{
	"mcp-bash wrap sort --only reverse,numeric,unique",
	"cat tools/sort/tool.sh",
	`mcp-bash run-tool sort --allow-self --args '{"reverse":true,"text":"$(id)\n--help\n"}'`,
}

// wrapped shows how a program becomes a tool.
func wrapped(ctx context.Context, dir string, env []string, printer *printer) error {
	printer.step("any program", "wrap uses a recipe or the help of a program, and writes a tool for a person to read.")
	for _, line := range wrapCommands {
		started := time.Now()
		cmd := exec.CommandContext(ctx, "bash", "-c", line)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", line, err, out)
		}
		printer.note("%6.0f ms  $ %s", time.Since(started).Seconds()*1000, line)
		for text := range strings.Lines(string(out)) {
			if strings.HasPrefix(text, "mcp_argv") || strings.HasPrefix(text, "argv") || strings.HasPrefix(text, "{") {
				printer.note("           %s", strings.TrimRight(text, "\n"))
			}
		}
		if strings.Contains(line, "run-tool") && !bytes.Contains(out, []byte(`"--help\n$(id)\n"`)) {
			return fmt.Errorf("%s printed\n%s", line, out)
		}
	}
	return nil
}

// callAsConfigured behaves like a client with the written file. It starts the server of that file with a
// small environment, and calls a tool on the folder of scripts.
func callAsConfigured(ctx context.Context, workspace *workspace) error {
	text, err := os.ReadFile(filepath.Join(workspace.home, ".claude.json"))
	if err != nil {
		return err
	}
	var file struct {
		McpServers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return err
	}
	entry, ok := file.McpServers["my-server"]
	if !ok {
		return fmt.Errorf("no server in\n%s", text)
	}
	cmd := exec.Command(entry.Command, entry.Args...)
	cmd.Dir, cmd.Stderr = workspace.home, io.Discard
	cmd.Env = workspace.newcomer("")
	for name, value := range entry.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	talk := newConversation(cmd, &printer{out: io.Discard, width: 80})
	defer talk.close()
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1.0.0"}, nil)
	scripts := filepath.ToSlash(filepath.Join(workspace.home, "scripts"))
	client.AddRoots(&mcp.Root{URI: "file://" + scripts, Name: "scripts"})
	session, err := client.Connect(ctx, talk, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return err
	}
	call := &mcp.CallToolParams{Name: "todo", Arguments: map[string]any{"word": "what would be packed"}}
	result, err := session.CallTool(ctx, call)
	if err != nil {
		return err
	}
	const want = "./backup.sh:4:#   -n       only list what would be packed\n"
	if text, ok := result.Content[0].(*mcp.TextContent); !ok || result.IsError || text.Text != want {
		return fmt.Errorf("todo answered %+v", result)
	}
	return session.Close()
}
