package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients"
	"mcp-bash/pkg/clients/editors"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold"
)

type configOptions struct {
	mode          string // a mode of CLI-701; the last one on the command line wins
	client        *clients.Client
	apply, remove bool
	link, list    bool
	entries       bool
	scope         string
	file, name    string
	dryRun, force bool
	output        string
	projectRoot   string

	http, tokenEnv string
	headers        []string
	remote         *clients.Remote // of --http; nil: the client starts the server

	pack      string
	published *clients.Package // of --package
}

// The modes of CLI-701. Each is the name of its option.
const (
	modeShow       = "show"
	modeJSON       = "json"
	modeClient     = "client"
	modeWrapper    = "wrapper"
	modeWrapperEnv = "wrapper-env"
	modeInspector  = "inspector"
)

func configCommand() *cli.Command {
	o := &configOptions{mode: modeShow}
	c := &cli.Command{
		Name: "config",
		Summary: "Configure an MCP client to start the server, or to reach it over HTTP: print the client entry, or " +
			"install it.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "show the installed clients, and whether they have the server"},
			{Line: "NAME --client cursor", Purpose: "print the entry for the client's file"},
			{Line: "NAME --client cursor --apply --dry-run", Purpose: "show how the file would change"},
			{Line: "NAME --client cursor --apply", Purpose: "install the entry; --remove removes it"},
			{Line: "NAME --http https://mcp.example.com/mcp --name demo --token-env DEMO_TOKEN --client cursor --apply",
				Purpose: "connect to a server that runs elsewhere"},
			{Line: "NAME --package npm:@me/my-tools@1.0.0 --client cursor --apply", Purpose: "start a published package"},
			{Line: "NAME --link", Purpose: "links and badges with which others install it"},
		},
		Exits: []cli.Exit{
			{Code: 0, Meaning: "done, or there was nothing to do"},
			{Code: 1, Meaning: "rejected or failed, and nothing was changed; or no project was found"},
		},
		Text: "The clients: " + strings.Join(clients.Names(), ", ") + `.

--apply only changes the server's own entry. The backup FILE.mcp-bash.bak next to the file has the
old text. An entry of that name for another server or project is kept, except with --force.`,
		Run: func(s cli.Streams, _ []string) error { return o.run(s) },
	}
	c.Flags.Mode(&o.mode, modeShow, "the installed clients, and whether they have the server; the default")
	c.Flags.Bool(&o.list, "list", "all known clients with their files; needs no project")
	c.Flags.Mode(&o.mode, modeJSON, "name, command, arguments and environment as JSON; errors as JSON, too")
	c.Flags.Bool(&o.entries, "entries", `the entries of all clients that start this mcp-bash, or whose program or project
		is missing, and how to remove them; needs no project`)
	c.Flags.Func(modeClient, "CLIENT", "the entry for this client's file; see the names below", o.choose).
		Completes(cli.Words(clients.Names()...))
	c.Flags.Mode(&o.mode, modeWrapper, "a script for the project's folder that starts the server")
	c.Flags.Mode(&o.mode, modeWrapperEnv, "the same, with the variables that your shell's profiles export")
	c.Flags.String(&o.output, "output", "FILE", `where to write the script, - for standard output; default:
		standard output, or the project on a terminal`).Completes(cli.Files)
	c.Flags.Mode(&o.mode, modeInspector, "a command line that opens the server in the MCP Inspector")
	c.Flags.Bool(&o.apply, "apply", "add the server to the client's file")
	c.Flags.Bool(&o.remove, "remove", "remove the server from the client's file")
	c.Flags.One(&o.scope, "scope", "SCOPE", []string{string(clients.UserScope), string(clients.ProjectScope)},
		"edit the user's file (the default, if the client has one) or the project's")
	c.Flags.Bool(&o.link, "link", `print links and badges for a README, with which others add the server to their clients; of
		all clients that have links, or of --client`)
	c.Flags.String(&o.file, "file", "FILE", "the client's file, if it is not in the usual place").Completes(cli.Files)
	c.Flags.String(&o.name, "name", "SERVER", "the server's name in the client; default: its own name")
	c.Flags.String(&o.http, "http", "URL", `connect to the server at this address, instead of starting it; with
		--name, no project is needed`)
	c.Flags.Strings(&o.headers, "header", "TEXT", `with --http: a header, as 'NAME: VALUE'; the entry contains the value.
		May be repeated`)
	c.Flags.String(&o.tokenEnv, "token-env", "NAME", `with --http: the environment variable that has the bearer token;
		the entry contains its name only`)
	c.Flags.String(&o.pack, "package", "PACKAGE", `start a published package, and no project: npm:NAME@VERSION,
		pypi:NAME@VERSION or oci:IMAGE`)
	c.Flags.Bool(&o.dryRun, "dry-run", "show as a diff what --apply or --remove would change, and change nothing")
	c.Flags.Bool(&o.force, "force", "replace or remove an entry of that name even if it is for another server")
	c.Flags.ProjectRoot(&o.projectRoot)
	return c
}

func (o *configOptions) choose(name string) *cli.Error {
	known := clients.Names()
	if o.client = clients.Find(name); o.client == nil {
		return cli.Usagef("unknown client: %s%s (known: %s)", name,
			cli.Meant(strings.Join(clients.Suggest(name), " or ")), strings.Join(known, ", "))
	}
	o.mode = modeClient
	return nil
}

func (o *configOptions) run(s cli.Streams) error {
	if err := o.check(); err != nil {
		return err
	}
	server, p, err := o.server()
	if err != nil {
		return err
	}
	place := clients.Place{System: runtime.GOOS, Env: p.Env, Root: p.Root, Open: editors.Open}
	switch {
	case o.entries:
		return untilSignal(func(ctx context.Context) error { return o.printEntries(ctx, s, place) })
	case o.list || o.mode == modeShow && !o.link && !o.apply && !o.remove:
		return untilSignal(func(ctx context.Context) error { return o.survey(ctx, s, server, place) })
	case o.link:
		return o.printLinks(s, server)
	case o.apply || o.remove:
		return o.edit(s, server, place)
	case o.mode == modeJSON:
		cli.Printf(s.Out, "%s\n", rawjson.AppendIndent(nil, server.JSON(), 0))
	case o.mode == modeClient:
		o.warn(s, server)
		text, err := o.client.Snippet(server)
		if err == nil {
			cli.Printf(s.Out, "%s\n", text) // with an empty line
		}
		return err
	case o.mode == modeInspector:
		cli.Printf(s.Out, "%s\n", server.InspectorLine())
	default:
		return o.wrapper(s, server)
	}
	return nil
}

// wrapper prints or writes a script that starts the server.
func (o *configOptions) wrapper(s cli.Streams, server clients.Server) error {
	text := scaffold.Wrapper(o.mode == modeWrapperEnv)
	path := o.output
	if path == "" {
		switch {
		case !scaffold.IsFileName(server.Name):
			cli.Printf(s.Err, "Server name %q contains invalid characters for filename.\n"+
				"Use alphanumerics, dot, underscore, dash only. Pipe to cat for stdout.\n", server.Name)
		case cli.IsTerminal(s.Out):
			path = filepath.Join(server.Root, server.Name+".sh")
		}
	}
	if path == "" || path == "-" {
		_, err := s.Out.Write([]byte(text))
		return err
	}
	err := untilSignal(func(ctx context.Context) error { return scaffold.WriteWrapper(ctx, path, text) })
	if there, ok := errors.AsType[*cli.Error](err); ok && there.Code == cli.CodeExists {
		return cli.Baref(cli.CodeExists, "File already exists: %s", path).
			WithHint("Delete the file and retry, or pipe to cat for stdout.")
	} else if err == nil {
		cli.Printf(s.Err, "Wrapper script created: %s\n", path)
	}
	return err
}

// check returns an error for options that exclude each other, and for an invalid server over HTTP.
func (o *configOptions) check() error {
	changes := o.apply || o.remove
	shows := o.mode == modeShow || o.mode == modeJSON
	makesScript := o.mode == modeWrapper || o.mode == modeWrapperEnv
	for _, fault := range []struct {
		found bool
		text  string
	}{
		{o.apply && o.remove, "--apply and --remove exclude each other"},
		{o.link && (changes || !shows && o.mode != modeClient),
			"--link excludes --apply, --remove and other forms of output, except --json"},
		{o.list && (o.link || changes || !shows),
			"--list excludes --link, --apply, --remove and other forms of output, except --json"},
		{o.entries && (o.list || o.link || changes || !shows),
			"--entries excludes --list, --link, --apply, --remove and other forms of output, except --json"},
		{o.link && len(o.headers) > 0,
			"--link and --header exclude each other: everybody could read the value; use --token-env"},
		{changes && o.client == nil, "--apply and --remove need --client"},
		{(o.dryRun || o.force || o.file != "" || o.scope != "") && !changes,
			"--scope, --file, --dry-run and --force need --apply or --remove"},
		{o.output != "" && !makesScript, "--output needs --wrapper or --wrapper-env"},
		{o.file == "-", "--file: standard input cannot be edited; for a file of this name, use ./-"},
		{o.file != "" && o.scope != "", "--file and --scope exclude each other"},
		{o.http == "" && (len(o.headers) > 0 || o.tokenEnv != ""), "--header and --token-env need --http"},
		{o.http != "" && makesScript, "--http excludes --wrapper and --wrapper-env: clients start nothing"},
		{o.pack != "" && (o.http != "" || o.projectRoot != "" || makesScript || o.entries),
			"--package excludes --http, --project-root, --wrapper, --wrapper-env and --entries"},
	} {
		if fault.found {
			return cli.Usagef("%s", fault.text)
		}
	}
	var err error
	if o.pack != "" {
		o.published, err = clients.ParsePackage(o.pack)
		return err
	}
	if o.http == "" {
		return nil
	}
	if o.remote, err = clients.ParseRemote(o.http); err != nil {
		return cli.Usagef("--http: %v", err)
	}
	for _, text := range o.headers {
		if err := o.remote.AddHeader(text); err != nil {
			return cli.Usagef("--header: %v", err)
		}
	}
	if o.tokenEnv != "" {
		if err := o.remote.SetTokenEnv(o.tokenEnv); err != nil {
			return cli.Usagef("%v", err)
		}
	}
	return nil
}

// server returns the server of the project, or the one of --http or --package. Some options need no project. Then the
// project scope means the current folder.
func (o *configOptions) server() (clients.Server, *project.Project, error) {
	if o.published != nil {
		dir, err := os.Getwd()
		p := &project.Project{Root: dir, Env: project.OSEnv()}
		server := o.published.Server(p.Env)
		server.Name = cmp.Or(o.name, server.Name)
		return server, p, err
	}
	p, err := project.Find(o.projectRoot, func(string) {})
	gone, isGone := errors.AsType[*project.MissingError](err)
	isNone := errors.Is(err, project.ErrNone)
	lists := o.entries || o.list && isNone
	switch {
	case err == nil && o.remote != nil:
		return clients.Server{Name: cmp.Or(o.name, p.Meta.Name), Remote: o.remote}, p, nil
	case err == nil:
		server, err := clients.ServerOf(p, o.link)
		server.Name = cmp.Or(o.name, server.Name)
		return server, p, err
	case (isNone || isGone) && lists, o.name != "" && ((isNone || isGone) && o.remove || isNone && o.remote != nil):
		server := clients.Server{Name: o.name, Remote: o.remote}
		if lists {
			server.Name = ""
		}
		dir, err := os.Getwd()
		return server, &project.Project{Root: dir, Env: project.OSEnv()}, err
	case (isNone || isGone) && o.remove, isNone && o.remote != nil:
		why, hint := "this folder is not in a project", "give it a name with --name"
		if isGone {
			why = gone.Reason()
		}
		if o.remove {
			hint = "name the entry with --name; mcp-bash config --entries lists them"
		}
		err = cli.Failf(cli.CodeNotFound, "the server has no name: %s", why).WithHint("%s", hint)
	}
	return clients.Server{}, nil, err
}

// printLinks prints the links of a server, and for --json also the clients that cannot have one.
func (o *configOptions) printLinks(s cli.Streams, server clients.Server) error {
	list := clients.Linked()
	if o.client != nil {
		list = []*clients.Client{o.client}
	}
	type skipped struct {
		Client string `json:"client"`
		Reason string `json:"reason"`
	}
	result := struct {
		Name    string          `json:"name"`
		Links   []*clients.Link `json:"links"`
		Skipped []skipped       `json:"skipped"`
	}{server.Name, nil, []skipped{}}
	var last error
	for _, c := range list {
		l, err := c.Link(server)
		if err == nil {
			result.Links = append(result.Links, l)
			continue
		}
		last = err
		result.Skipped = append(result.Skipped, skipped{c.Name, err.Error()})
		if o.mode != modeJSON && o.client == nil {
			cli.Printf(s.Err, "config: no link for %s: %v\n", c.Title, err)
		}
	}
	switch {
	case result.Links == nil:
		return last
	case o.mode == modeJSON:
		return printJSON(s, result, false)
	}
	for _, l := range result.Links {
		cli.Printf(s.Out, "# %s\n%s\n", l.Title, l.Web)
		if l.App != "" {
			cli.Printf(s.Out, "%s\n", l.App)
		}
		cli.Printf(s.Out, "%s\n\n", l.Markdown)
	}
	return nil
}

func (o *configOptions) warn(s cli.Streams, server clients.Server) []string {
	warnings := o.client.Warnings(server)
	for _, text := range warnings {
		cli.Printf(s.Err, "config: warning: %s\n", text)
	}
	return warnings
}

func (o *configOptions) edit(s cli.Streams, server clients.Server, place clients.Place) error {
	warnings := []string{}
	if o.apply {
		warnings = append(warnings, o.warn(s, server)...)
	}
	request := clients.Request{
		Client: o.client, Server: server, File: o.file, Scope: clients.Scope(o.scope), Place: place,
		Remove: o.remove, Force: o.force, DryRun: o.dryRun,
	}
	var change *clients.Change
	err := untilSignal(func(ctx context.Context) (err error) {
		change, err = clients.Apply(ctx, request)
		return err
	})
	switch {
	case err != nil:
		return err
	case o.mode == modeJSON:
		return o.printChange(s, server, change, warnings)
	case o.dryRun && patch(change) != nil:
		cli.Printf(s.Out, "%s", patch(change))
		return nil
	}
	cli.Printf(s.Out, done[change.Action], server.Name, change.File)
	if change.Action == clients.Unchanged || change.Action == clients.Absent {
		return nil
	}
	if change.Backup != "" {
		cli.Printf(s.Out, "  before: %s\n", change.Backup)
	}
	for _, text := range request.Reminders() {
		cli.Printf(s.Out, "  %s\n", text)
	}
	return nil
}

// done has the message for each result of an edit. Its arguments are the server and the file.
var done = map[string]string{
	clients.Unchanged: "%s is in %s already; nothing to change\n",
	clients.Absent:    "%s is not in %s; nothing to change\n",
	clients.Added:     "Added %s to %s\n",
	clients.Updated:   "Updated %s in %s\n",
	clients.Removed:   "Removed %s from %s\n",
}

// patch returns a change as a unified diff, or nil if nothing changes.
func patch(change *clients.Change) []byte {
	if bytes.Equal(change.Old, change.New) && (change.Old == nil) == (change.New == nil) {
		return nil
	}
	before, after := change.File, change.File
	if change.Old == nil {
		before = os.DevNull
	}
	if change.New == nil {
		after = os.DevNull
	}
	text := diff.Diff(before, change.Old, after, change.New)
	_, text, _ = bytes.Cut(text, []byte("\n")) // the line "diff OLD NEW" is not part of a unified diff
	return text
}

func (o *configOptions) printChange(s cli.Streams, server clients.Server, change *clients.Change,
	warnings []string) error {
	result := struct {
		Client   string   `json:"client"`
		Name     string   `json:"name"`
		File     string   `json:"file"`
		Action   string   `json:"action"`
		DryRun   bool     `json:"dryRun,omitempty"`
		Diff     *string  `json:"diff,omitempty"`
		Backup   string   `json:"backup,omitempty"`
		Warnings []string `json:"warnings"`
	}{o.client.Name, server.Name, change.File, change.Action, o.dryRun, nil, change.Backup, warnings}
	if o.dryRun {
		text := string(patch(change))
		result.Diff = &text
	}
	return printJSON(s, result, false)
}
