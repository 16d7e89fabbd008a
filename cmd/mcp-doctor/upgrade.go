package main

import (
	"cmp"
	"fmt"

	"mcp-bash/pkg/check/doctor"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
)

func upgradeCommand() *cli.Command {
	dryRun, check, asJSON := false, false, false
	c := &cli.Command{
		Name:    "upgrade",
		Summary: "Install the next version of mcp-bash, in the way in which this one was installed.",
		Examples: []cli.Example{
			{Line: "NAME --dry-run", Purpose: "print the command that would run"},
			{Line: "NAME --check || NAME", Purpose: "upgrade if a newer release exists"},
		},
		Text: `install.sh recorded the address of the releases, the checkout or the repository, and the key of a signature. The
installed install.sh then installs from there. Where a package manager installed mcp-bash (npm, pipx, pip, uv, Homebrew,
dpkg, rpm), the command prints the package manager's command, for you to run.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "upgraded; with --check: nothing newer exists"},
			{Code: 1, Meaning: "it failed; with --check: a newer release exists"}, {Code: 2, Meaning: "wrong usage"},
			{Code: 3, Meaning: "refused, or a package manager has to do it"},
		},
		Run: func(s cli.Streams, _ []string) error {
			if dryRun && check || asJSON && !dryRun {
				return cli.Usagef("--dry-run and --check exclude each other, and --json needs --dry-run")
			}
			u, err := doctor.PlanUpgrade(project.OSEnv(), check)
			switch {
			case err != nil:
				return err
			case asJSON:
				_, err := fmt.Fprintf(s.Out, "%s\n", u.AppendJSON(nil))
				return err
			}
			cli.Printf(s.Out, "mcp-bash %s in %s, installed by %s\n  %s\n", u.Version, u.Home, u.How,
				cmp.Or(u.Command, "install the next version in the same way"))
			switch {
			case dryRun:
				return nil
			case u.Argv == nil:
				return &cli.Error{Code: cli.CodePolicy, Cause: cli.Lines("mcp-bash cannot do this itself"), Exit: cli.ExitPolicy}
			}
			code, err := script.Replace(script.LookPath(u.Argv[0], u.Env["PATH"]), u.Argv, u.Env.Entries())
			if err == nil {
				err = cli.ExitCode(code) // on Windows
			}
			return err
		},
	}
	c.Flags.Bool(&dryRun, "dry-run", "print the command, and run nothing")
	c.Flags.Bool(&check, "check", "find out whether a newer release exists, and install nothing")
	c.Flags.Bool(&asJSON, "json", "with --dry-run: print it as JSON; errors, too")
	return c
}
