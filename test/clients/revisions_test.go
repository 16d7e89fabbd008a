//go:build unix

package clients

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// Every handshake revision, with the lines checked by its own schema (protocol
// P-800 to P-804).
func TestRevisions(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "02-progress")
	for _, revision := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			s := open(t, project, opening{revision: revision})
			if got := s.InitializeResult().ProtocolVersion; got != revision {
				t.Errorf("%s", got)
			}
			if err := s.Ping(s.deadline(), nil); err != nil {
				t.Error(err)
			}
			if list, err := s.ListTools(s.deadline(), nil); err != nil || len(list.Tools) != 2 {
				t.Errorf("%s, %v", compact(t, list), err)
			}
			if got := text(t, s.succeed("countdown", arguments{"from": 1, "pause": 0})); got != "1 lift-off!" {
				t.Errorf("%q", got)
			}
			if got := s.reports(); len(got) != 2 {
				t.Errorf("%q", got)
			}
		})
	}
}

// The client as anyone would write it, with the transport it comes with and
// whatever revision the two agree on.
func TestPlainClient(t *testing.T) {
	t.Parallel()
	tmp := checkout.Directory(t)
	cmd := exec.Command(filepath.Join(bin, "mcp-bash"))
	cmd.Dir, cmd.Env = tmp, environment(checkout.Example(t, "00-hello"), tmp, nil)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "plain", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: patience}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "hello", Arguments: arguments{"name": "Ada"}})
	if err != nil || len(names) != 1 || text(t, result) != "Hello, Ada!" {
		t.Errorf("%q, %v, %v", names, result, err)
	}
	if err := session.Close(); err != nil { // the exit of the server
		t.Error(err)
	}
}
