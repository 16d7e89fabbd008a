package scaffold

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
)

// A Verdict is the outcome of a trial, as mcp-runtool prints it (CLI-821).
type Verdict struct {
	Status string `json:"status"` // "passed", Failed or NotTried
	Call   string `json:"call,omitempty"`
	Reason string `json:"reason,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// Outcomes of a trial.
const (
	Failed   = "failed"
	NotTried = "not tried"
)

// Try makes the trials of some tools of a project. An error that prevents them is the reason of each.
func Try(ctx context.Context, p *project.Project, names []string) []Verdict {
	if len(names) == 0 {
		return nil
	}
	out, err := RunTool(ctx, p, append(slices.Clone(names), "--trial")...)
	list := make([]Verdict, len(names))
	lines := json.NewDecoder(bytes.NewReader(out))
	for i := range list {
		if err == nil {
			err = lines.Decode(&list[i])
		}
		if err != nil {
			list[i] = Verdict{Status: NotTried, Reason: strings.TrimPrefix(err.Error(), "run-tool: ")}
		}
	}
	return list
}

// RunTool runs mcp-runtool for a project, and returns the JSON that it prints. Every tool may run.
func RunTool(ctx context.Context, p *project.Project, args ...string) ([]byte, error) {
	program := script.Find("mcp-runtool", os.Getenv("PATH"))
	if program == "" {
		return nil, errors.New("mcp-runtool is neither next to this program nor on PATH; install all programs of mcp-bash")
	}
	var out bytes.Buffer
	args = append(slices.Clone(args), "--allow-all", "--json", "--project-root", p.Root)
	err := script.Pipe(ctx, nil, &out, program, args...)
	return out.Bytes(), err
}
