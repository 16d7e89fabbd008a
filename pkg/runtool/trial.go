package runtool

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
)

// try makes the trials of tools, as many at a time as there are processors, and prints their outcomes (CLI-821).
func (r *run) try(ctx context.Context, e *engine.Engine) error {
	names := append([]string{r.tool}, r.more...)
	for _, name := range r.more {
		if _, err := find(ctx, e, name); err != nil {
			return err
		}
	}
	verdicts := make([]tool.Verdict, len(names))
	slots := make(chan struct{}, runtime.NumCPU())
	var group sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			request := &tool.Request{Name: name, Timeout: r.timeout}
			if r.given("roots") {
				request.Roots = r.roots
			}
			verdicts[i] = e.Tools.Try(ctx, request)
		})
	}
	group.Wait()
	failed := false
	for i, v := range verdicts {
		failed = failed || v.Status == tool.Failed
		if r.json {
			var b rawjson.Builder
			b.Object().Name("tool").String(names[i])
			v.AppendJSON(&b)
			fmt.Fprintf(r.Out, "%s\n", b.End().Bytes())
		} else {
			cli.Printf(r.Out, "%s: %s\n", names[i], v.String())
		}
	}
	if r.check && failed {
		return cli.ExitCode(cli.ExitFailed)
	}
	return context.Cause(ctx)
}
