package suite

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/feature/prompt"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/file"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/runtool/cases"
	"mcp-bash/pkg/wire/mcp"
)

// isRecord reports whether a file is the record of a server, not a file of cases.
func isRecord(file string) bool { return strings.Contains(filepath.Base(file), ".jsonl") }

// maxRecorded is the number of requests of a record that can be tests.
const maxRecorded = 10_000

// loadRecord returns the requests of a record as tests.
func loadRecord(file string) (tests []*test, err error) {
	f, err := boundedfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	asked := map[string]bool{} // ids of requests with several answers
	err = trail.ReadLog(f, func(e *trail.Entry) error {
		t := &test{file: file, path: file, recorded: e}
		switch {
		case e.Broken != nil || !e.IsCall():
			return nil
		case len(tests) == maxRecorded:
			return fmt.Errorf("more than %d requests; choose some with mcp-bash audit", maxRecorded)
		case e.Asked || e.Interim || asked[e.ID]:
			asked[e.ID] = true
			t.skip = "it asked its client, or became a task"
		case e.Outcome != events.Success && e.Outcome != events.ApplicationError:
			t.skip = "the project did not decide its outcome"
		case !e.IsComplete():
			t.skip = "the record does not have all of its arguments"
		}
		t.Case = cases.Case{Line: e.Line, Tool: e.Target, Arguments: bytes.Clone(e.Arguments)}
		e.Raw, e.Arguments = nil, nil
		tests = append(tests, t)
		return nil
	})
	if err == nil && tests == nil {
		err = errors.New("there is no request in it")
	}
	return tests, err
}

// repeat makes a recorded request again if it is read-only, and compares how it ends.
func (r *result) repeat(ctx context.Context, e *server) {
	then, now := r.recorded, &events.Event{}
	var err error
	switch {
	case then.Type == events.ToolCall:
		entry, missing := e.Find(ctx, r.Tool)
		if missing != nil || !rawjson.True(rawjson.Path(entry, "annotations", "readOnlyHint")) {
			r.skipped = "no read-only tool has this name"
			return
		}
		var answer *tool.Result
		answer, err = e.Tools.Call(ctx, &tool.Request{Name: r.Tool, Arguments: r.Arguments, Roots: e.roots, Event: now})
		if err == nil {
			answer.Done()
		}
	case then.Type == events.ResourceRead && strings.HasPrefix(r.Tool, "file:"):
		c := e.ResourceConfig()
		c.FindName, c.New, c.Log, c.Debug = e.Lookup(kinds.Resources), files, e.Log, e.Debug
		_, err = resource.New(c).Read(ctx, resource.Request{URI: r.Tool})
	case then.Type == events.PromptGet:
		prompts := prompt.Prompts{Project: e.Project, Find: e.Prompt, Log: e.Log, Files: e.Files}
		_, err = prompts.Get(ctx, &prompt.Request{Name: r.Tool, Arguments: r.Arguments})
	default:
		r.skipped = "only tools, prompts and files are asked again"
		return
	}
	now.Cause = now.Draft.Cause
	if refusal, ok := errors.AsType[*mcp.Error](err); ok {
		now.Cause = cmp.Or(now.Cause, refusal.Why())
	}
	was := ending(then.Outcome, then.Reason, then.Status)
	is := ending(now.Outcome(), string(now.Cause), fmt.Sprint(now.Draft.Status))
	if was != is {
		r.differences = append(r.differences, cases.Difference{What: "outcome", Want: was, Got: is})
	}
}

// files returns the provider of files. Results from the network differ each time.
func files(_ string, c provider.Config) provider.Provider {
	return file.New(file.Settings{Dir: c.Root, Roots: c.FileRoots, Files: c.Files})
}

// ending describes how a request ended.
func ending(outcome events.Outcome, cause, status string) string {
	if status != "" && status != "0" {
		cause += " " + status
	}
	return strings.TrimSpace(string(outcome) + " " + cause)
}
