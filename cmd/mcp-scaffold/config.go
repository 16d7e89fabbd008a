package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
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
	remote         *clients.Remote // of http; nil: the client starts the server
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
	if err := o.parseRemote(); err != nil {
		return err
	}
	server, p, err := o.server()
	switch gone := (*project.MissingError)(nil); {
	case !errors.Is(err, project.ErrNone) && !errors.As(err, &gone):
	case o.list && gone == nil, o.entries:
		server, p, err = o.withoutProject()
		server.Name = ""
	case o.remove && o.name != "":
		server, p, err = o.withoutProject()
	case o.remove:
		why := "this folder is not in a project"
		if gone != nil {
			why = gone.Reason()
		}
		return cli.Failf(cli.CodeNotFound, "the server has no name: %s", why).
			WithHint("name the entry with --name; mcp-bash config --entries lists them")
	}
	if err != nil {
		return err
	}
	switch {
	case o.entries:
		return o.printEntries(s, p)
	case o.list || o.mode == modeShow && !o.link && !o.apply && !o.remove:
		return o.survey(s, server, p)
	case o.link:
		return o.printLinks(s, server)
	case o.apply || o.remove:
		return o.edit(s, server, p)
	case o.mode == modeJSON:
		_, err = fmt.Fprintf(s.Out, "%s\n", rawjson.AppendIndent(nil, server.JSON(), 0))
		return err
	case o.mode == modeClient:
		o.warn(s, server)
		return printSnippet(s, o.client, server)
	case o.mode == modeInspector:
		_, err = cli.Printf(s.Out, "%s\n", server.InspectorLine())
		return err
	}
	return o.wrapper(s, server)
}

// wrapper prints or writes a script that starts the server (CLI-707).
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

func (o *configOptions) check() error {
	switch {
	case o.apply && o.remove:
		return cli.Usagef("--apply and --remove exclude each other")
	case o.link && (o.apply || o.remove || o.mode != modeShow && o.mode != modeClient && o.mode != modeJSON):
		return cli.Usagef("--link excludes --apply, --remove and other forms of output, except --json")
	case o.list && (o.link || o.apply || o.remove || o.mode != modeShow && o.mode != modeJSON):
		return cli.Usagef("--list excludes --link, --apply, --remove and other forms of output, except --json")
	case o.entries && (o.list || o.link || o.apply || o.remove || o.mode != modeShow && o.mode != modeJSON):
		return cli.Usagef("--entries excludes --list, --link, --apply, --remove and other forms of output, except --json")
	case o.link && len(o.headers) > 0:
		return cli.Usagef("--link and --header exclude each other: everybody could read the value; use --token-env")
	case (o.apply || o.remove) && o.client == nil:
		return cli.Usagef("--apply and --remove need --client")
	case (o.dryRun || o.force || o.file != "" || o.scope != "") && !o.apply && !o.remove:
		return cli.Usagef("--scope, --file, --dry-run and --force need --apply or --remove")
	case o.output != "" && o.mode != modeWrapper && o.mode != modeWrapperEnv:
		return cli.Usagef("--output needs --wrapper or --wrapper-env")
	case o.file == "-":
		return cli.Usagef("--file: standard input cannot be edited; for a file of this name, use ./-")
	case o.file != "" && o.scope != "":
		return cli.Usagef("--file and --scope exclude each other")
	case o.http == "" && (len(o.headers) > 0 || o.tokenEnv != ""):
		return cli.Usagef("--header and --token-env need --http")
	case o.http != "" && (o.mode == modeWrapper || o.mode == modeWrapperEnv):
		return cli.Usagef("--http excludes --wrapper and --wrapper-env: clients start nothing")
	}
	return nil
}

// parseRemote checks the address, the headers and the variable of the token (H-801).
func (o *configOptions) parseRemote() error {
	if o.http == "" {
		return nil
	}
	r, err := clients.ParseRemote(o.http)
	if err != nil {
		return cli.Usagef("--http: %v", err)
	}
	for _, text := range o.headers {
		if err := r.AddHeader(text); err != nil {
			return cli.Usagef("--header: %v", err)
		}
	}
	if o.tokenEnv != "" {
		if err := r.SetTokenEnv(o.tokenEnv); err != nil {
			return cli.Usagef("%v", err)
		}
	}
	o.remote = r
	return nil
}

// withoutProject returns a server that is reached over HTTP from a folder without a project. The project's scope is
// then the current folder.
func (o *configOptions) withoutProject() (clients.Server, *project.Project, error) {
	dir, err := os.Getwd()
	if err != nil {
		return clients.Server{}, nil, err
	}
	return clients.Server{Name: o.name, Remote: o.remote}, &project.Project{Root: dir, Env: project.OSEnv()}, nil
}

func (o *configOptions) server() (clients.Server, *project.Project, error) {
	p, err := project.Find(o.projectRoot, func(string) {})
	switch {
	case errors.Is(err, project.ErrNone) && o.remote != nil && o.name != "":
		return o.withoutProject()
	case errors.Is(err, project.ErrNone) && o.remote != nil:
		return clients.Server{}, nil, cli.Failf(cli.CodeNotFound, "the server has no name: this folder is not in a project").
			WithHint("give it a name with --name")
	case err != nil:
		return clients.Server{}, nil, err
	case o.remote != nil:
		return clients.Server{Name: cmp.Or(o.name, p.Meta.Name), Remote: o.remote}, p, nil
	}
	command := ""
	if !o.link { // a link has no path of this machine
		if command, err = clients.FindCommand(p.Env); err != nil {
			return clients.Server{}, nil, err
		}
	}
	for _, path := range []string{command, p.Root} {
		if !utf8.ValidString(path) {
			return clients.Server{}, nil, cli.Failf(cli.CodeInvalid,
				"%q is not valid UTF-8, so a client's file cannot name it", path).WithHint("rename the folder")
		}
	}
	name := cmp.Or(o.name, p.Meta.Name)
	return clients.Server{Name: name, Command: command, Root: p.Root, OwnRoots: roots.InProject(p)}, p, nil
}

// printSnippet prints the entry for a client's file, and an empty line (CLI-704).
func printSnippet(s cli.Streams, c *clients.Client, server clients.Server) error {
	text, err := c.Snippet(server)
	if e, ok := err.(*cli.Error); ok {
		return e
	}
	if err != nil {
		return cli.Failf(cli.CodeInvalid, "%v", err)
	}
	_, err = fmt.Fprintf(s.Out, "%s\n", text)
	return err
}

// printLinks prints the links of a server, and for --json also the clients that cannot have one (PL-50).
func (o *configOptions) printLinks(s cli.Streams, server clients.Server) error {
	list := clients.Linked()
	if o.client != nil {
		list = []*clients.Client{o.client}
	}
	var b, skipped rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("name").String(server.Name).Name("links").Array()
	skipped.Array()
	made := 0
	var last error
	for _, c := range list {
		l, err := c.Link(server)
		if err != nil {
			last = err
			skipped.Object().Name("client").String(c.Name).Name("reason").String(err.Error()).End()
			if o.mode != modeJSON && o.client == nil {
				cli.Printf(s.Err, "config: no link for %s: %v\n", c.Title, err)
			}
			continue
		}
		made++
		b.Object().Name("client").String(c.Name).Name("title").String(c.Title).Name("web").String(l.Web)
		if l.App != "" {
			b.Name("app").String(l.App)
		}
		b.Name("markdown").String(l.Markdown).End()
		if o.mode == modeJSON {
			continue
		}
		cli.Printf(s.Out, "# %s\n%s\n", c.Title, l.Web)
		if l.App != "" {
			cli.Printf(s.Out, "%s\n", l.App)
		}
		cli.Printf(s.Out, "%s\n\n", l.Markdown)
	}
	if made == 0 {
		return last
	}
	if o.mode != modeJSON {
		return nil
	}
	_, err := fmt.Fprintf(s.Out, "%s\n", b.End().Name("skipped").Raw(skipped.End().Bytes()).End().Bytes())
	return err
}

func (o *configOptions) warn(s cli.Streams, server clients.Server) []string {
	warnings := o.client.Warnings(server)
	for _, text := range warnings {
		cli.Printf(s.Err, "config: warning: %s\n", text)
	}
	return warnings
}

func (o *configOptions) edit(s cli.Streams, server clients.Server, p *project.Project) error {
	var warnings []string
	if o.apply {
		warnings = o.warn(s, server)
	}
	request := clients.Request{
		Client: o.client, Server: server, File: o.file, Scope: clients.Scope(o.scope),
		Place:  clients.Place{System: runtime.GOOS, Env: p.Env, Root: p.Root},
		Remove: o.remove, Force: o.force, DryRun: o.dryRun,
	}
	var change *clients.Change
	err := untilSignal(func(ctx context.Context) (err error) {
		change, err = clients.Apply(ctx, request)
		return err
	})
	if err != nil {
		return err
	}
	if o.mode == modeJSON {
		return o.printChange(s, server, change, warnings)
	}
	return o.printResult(s, server, request, change)
}

func (o *configOptions) printResult(s cli.Streams, server clients.Server, r clients.Request,
	change *clients.Change) error {
	name := cli.Line(server.Name)
	var err error
	if diff := patch(change); o.dryRun && diff != nil {
		_, err = s.Out.Write(diff)
		return err
	}
	switch change.Action {
	case clients.Unchanged:
		_, err = cli.Printf(s.Out, "%s is in %s already; nothing to change\n", name, change.File)
		return err
	case clients.Absent:
		_, err = cli.Printf(s.Out, "%s is not in %s; nothing to change\n", name, change.File)
		return err
	case clients.Added:
		_, err = cli.Printf(s.Out, "Added %s to %s\n", name, change.File)
	case clients.Updated:
		_, err = cli.Printf(s.Out, "Updated %s in %s\n", name, change.File)
	case clients.Removed:
		_, err = cli.Printf(s.Out, "Removed %s from %s\n", name, change.File)
	}
	if change.Backup != "" {
		_, err = cli.Printf(s.Out, "  before: %s\n", change.Backup)
	}
	for _, text := range r.Reminders() {
		_, err = cli.Printf(s.Out, "  %s\n", text)
	}
	return err
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
	_, text, _ = bytes.Cut(text, []byte("\n")) // "diff OLD NEW", which is not part of the format
	return text
}

func (o *configOptions) printChange(s cli.Streams, server clients.Server, change *clients.Change,
	warnings []string) error {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(true).Name("client").String(o.client.Name).Name("name").String(server.Name).
		Name("file").String(change.File).Name("action").String(change.Action)
	if o.dryRun {
		b.Name("dryRun").Bool(true).Name("diff").Text(patch(change))
	}
	if change.Backup != "" {
		b.Name("backup").String(change.Backup)
	}
	b.Name("warnings").Strings(warnings).End()
	_, err := fmt.Fprintf(s.Out, "%s\n", b.Bytes())
	return err
}
