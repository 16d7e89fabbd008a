// Demo shows the server at work. It creates a project, starts the server for it, and prints the conversation
// with the official Go client. Then it follows a new user's steps from an empty folder to a
// tool in a client, with the commands next to the server.
//
//	go run ./test/demo -server bin/mcp-bash
//
// The exit code is 1 if any result is wrong. The demo leaves no files.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"time"

	"mcp-bash/pkg/cli"
)

func main() {
	server := flag.String("server", filepath.Join("bin", "mcp-bash"), "the server to show")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	printer := &printer{out: os.Stdout, width: cli.Width(os.Stdout, 120), colour: cli.Colored(os.Stdout)}
	if err := run(ctx, *server, printer); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

// run runs all parts of the demo.
func run(ctx context.Context, server string, printer *printer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if server, err = filepath.Abs(server); err != nil {
		return err
	}
	workspace, err := newWorkspace()
	if err != nil {
		return err
	}
	defer func() {
		if e := workspace.remove(); err == nil {
			err = e
		}
	}()
	cmd := exec.Command(server)
	cmd.Dir, cmd.Env, cmd.Stderr = workspace.project, workspace.environment(), io.Discard
	talk := newConversation(cmd, printer)
	defer talk.close()
	if err := walkThrough(ctx, talk, workspace); err != nil {
		return err
	}
	return firstTime(ctx, server, workspace, printer)
}
