package main

import (
	"context"
	"fmt"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry"
)

func get(s cli.Streams, o options) error {
	return onProject(s, o, func(ctx context.Context, r *registry.Project) error {
		t, err := r.Tool(ctx, o.operand)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Out, "%s\n", t.AppendText(nil, ""))
		return nil
	})
}

func list(s cli.Streams, o options) error {
	keep, err := selection(o)
	if err != nil {
		return err
	}
	return onProject(s, o, func(ctx context.Context, r *registry.Project) error {
		tools, err := r.Tools(ctx)
		if err != nil {
			return err
		}
		var out rawjson.Builder
		var lines []byte
		total := 0
		out.Object().Name("tools").Array()
		for i := range tools {
			if t := &tools[i]; keep(t) {
				total++
				out.Append(t.AppendJSON)
				lines = append(t.AppendJSON(lines), '\n')
			}
		}
		out.End().Name("total").Int(total).Name("level").String(string(r.Level())).End()
		if !o.ndjson {
			lines = append(out.Bytes(), '\n')
		}
		_, err = s.Out.Write(lines)
		return err
	})
}

// selection returns which tools --capability and --level ask for.
func selection(o options) (keep func(*registry.RegisteredTool) bool, err error) {
	capability, ok := registry.ParseCapability(o.capability)
	if o.capability != "" && !ok {
		var known []string
		for _, c := range registry.Capabilities {
			known = append(known, string(c))
		}
		return nil, cli.Usagef("--capability: unknown capability %q; there are %s", o.capability, strings.Join(known, ", "))
	}
	level, ok := registry.ParseLevel(o.level)
	if !ok {
		return nil, cli.Usagef("--level: unknown security level %q; there are restricted, standard, elevated, full", o.level)
	}
	return func(t *registry.RegisteredTool) bool {
		return (capability == "" || t.Declares(capability)) && level.Allows(t.RequiredLevel)
	}, nil
}
