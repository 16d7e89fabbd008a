package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// walkThrough goes through a session step by step, and stops where something is not as
// it should be.
func walkThrough(ctx context.Context, talk *conversation, workspace *workspace) error {
	printer := talk.printer
	rootsAsked := make(chan struct{})
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			printer.note("The user reads \"%s\" and says yes.", r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"confirmed": true}}, nil
		},
	})
	client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(workspace.library), Name: "library"})
	client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "roots/list" {
				defer close(rootsAsked)
			}
			return next(ctx, method, r)
		}
	})

	printer.step("initialize",
		"Client and server say who they are; then the server asks which directories it may work in.")
	session, err := client.Connect(ctx, talk, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		return err
	}
	if name := session.InitializeResult().ServerInfo.Title; name != "Librarian" {
		return fmt.Errorf("the server calls itself %q", name)
	}
	select {
	case <-rootsAsked:
	case <-ctx.Done():
		return errors.New("the server did not ask for roots")
	}

	printer.step("tools/list", "Each folder in tools/ is a tool: a script and its description.")
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	if len(list.Tools) != 2 || list.Tools[0].Name != "count-words" || list.Tools[1].Name != "remove-empty" {
		return fmt.Errorf("%d tools are listed", len(list.Tools))
	}

	printer.step("tools/call", "The server runs a Bash script, and passes on its progress while it runs.")
	call := &mcp.CallToolParams{Name: "count-words"}
	call.SetProgressToken("count")
	var counted struct{ Texts, Lines, Words int }
	if err := callTool(ctx, session, call, &counted); err != nil {
		return err
	}
	if counted.Texts != 4 || counted.Lines != 7 || counted.Words != 44 || talk.count("notifications/progress") != 4 {
		return fmt.Errorf("counted %+v, with %d progress reports", counted, talk.count("notifications/progress"))
	}
	printer.note("%d texts, %d lines, %d words.", counted.Texts, counted.Lines, counted.Words)

	printer.step("elicitation", "A script asks the user before it removes anything, and waits for the answer.")
	var tidied struct{ Removed []string }
	if err := callTool(ctx, session, &mcp.CallToolParams{Name: "remove-empty"}, &tidied); err != nil {
		return err
	}
	if strings.Join(tidied.Removed, " ") != "letters/unwritten.txt" || talk.count("elicitation/create") != 1 {
		return fmt.Errorf("removed %q after %d questions", tidied.Removed, talk.count("elicitation/create"))
	}
	if _, err := os.Stat(filepath.Join(workspace.library, "letters", "unwritten.txt")); !errors.Is(err,
		os.ErrNotExist) {
		return fmt.Errorf("the empty text is still there (%v)", err)
	}

	printer.step("error", "A path outside the client's directories is refused by the SDK: the script goes no further.")
	_, err = session.CallTool(ctx, &mcp.CallToolParams{Name: "count-words", Arguments: map[string]any{"path": "/etc"}})
	var refusal *jsonrpc.Error
	if !errors.As(err, &refusal) || refusal.Code != -32602 ||
		!strings.HasPrefix(refusal.Message, ".path is outside configured MCP roots: ") {
		return fmt.Errorf("the path is not refused as it should be: %v", err)
	}

	printer.step("shutdown", "The client closes the server's input; the server ends and cleans up after itself.")
	if err := session.Close(); err != nil {
		return err
	}
	if left, err := filepath.Glob(filepath.Join(workspace.tmp, "mcpbash.state.*")); err != nil || len(left) > 0 {
		return fmt.Errorf("the server left behind %q", left)
	}
	printer.note("Exit code %d. Every line of the server was valid by the published schema.",
		talk.cmd.ProcessState.ExitCode())
	return nil
}

// callTool calls a tool that must answer with an object.
func callTool(ctx context.Context, session *mcp.ClientSession, call *mcp.CallToolParams, into any) error {
	result, err := session.CallTool(ctx, call)
	if err != nil {
		return err
	}
	data, err := json.Marshal(result.StructuredContent)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil || result.IsError || result.StructuredContent == nil {
		return fmt.Errorf("%s answered %s (%v)", call.Name, data, err)
	}
	return nil
}
