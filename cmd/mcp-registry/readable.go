package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/registration"
)

// readable reports whether to print results as tables (CLI-1164).
func (o *options) readable(s cli.Streams) bool { return !o.json && !o.ndjson && cli.IsTerminal(s.Out) }

// allowed returns whether a tool runs at the security level of the project.
func allowed(t *registration.RegisteredTool) string {
	if t.Allowed {
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
		table = append(table, []string{t.Name, string(t.RequiredLevel), allowed(t), firstLine(t.Description)})
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
		{"Allowed", allowed(t)}, {"Unreadable", t.Unreadable},
	} {
		if row[1] != "" {
			cli.Printf(w, "%-13s %s\n", row[0]+":", row[1])
		}
	}
	table := cli.Table{{"PARAMETER", "TYPE", "REQUIRED", "DESCRIPTION"}}
	for _, p := range slices.Concat(t.Parameters.Required, t.Parameters.Optional) {
		required := "no"
		if p.Required {
			required = "yes"
		}
		table = append(table, []string{p.Name, p.Type, required, firstLine(p.Description)})
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
