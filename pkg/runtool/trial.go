package runtool

import (
	"context"
	"fmt"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
)

// try makes the trial of a tool and prints its outcome (CLI-821).
func (r *run) try(ctx context.Context, e *engine.Engine) error {
	request := &tool.Request{Name: r.tool, Timeout: r.timeout}
	if r.given("roots") {
		request.Roots = r.roots
	}
	v := e.Tools.Try(ctx, request)
	if r.json {
		var b rawjson.Builder
		b.Object().Name("tool").String(r.tool)
		v.AppendJSON(&b)
		fmt.Fprintf(r.Out, "%s\n", b.End().Bytes())
	} else {
		cli.Printf(r.Out, "%s: %s\n", r.tool, v.String())
	}
	if r.check && v.Status == tool.Failed {
		return cli.ExitCode(cli.ExitFailed)
	}
	return context.Cause(ctx)
}
