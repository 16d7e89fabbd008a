package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/resource"
	"mcp-bash/pkg/feature/skill"
	"mcp-bash/pkg/helper"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/provider/builtin"
	"mcp-bash/pkg/provider/uitemplate"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/wire/mcp"
)

func providerCommand() *cli.Command {
	return &cli.Command{
		Name:    "provider",
		Summary: "Print the content of a URI, fetched as a server would.",
		Examples: []cli.Example{
			{Line: "NAME echo echo://Hello"},
			{Line: "NAME https https://example.com/a.txt > a.txt"},
			{Line: "NAME notes notes://first", Purpose: "by providers/notes.sh of the project"},
		},
		Usage:    "PROVIDER URI",
		Operands: []cli.Operand{{Name: "[PROVIDER]", Complete: cli.Found(providerNames)}, {Name: "[URI]"}},
		Text: `PROVIDER is file, https, git, echo, ui, or a provider of the project. docs/SECURITY.md explains how to allow
hosts.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "printed"}, {Code: 2, Meaning: "outside of the allowed roots"},
			{Code: 3, Meaning: "not found"},
			{Code: 4, Meaning: "denied"}, {Code: 5, Meaning: "failed"}, {Code: 6, Meaning: "too large"},
			{Code: 7, Meaning: "redirected"},
		},
		Run: func(s cli.Streams, operands []string) error { return exit(provider(s, operands)) },
	}
}

// providerNames returns the built-in providers, and the providers of the project around the working directory.
func providerNames() []string {
	names := []string{"file", "https", "git", "echo", "ui"}
	dir, err := os.Getwd()
	if err != nil {
		return names
	}
	env := project.OSEnv()
	root, err := project.FindRoot(env, "", dir)
	if err != nil {
		return names
	}
	scripts, _ := filepath.Glob(filepath.Join(root, "providers", "*.sh"))
	for _, script := range scripts {
		names = append(names, strings.TrimSuffix(filepath.Base(script), ".sh"))
	}
	return names
}

// provider runs "mcp-bash provider NAME URI". In a project it reads like the project's server, with the project's
// providers. In other directories, and if a script calls it, it runs the built-in provider, because providers of
// projects use it.
func provider(s cli.Streams, args []string) int {
	var out bytes.Buffer // a buffer, because only cli.Run reports write errors
	defer func() { s.Out.Write(out.Bytes()) }()
	env := project.OSEnv()
	dir, err := os.Getwd()
	if err != nil {
		dir = string(os.PathSeparator)
	}
	root, err := project.FindRoot(env, "", dir)
	if errors.Is(err, project.ErrNone) || env["MCPBASH_HELPER_BIN"] != "" {
		return helper.Run(append([]string{"provider"}, args...), s.In, &out, s.Err)
	}
	if err != nil {
		cli.Printf(s.Err, "%s\n", cli.MessageOf(err))
		return cli.ExitFailed
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	code := helper.Provider(args, func(name, uri string) ([]byte, error) {
		return fetch(ctx, s, project.Open(root, env, dir, s.Notice), name, uri)
	}, &out, s.Err)
	if ended, ok := context.Cause(ctx).(cli.ExitCode); ok {
		return int(ended)
	}
	return code
}

// fetch reads with a provider of a project, in a temporary private directory.
func fetch(ctx context.Context, s cli.Streams, p *project.Project, name, uri string) ([]byte, error) {
	home, err := project.FindHome(p.Env, tree.Embedded, s.Notice)
	if err != nil {
		return nil, err
	}
	state, dir, err := project.NewState(p.Env, &p.Settings)
	if err != nil {
		return nil, fmt.Errorf("unable to create state directory: %s: %w", dir, err)
	}
	runner := new(script.Runner)
	defer func() {
		state.EndScripts(runner, s.Notice)
		state.Remove()
	}()
	e := engine.New(engine.Config{
		Project: p, State: state, Runner: runner, Home: home, ReadOnly: true, Notice: s.Notice, Stderr: s.Err,
		Debug: func() bool { return p.Logging.Level <= mcp.Debug },
		Log: func(level mcp.Level, logger, text string) {
			if level >= max(p.Logging.Level, mcp.Warning) {
				cli.Printf(s.Err, "%s: %s: %s\n", level, logger, secrets.Text(text))
			}
		},
	})
	config := e.ResourceConfig()
	if skills := skill.Open(skill.Dir(p.Root), p.Discovery.ResourcesTTL, e.Log); skills != nil {
		config.Skills = skills
	}
	config.New = builtin.New
	return resource.New(config).Fetch(ctx, name, uri)
}

func templateCommand() *cli.Command {
	names := uitemplate.Names()
	return &cli.Command{
		Name:    "ui-template",
		Summary: "Print the HTML of a ready-made view of MCP Apps.",
		Examples: []cli.Example{
			{Line: `echo '{"title":"Order","fields":[{"name":"item"}],"submitTool":"order"}' |` +
				"\nNAME form > ui/order/index.html"},
			{Line: "NAME kanban < /dev/null", Purpose: "with the defaults"},
		},
		Usage:    "TEMPLATE < CONFIG.json",
		Operands: []cli.Operand{{Name: "TEMPLATE", Complete: cli.Words(names...)}},
		Text: "TEMPLATE is one " +
			"of " + strings.Join(names, ", ") + `. The configuration is one JSON object. An empty input
means {}. docs/MCP-APPS.md describes its members.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "printed"}, {Code: 1, Meaning: "no such template"},
			{Code: 2, Meaning: "wrong usage, or a faulty configuration"},
		},
		Run: func(s cli.Streams, operands []string) error {
			var out bytes.Buffer // a buffer, because only cli.Run reports write errors
			code := helper.Run([]string{"ui-template", operands[0]}, s.In, &out, s.Err)
			s.Out.Write(out.Bytes())
			return exit(code)
		},
	}
}
