package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/registry/registration"
)

func get(s cli.Streams, o *options, id string) error {
	return onProject(s, o, func(ctx context.Context, r *registration.Project) error {
		t, err := r.Tool(ctx, id)
		if err != nil {
			return err
		}
		if o.readable(s) {
			printTool(s.Out, &t)
		} else {
			fmt.Fprintf(s.Out, "%s\n", t.AppendWhole(nil))
		}
		return nil
	})
}

func list(s cli.Streams, o *options) error {
	kind, err := kindOf(o)
	if err != nil {
		return err
	}
	if kind != kinds.Tools {
		return listKind(s, o, kind)
	}
	keep, err := selection(o)
	if err != nil {
		return err
	}
	return onProject(s, o, func(ctx context.Context, r *registration.Project) error {
		tools, err := r.Tools(ctx)
		if err != nil {
			return err
		}
		tools = slices.DeleteFunc(tools, func(t registration.RegisteredTool) bool { return !keep(&t) })
		if o.readable(s) {
			printTools(s.Out, tools)
			return nil
		}
		var items []json.RawMessage
		for i := range tools {
			items = append(items, tools[i].AppendJSON(nil))
		}
		return printList(s, o, kind, items, rawjson.Member{Name: "level", Value: rawjson.Quote(string(r.Level()))})
	})
}

// listKind lists what the project offers of another kind than tools (CLI-906).
func listKind(s cli.Streams, o *options, kind *kinds.Kind) error {
	return onProject(s, o, func(ctx context.Context, r *registration.Project) error {
		items, err := r.Items(ctx, kind)
		if err != nil {
			return err
		}
		if o.readable(s) {
			printItems(s.Out, items)
			return nil
		}
		return printList(s, o, kind, items)
	})
}

// printList prints items in one object, or with --ndjson each on a line. more are additional members of the object.
func printList(s cli.Streams, o *options, kind *kinds.Kind, items []json.RawMessage, more ...rawjson.Member) error {
	var out []byte
	if o.ndjson {
		for _, item := range items {
			out = append(append(out, item...), '\n')
		}
	} else {
		var b rawjson.Builder
		b.Object().Name(kind.Key).Array()
		for _, item := range items {
			b.Raw(item)
		}
		b.End().Name("total").Int(len(items))
		for _, m := range more {
			b.Name(m.Name).Raw(m.Value)
		}
		out = append(b.End().Bytes(), '\n')
	}
	_, err := s.Out.Write(out)
	return err
}

// kindOf returns the kind of --kind, or tools.
func kindOf(o *options) (*kinds.Kind, error) {
	if o.kind == "" {
		return kinds.Tools, nil
	}
	var known []string
	for _, kind := range kinds.All {
		if strings.EqualFold(kind.Key, strings.ReplaceAll(o.kind, "-", "")) {
			if kind != kinds.Tools && (o.capability != "" || o.level != "") {
				return nil, cli.Usagef("--capability and --level are for tools")
			}
			return kind, nil
		}
		known = append(known, kind.Key)
	}
	return nil, cli.Usagef("--kind: unknown kind %q; there are %s", o.kind, strings.Join(known, ", "))
}

func selection(o *options) (keep func(*registration.RegisteredTool) bool, err error) {
	capability, ok := access.ParseCapability(o.capability)
	if o.capability != "" && !ok {
		var known []string
		for _, c := range access.Capabilities {
			known = append(known, string(c))
		}
		return nil, cli.Usagef("--capability: unknown capability %q; there are %s", o.capability,
			strings.Join(known, ", "))
	}
	level, ok := access.ParseLevel(o.level)
	if !ok {
		return nil, cli.Usagef("--level: unknown security level %q; there are restricted, standard, elevated, full",
			o.level)
	}
	return func(t *registration.RegisteredTool) bool {
		return (capability == "" || slices.Contains(t.Capabilities, capability)) && level.Allows(t.RequiredLevel)
	}, nil
}
