package main

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients"
	"mcp-bash/pkg/text/shell"
)

// survey prints the installed clients, or for --list all known ones.
func (o *configOptions) survey(ctx context.Context, s cli.Streams, server clients.Server, place clients.Place) error {
	if _, err := place.Home(); err != nil {
		cli.Printf(s.Err, "config: warning: %v\n", err)
	}
	list := clients.Survey(ctx, server, place)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case !o.list:
		o.printInstalled(s.Out, server, list)
		printGone(ctx, s.Out, place)
		return nil
	case o.mode == modeJSON:
		return printJSON(s, struct {
			Name    string           `json:"name,omitempty"`
			Clients []clients.Status `json:"clients"`
		}{server.Name, list}, false)
	}
	table := cli.Table{{"NAME", "CLIENT", "HERE", "FILE"}}
	for _, c := range list {
		here := ""
		if c.Installed {
			here = cmp.Or(string(c.State), "installed")
		}
		table = append(table, []string{c.Name, c.Title, here, c.File})
	}
	table.Print(s.Out)
	cli.Printf(s.Out, "\nFor a client without a file here, name it with --file. For any other client:\n"+
		"  mcp-bash config --client json\n")
	return nil
}

func (o *configOptions) printInstalled(w io.Writer, server clients.Server, list []clients.Status) {
	list = slices.DeleteFunc(list, func(c clients.Status) bool { return !c.Installed || c.State == "" })
	if len(list) > 0 {
		cli.Printf(w, "%s in the clients that are installed here:\n\n", server.Name)
	}
	for _, c := range list {
		o.printStatus(w, c)
	}
	if len(list) == 0 {
		cli.Printf(w, "No client is installed here that can have %s. Commands for common ones:\n\n", server.Name)
		for _, c := range clients.Common() {
			if server.Remote == nil || c.Connects(server.Remote, false) == nil {
				cli.Printf(w, "%s\n  %s\n", c.Title, o.command(c, "--apply"))
			}
		}
	}
	if len(o.headers) > 0 {
		cli.Printf(w, "\nAdd your --header options to each command.\n")
	}
	cli.Printf(w, "\nPrint an entry: %s\nAll known clients: mcp-bash config --list\n", o.line("NAME"))
}

func (o *configOptions) printStatus(w io.Writer, c clients.Status) {
	words, with := []string{"--apply"}, *o
	switch c.State {
	case clients.Configured:
		cli.Printf(w, "%s: configured in %s\n", c.Title, c.File)
		words = []string{"--remove"}
	case clients.Outdated:
		cli.Printf(w, "%s: configured in %s, but the entry is outdated\n", c.Title, c.File)
	case clients.Taken, clients.Unusable:
		cli.Printf(w, "%s: %s\n", c.Title, c.Reason)
		if c.State == clients.Unusable {
			return
		}
		with.name = "NAME"
	default:
		cli.Printf(w, "%s: not configured\n", c.Title)
	}
	if c.Scope == clients.ProjectScope {
		words = append(words, "--scope", string(c.Scope))
	}
	cli.Printf(w, "  %s\n", with.command(c.Client, words...))
}

// command returns a command line for a client, with the options that identify the server. It omits headers, whose
// values can be secrets.
func (o *configOptions) command(c *clients.Client, words ...string) string {
	return strings.Join(append([]string{o.line(c.Name)}, words...), " ")
}

func (o *configOptions) line(client string) string {
	words := []string{"mcp-bash config --client", client}
	for _, option := range [][2]string{{"--project-root", o.projectRoot}, {"--name", o.name}, {"--http", o.http},
		{"--package", o.pack}, {"--token-env", o.tokenEnv}} {
		if option[1] != "" {
			words = append(words, option[0], shell.Quote(option[1]))
		}
	}
	return strings.Join(words, " ")
}

// printGone prints the entries of other projects whose program or project is missing, with the commands of [remedy].
func printGone(ctx context.Context, w io.Writer, place clients.Place) {
	list, _ := clients.Entries(ctx, place)
	list = slices.DeleteFunc(list, func(e clients.Entry) bool { return e.Gone == "" || e.Root == place.Root })
	if len(list) > 0 {
		cli.Printf(w, "\nEntries that cannot work:\n\n")
		printEntryList(w, list)
	}
}

func printEntryList(w io.Writer, list []clients.Entry) {
	for _, e := range list {
		why := ""
		if e.Gone != "" {
			why = ": " + e.Gone
		}
		cli.Printf(w, "%s: %s in %s%s\n  %s\n", e.Client.Title, e.Name, e.File, why, remedy(e))
	}
}

// remedy returns the command that removes an entry. If only the program is missing, it corrects the entry.
func remedy(e clients.Entry) string {
	o := configOptions{name: e.Name}
	words := []string{"--remove"}
	if e.Root != "" && !e.ProjectGone {
		o.projectRoot = e.Root
		if e.Gone != "" {
			words = []string{"--apply"}
		}
	}
	if e.Scope == clients.ProjectScope {
		words = append(words, "--scope", string(e.Scope))
	} else if e.Root == "" && e.Gone == "" {
		words = append(words, "--force") // the entry has no project
	}
	return o.command(e.Client, words...)
}

// printEntries prints the entries that start this mcp-bash, and those that cannot work.
func (o *configOptions) printEntries(ctx context.Context, s cli.Streams, place clients.Place) error {
	list, unreadable := clients.Entries(ctx, place)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, err := place.Home(); err != nil {
		unreadable = append(unreadable, err)
	}
	for _, err := range unreadable {
		cli.Printf(s.Err, "config: warning: %v\n", err)
	}
	command, err := clients.FindCommand(place.Env)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(e clients.Entry) bool { return e.Gone == "" && !e.Starts(command, place.Env) })
	if o.mode != modeJSON {
		printEntryList(s.Out, list)
		return nil
	}
	type entry struct {
		Client  string        `json:"client"`
		Name    string        `json:"name"`
		File    string        `json:"file"`
		Scope   clients.Scope `json:"scope"`
		Project string        `json:"project,omitempty"`
		Reason  string        `json:"reason,omitempty"`
		Command string        `json:"command"`
	}
	entries := []entry{}
	for _, e := range list {
		entries = append(entries, entry{e.Client.Name, e.Name, e.File, e.Scope, e.Root, e.Gone, remedy(e)})
	}
	return printJSON(s, map[string]any{"entries": entries}, false)
}
