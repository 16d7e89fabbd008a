// Mcp-scaffold creates projects and their parts.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold"
)

func main() { os.Exit(cli.Run("mcp-scaffold", run)) }

func run(s cli.Streams, args []string) int { return command().MainOf(s, args) }

func command() *cli.Command {
	return &cli.Command{
		Name:    "mcp-scaffold",
		Summary: "Create a project and its parts, and connect clients to it.",
		Examples: []cli.Example{
			{Line: "NAME new my-server", Purpose: "create a project in a new directory"},
			{Line: "NAME init", Purpose: "turn this directory into a project"},
			{Line: "NAME scaffold tool my-tool", Purpose: "add a tool to the project"},
			{Line: "NAME wrap sort", Purpose: "create a tool that runs a program"},
			{Line: "NAME config --client cursor --apply", Purpose: "connect a client to the project"},
		},
		Exits: exits,
		Commands: []*cli.Command{newCommand(), initCommand(), addCommand(), removeCommand(), scaffoldCommand(), wrapCommand(),
			configCommand()},
	}
}

var exits = []cli.Exit{
	{Code: 0, Meaning: "done"},
	{Code: 1, Meaning: "the command failed, the item already exists, or no project was found; nothing was created"},
	{Code: 2, Meaning: "wrong usage, or an invalid name"},
}

// common are the options of the commands that work in a project.
type common struct {
	projectRoot string
	json        bool
}

const jsonHelp = "print the result as JSON; errors, too"

func (o *common) addTo(c *cli.Command, jsonHelp string) {
	c.Flags.ProjectRoot(&o.projectRoot)
	c.Flags.Bool(&o.json, "json", jsonHelp)
}

// inProject runs a function with the project, until a signal ends it.
func (o *common) inProject(s cli.Streams, work func(context.Context, *project.Project) error) error {
	p, err := scaffold.Open(o.projectRoot, s.Notice)
	if err != nil {
		return err
	}
	return untilSignal(func(ctx context.Context) error { return work(ctx, p) })
}

// untilSignal runs a function until it returns or a signal ends it. After a signal, it returns the exit code for the
// signal instead of the function's error.
func untilSignal(work func(context.Context) error) error {
	ctx, stop := cli.UntilSignal()
	defer stop()
	err := work(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

// onTerminal reports whether a person can answer questions.
func onTerminal(s cli.Streams) bool { return cli.IsTerminal(s.In) && cli.IsTerminal(s.Out) }

// confirm asks the user on a terminal. Otherwise it returns an error that suggests --force. done is a word such as
// "removed".
func (o *common) confirm(ctx context.Context, s cli.Streams, question, done string) error {
	if o.json || !onTerminal(s) {
		return cli.Failf(cli.CodeExists, "nothing was %s; show the changes with --dry-run, and apply them with --force", done)
	}
	if !cli.Confirm(ctx, s, s.Out, question) {
		return cli.Failf(cli.CodeExists, "nothing was %s", done)
	}
	return nil
}

// warner returns a function that prints warnings of a command.
func warner(s cli.Streams, verb string) func(text string) {
	return func(text string) { cli.Printf(s.Err, "%s: warning: %s\n", verb, text) }
}

// encoded returns a value as JSON.
func encoded(v any) json.RawMessage {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // results have only texts, numbers and lists
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// printJSON prints a result for programs. The members of the result follow "ok".
func printJSON(s cli.Streams, result any, dryRun bool) error {
	return printResult(s, true, result, dryRun)
}

func printResult(s cli.Streams, ok bool, result any, dryRun bool) error {
	var b rawjson.Builder
	b.Object().Name("ok").Bool(ok).Members(encoded(result))
	if dryRun {
		b.Name("dryRun").Bool(true)
	}
	_, err := fmt.Fprintf(s.Out, "%s\n", b.End().Bytes())
	return err
}
