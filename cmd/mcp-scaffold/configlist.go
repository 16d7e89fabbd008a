package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/shell"
)

// survey prints the installed clients, or for --list all known ones (CLI-706, CLI-1146).
func (o *configOptions) survey(s cli.Streams, server clients.Server, p *project.Project) error {
	ctx, stop := cli.UntilSignal()
	defer stop()
	list := clients.Survey(ctx, server, clients.Place{System: runtime.GOOS, Env: p.Env, Root: p.Root})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !o.list:
		if err := o.printInstalled(s.Out, server, list); err != nil {
			return err
		}
		return printGone(ctx, s.Out, p)
	case o.mode == modeJSON:
		return printClients(s.Out, server, list)
	}
	table := cli.Table{{"NAME", "CLIENT", "HERE", "FILE"}}
	for _, c := range list {
		here := ""
		if c.Installed {
			here = string(c.State)
			if here == "" {
				here = "installed"
			}
		}
		table = append(table, []string{c.Client.Name, c.Client.Title, here, c.File})
	}
	table.Print(s.Out)
	_, err := cli.Printf(s.Out, "\nFor a client without a file here, name it with --file. For any other client:\n"+
		"  mcp-bash config --client json\n")
	return err
}

func (o *configOptions) printInstalled(w io.Writer, server clients.Server, list []clients.Status) error {
	none := true
	for _, c := range list {
		if !c.Installed || c.State == "" {
			continue
		}
		if none {
			cli.Printf(w, "%s in the clients that are installed here:\n\n", server.Name)
			none = false
		}
		o.printStatus(w, c)
	}
	if none {
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
	_, err := cli.Printf(w, "\nPrint an entry: %s\nAll known clients: mcp-bash config --list\n", o.line("NAME"))
	return err
}

func (o *configOptions) printStatus(w io.Writer, c clients.Status) {
	words, with := []string{"--apply"}, *o
	switch c.State {
	case clients.Configured:
		cli.Printf(w, "%s: configured in %s\n", c.Client.Title, c.File)
		words = []string{"--remove"}
	case clients.Outdated:
		cli.Printf(w, "%s: configured in %s, but the entry is outdated\n", c.Client.Title, c.File)
	case clients.Taken, clients.Unusable:
		cli.Printf(w, "%s: %s\n", c.Client.Title, c.Err)
		if c.State == clients.Unusable {
			return
		}
		with.name = "NAME"
	default:
		cli.Printf(w, "%s: not configured\n", c.Client.Title)
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
		{"--token-env", o.tokenEnv}} {
		if option[1] != "" {
			words = append(words, option[0], shell.Quote(option[1]))
		}
	}
	return strings.Join(words, " ")
}

// printGone prints the entries of other projects whose program or project is missing, and the commands for them.
func printGone(ctx context.Context, w io.Writer, p *project.Project) error {
	list, _ := clients.Entries(ctx, clients.Place{System: runtime.GOOS, Env: p.Env, Root: p.Root})
	list = slices.DeleteFunc(list, func(e clients.Entry) bool { return e.Gone == "" || e.Root == p.Root })
	if len(list) == 0 {
		return nil
	}
	cli.Printf(w, "\nEntries that cannot work:\n\n")
	return printEntryList(w, list)
}

func printEntryList(w io.Writer, list []clients.Entry) (err error) {
	for _, e := range list {
		why := ""
		if e.Gone != "" {
			why = ": " + e.Gone
		}
		_, err = cli.Printf(w, "%s: %s in %s%s\n  %s\n", e.Client.Title, e.Name, e.File, why, remedy(e))
	}
	return err
}

// remedy returns the command that removes an entry. If only the program is missing, the command corrects the entry.
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
		words = append(words, "--force") // it has no project
	}
	return o.command(e.Client, words...)
}

// printEntries prints the entries that start this mcp-bash, and those that cannot work (CLI-753).
func (o *configOptions) printEntries(s cli.Streams, p *project.Project) error {
	ctx, stop := cli.UntilSignal()
	defer stop()
	list, unreadable := clients.Entries(ctx, clients.Place{System: runtime.GOOS, Env: p.Env, Root: p.Root})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, err := range unreadable {
		cli.Printf(s.Err, "config: warning: %v\n", err)
	}
	command, err := clients.FindCommand(p.Env)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(e clients.Entry) bool { return e.Gone == "" && !e.Starts(command, p.Env) })
	if o.mode != modeJSON {
		return printEntryList(s.Out, list)
	}
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("entries").Array()
	for _, e := range list {
		b.Object().Name("client").String(e.Client.Name).Name("name").String(e.Name).Name("file").String(e.File).
			Name("scope").String(string(e.Scope))
		if e.Root != "" {
			b.Name("project").String(e.Root)
		}
		if e.Gone != "" {
			b.Name("reason").String(e.Gone)
		}
		b.Name("command").String(remedy(e)).End()
	}
	_, err = fmt.Fprintf(s.Out, "%s\n", b.End().End().Bytes())
	return err
}

// printClients prints all known clients for programs (CLI-1146).
func printClients(w io.Writer, server clients.Server, list []clients.Status) error {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true)
	if server.Name != "" {
		b.Name("name").String(server.Name)
	}
	b.Name("clients").Array()
	for _, c := range list {
		b.Object().Name("client").String(c.Client.Name).Name("title").String(c.Client.Title).
			Name("installed").Bool(c.Installed)
		if c.File != "" {
			b.Name("file").String(c.File)
		}
		if c.State != "" {
			b.Name("state").String(string(c.State)).Name("scope").String(string(c.Scope))
		}
		if c.Err != nil {
			b.Name("reason").String(c.Err.Error())
		}
		b.End()
	}
	_, err := fmt.Fprintf(w, "%s\n", b.End().End().Bytes())
	return err
}
