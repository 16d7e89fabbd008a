package runtool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// A listedTool is a tool, and why it would not run, or "".
type listedTool struct {
	item   json.RawMessage // its registry entry
	reason string
	listed bool // the list of tools that agents may call has it
}

// list prints the tools of the project, and which of them would run (CLI-813).
func (r *run) list(ctx context.Context, e *engine.Engine) error {
	offers, err := r.offers(ctx, e)
	if err != nil {
		return err
	}
	if r.readable() {
		r.table(offers)
		return nil
	}
	var b rawjson.Builder
	b.Object().Name("tools").Array()
	for _, o := range offers {
		b.Object()
		for _, name := range []string{"name", "title", "description", "path"} {
			b.OptionalRaw(name, rawjson.Get(o.item, name))
		}
		b.Name("status").String(status(o.reason))
		b.Optional("reason", o.reason)
		if !o.listed {
			b.Name("listed").Bool(false)
		}
		b.End()
	}
	_, err = fmt.Fprintf(r.Out, "%s\n", b.End().Name("total").Int(len(offers)).End().Bytes())
	return err
}

func (r *run) offers(ctx context.Context, e *engine.Engine) ([]listedTool, error) {
	items := r.cached
	if items == nil {
		list, err := e.Catalog.List(ctx, kinds.Tools)
		if err != nil {
			return nil, unavailable(kinds.Tools.Unavailable(err))
		}
		for _, item := range list.Items {
			items = append(items, item.JSON)
		}
	}
	offers := make([]listedTool, len(items))
	for i, item := range items {
		request := &tool.Request{Name: rawjson.TextOf(item, "name")}
		would := e.Tools.DryRun(ctx, request)
		refusal, refused := errors.AsType[*mcp.Error](would.Refusal)
		offers[i] = listedTool{item, would.Reason(), !refused || refusal.Cause != mcp.CauseNotListed}
	}
	return offers, context.Cause(ctx)
}

func (r *run) table(offers []listedTool) {
	if len(offers) == 0 {
		fmt.Fprintln(r.Out, "The project has no tools: put a script into tools/NAME/tool.sh.")
		return
	}
	table := cli.Table{{"NAME", "STATUS", "DESCRIPTION"}}
	blocked, unlisted := false, false
	for _, o := range offers {
		blocked, unlisted = blocked || o.listed && o.reason != "", unlisted || !o.listed
		about, _, _ := strings.Cut(rawjson.TextOf(o.item, "description"), "\n")
		table = append(table, []string{rawjson.TextOf(o.item, "name"), o.shown(), about})
	}
	table.Print(r.Out)
	if blocked {
		fmt.Fprintln(r.Out, "\nWhy one is blocked: mcp-bash run-tool NAME --dry-run.")
	}
	if unlisted {
		fmt.Fprintln(r.Out, "\nAgents may call the tools that MCPBASH_TOOL_ALLOWLIST names; mcp-bash config sets it for a "+
			"client.\nHere you can run a tool that is not listed with --allow-self.")
	}
}

// shown returns the status for people.
func (t listedTool) shown() string {
	if !t.listed {
		return "not listed"
	}
	return status(t.reason)
}

func status(reason string) string {
	if reason != "" {
		return "blocked"
	}
	return "ready"
}

func unavailable(e *mcp.Error) error {
	return cli.Failf(cli.CodeInvalid, "%s: %s", e.Message, rawjson.TextOf(e.Data, "reason"))
}

// readCache returns the tools of .registry/tools.json without a scan (--no-refresh).
func readCache(p *project.Project) ([]json.RawMessage, error) {
	list, err := registry.NewCatalog(p, registry.Options{}).File(kinds.Tools)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, cli.Failf(cli.CodeNotFound, "registry cache missing (expected %s)",
			filepath.Join(p.Registry, kinds.Tools.File))
	case err != nil:
		return nil, cli.Failf(cli.CodeInvalid, "invalid tools registry cache (%v)", err)
	}
	return list.JSON(), nil
}
