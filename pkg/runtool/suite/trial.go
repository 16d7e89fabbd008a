package suite

import (
	"context"

	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/runtool/cases"
)

// trials returns a test for each tool with a trial (T-520).
func (r *runner) trials(ctx context.Context) (tests []*test, err error) {
	items, err := r.listed(ctx)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if rawjson.Get(item.JSON, "trial") == nil {
			continue
		}
		file := folder.Label(r.base.Root, r.base.Tools) + "/" + rawjson.TextOf(item.JSON, "path")
		tests = append(tests, &test{Case: cases.Case{Name: "trial", Tool: item.Name}, file: file, isTrial: true})
	}
	return tests, nil
}

// try makes the trial of a tool.
func (r *result) try(ctx context.Context, e *server) {
	v := e.Tools.Try(ctx, &tool.Request{Name: r.Tool})
	switch v.Status {
	case tool.Failed:
		d := cases.Difference{What: "the call " + v.Call + " failed", Got: v.Reason}
		if v.Remedy != "" {
			d.Got += "\n" + v.Remedy
		}
		r.differences = []cases.Difference{d}
	case tool.NotTried:
		r.skipped = v.Reason
	}
}
