package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/registry/registration"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

func (o *options) get(s cli.Streams, operands []string) error {
	return o.onProject(s, func(ctx context.Context, r *registration.Project) error {
		t, err := r.Tool(ctx, operands[0])
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

func (o *options) list(s cli.Streams, _ []string) error {
	kind, err := o.kindOf()
	if err != nil {
		return err
	}
	if kind != kinds.Tools {
		return o.listKind(s, kind)
	}
	keep, err := o.selection()
	if err != nil {
		return err
	}
	return o.onProject(s, func(ctx context.Context, r *registration.Project) error {
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
		return o.printList(s, kind, items, rawjson.Member{Name: "level", Value: rawjson.Quote(string(r.Level()))})
	})
}

// listKind lists the items of a kind other than tools.
func (o *options) listKind(s cli.Streams, kind *kinds.Kind) error {
	return o.onProject(s, func(ctx context.Context, r *registration.Project) error {
		items, err := r.Items(ctx, kind)
		if err != nil {
			return err
		}
		if o.readable(s) {
			printItems(s.Out, items)
			return nil
		}
		return o.printList(s, kind, items)
	})
}

// printList prints items in one object, or with --ndjson each on a line. more are additional members of the object.
func (o *options) printList(s cli.Streams, kind *kinds.Kind, items []json.RawMessage, more ...rawjson.Member) error {
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
func (o *options) kindOf() (*kinds.Kind, error) {
	if o.kind == "" {
		return kinds.Tools, nil
	}
	for _, kind := range kinds.All {
		if strings.EqualFold(kind.Key, strings.ReplaceAll(o.kind, "-", "")) {
			if kind != kinds.Tools && (o.capability != "" || o.level != "") {
				return nil, cli.Usagef("--capability and --level are for tools")
			}
			return kind, nil
		}
	}
	return nil, cli.Usagef("--kind: unknown kind %q; there are %s", o.kind, strings.Join(kindKeys(), ", "))
}

func kindKeys() (keys []string) {
	for _, kind := range kinds.All {
		keys = append(keys, kind.Key)
	}
	return keys
}

func capabilityNames() (names []string) {
	for _, c := range access.Capabilities {
		names = append(names, string(c))
	}
	return names
}

func (o *options) selection() (keep func(*registration.RegisteredTool) bool, err error) {
	capability, ok := access.ParseCapability(o.capability)
	if o.capability != "" && !ok {
		return nil, cli.Usagef("--capability: unknown capability %q; there are %s", o.capability,
			strings.Join(capabilityNames(), ", "))
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

// logTo returns a function that writes each message on one line.
func logTo(s cli.Streams, minimum mcp.Level) mcp.LogFunc {
	return func(level mcp.Level, logger, message string) {
		if level < minimum {
			return
		}
		printLine(s, fmt.Sprintf("%s: %s: %s", level, logger, secrets.Text(message)))
	}
}

func printLine(s cli.Streams, text string) {
	cli.Printf(s.Err, "mcp-registry: %s\n", text)
}

func (o *options) status(s cli.Streams, _ []string) error {
	warn := s.Notice
	p, err := project.Find(o.projectRoot, warn)
	if err != nil {
		return err
	}
	tool := "none"
	if !p.Minimal {
		tool = p.JSONTool("", warn).Name
	}
	found := registry.NewCatalog(p, registry.Options{ReadOnly: true}).Status(tool)
	found.Confine = sandbox.Report(access.EffectiveConfinement(p, nil), confine.Offered())
	if o.readable(s) {
		printStatus(s.Out, found)
	} else {
		fmt.Fprintf(s.Out, "%s\n", found.AppendJSON(nil))
	}
	if found.Failed() {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

func (o *options) refresh(s cli.Streams, _ []string) error {
	warned := false
	warn := func(line string) {
		warned = true
		s.Notice(line)
	}
	var report *registry.Report
	err := o.withHooks(s, warn, func(ctx context.Context, p *project.Project, hooks registry.Options) (err error) {
		report, err = registry.NewCatalog(p, hooks).Refresh(ctx, registry.RefreshOptions{Filter: o.filter, Strict: o.strict})
		return err
	})
	if err != nil {
		return err
	}
	report.Warned = report.Warned || o.strict && warned
	fmt.Fprintf(s.Out, "%s\n", report.AppendJSON(nil))
	switch {
	case report.Fatal():
		return cli.ExitCode(cli.ExitUsage)
	case report.Failed():
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// readable reports whether to print results as tables.
func (o *options) readable(s cli.Streams) bool { return !o.json && !o.ndjson && cli.IsTerminal(s.Out) }

func yesOrNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

func printTools(w io.Writer, tools []registration.RegisteredTool) {
	if len(tools) == 0 {
		fmt.Fprintln(w, "no tools")
		return
	}
	table := cli.Table{{"NAME", "LEVEL", "OFFERED", "DESCRIPTION"}}
	for i := range tools {
		t := &tools[i]
		table = append(table, []string{t.Name, string(t.RequiredLevel), yesOrNo(t.Allowed), firstLine(t.Description)})
	}
	table.Print(w)
}

func printItems(w io.Writer, items []json.RawMessage) {
	if len(items) == 0 {
		fmt.Fprintln(w, "no items")
		return
	}
	table := cli.Table{{"NAME", "URI", "DESCRIPTION"}}
	for _, item := range items {
		uri := rawjson.TextOf(item, "uri") + rawjson.TextOf(item, "uriTemplate")
		table = append(table, []string{rawjson.TextOf(item, "name"), uri, firstLine(rawjson.TextOf(item, "description"))})
	}
	table.Print(w)
}

func printStatus(w io.Writer, found *registry.Status) {
	cli.Printf(w, "Project: %s\nJSON tool of scripts: %s\n\n", found.ProjectRoot, found.JSONTool)
	table := cli.Table{{"KIND", "STATUS", "COUNT", "ERROR"}}
	for _, k := range found.Kinds {
		table = append(table, []string{k.Kind.Key, k.Status, strconv.Itoa(k.Count), k.Error})
	}
	table.Print(w)
}

func printTool(w io.Writer, t *registration.RegisteredTool) {
	var capabilities []string
	for _, c := range t.Capabilities {
		capabilities = append(capabilities, string(c))
	}
	for _, row := range [][2]string{
		{"Name", t.Name}, {"Id", t.ID}, {"Description", t.Description}, {"Version", t.Version}, {"Script", t.Path},
		{"Source", t.Source}, {"Capabilities", strings.Join(capabilities, ", ")}, {"Level", string(t.RequiredLevel)},
		{"Allowed", yesOrNo(t.Allowed)}, {"Unreadable", t.Unreadable},
	} {
		if row[1] != "" {
			cli.Printf(w, "%-13s %s\n", row[0]+":", row[1])
		}
	}
	table := cli.Table{{"PARAMETER", "TYPE", "REQUIRED", "DESCRIPTION"}}
	for _, p := range slices.Concat(t.Parameters.Required, t.Parameters.Optional) {
		table = append(table, []string{p.Name, p.Type, yesOrNo(p.Required), firstLine(p.Description)})
	}
	if len(table) > 1 {
		fmt.Fprintln(w)
		table.Print(w)
	}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
