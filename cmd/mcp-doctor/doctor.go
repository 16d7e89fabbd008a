package main

import (
	"cmp"
	"context"
	"fmt"
	"os"

	"mcp-bash/pkg/check/doctor"
	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/run/script"
)

func doctorCommand() *cli.Command {
	o := doctor.Options{}
	ref, asJSON, ndjson := "", false, false
	c := &cli.Command{
		Name:    "doctor",
		Summary: "Check the installation, its requirements and the project. With --fix: repair the installation.",
		Examples: []cli.Example{
			{Line: "NAME"},
			{Line: "NAME --json | jq -r '.findings[] | select(.severity==\"error\") | .message'"},
			{Line: "NAME --dry-run", Purpose: "show the actions of --fix"},
			{Line: "NAME --fix --ref v2.0.0", Purpose: "install that release"},
		},
		Text: `--fix changes only an installation that install.sh made, and the links in ~/.local/bin. It runs the
installed install.sh, which checks another version before the version replaces the installation in one step. If
anything fails, the installation is unchanged. Releases come from MCPBASH_RELEASE_BASE_URL, branches and commits from
MCPBASH_INSTALL_REPO_URL, a directory from MCPBASH_DOCTOR_LOCAL_SOURCE. Without --ref and --archive, nothing is
downloaded.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "healthy; warnings are allowed"}, {Code: 1, Meaning: "errors, or a fix failed"},
			{Code: 2, Meaning: "wrong usage, or no source for the fix"},
			{Code: 3, Meaning: "refused: install.sh does not manage the installation, or a downgrade"},
			{Code: 128, Meaning: "and above: ended by a signal"},
		},
		Run: func(s cli.Streams, _ []string) error {
			if ref != "" {
				o.Ref = ref
			}
			if err := check(&o, asJSON); err != nil {
				return err
			}
			if o.Archive == "-" { // CLI-118
				file, remove, err := project.Spool(project.OSEnv(), s.In, "stdin.tar.gz", maxStdin)
				if err != nil {
					return err
				}
				defer remove()
				o.Archive = file
			}
			return examine(s, o, asJSON, ndjson)
		},
	}
	f := &c.Flags
	f.Bool(&o.DryRun, "dry-run", "print what --fix would do")
	f.Bool(&o.Fix, "fix", "repair the installation")
	f.String(&o.MinVersion, "min-version", "X.Y.Z", "the minimum version").Missing(doctor.InvalidMinimum)
	f.String(&o.Archive, "archive", "PATH|URL",
		"install this tar.gz of a release (- for standard input); needs --verify").
		Completes(cli.Files).Missing("--archive requires a local path or URL to a tar.gz")
	f.String(&o.Verify, "verify", "SHA256", "the archive's checksum").Missing("--verify requires a SHA256 checksum value")
	const noRef = "--ref/--version requires a value like v0.8.1 or a commit SHA"
	f.String(&o.Ref, "ref", "REF", "install this release (2.0.0, v2.0.0), branch, tag or commit").Missing(noRef)
	f.String(&ref, "version", "REF", "the same as --ref").Missing(noRef)
	f.Bool(&o.AllowDowngrade, "allow-downgrade", "replace a newer version by an older one")
	f.Bool(&asJSON, "json", "one JSON object, errors included")
	f.Bool(&ndjson, "ndjson", "one JSON object for each finding, as it is found")
	return c
}

// maxStdin is the maximum size of an archive on standard input, in bytes.
const maxStdin = 2 << 30

func check(o *doctor.Options, asJSON bool) error {
	switch {
	case o.Fix && o.DryRun:
		return cli.Usagef("--fix and --dry-run are mutually exclusive")
	case o.MinVersion != "" && !requirements.IsVersion(o.MinVersion) && !asJSON: // in JSON it is a finding
		return cli.Usagef(doctor.InvalidMinimum)
	}
	return nil
}

func examine(s cli.Streams, o doctor.Options, asJSON, ndjson bool) (err error) {
	o.Env, o.Placeholders = project.OSEnv(), project.Placeholders()
	if o.Dir, err = os.Getwd(); err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	if ndjson {
		o.Found = func(f *finding.Finding) { fmt.Fprintf(s.Out, "%s\n", f.AppendJSON(nil)) }
	}
	r := doctor.Examine(ctx, o)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch {
	case asJSON:
		printJSON(s.Out, r)
	case !ndjson:
		r.Report(s.Out)
	}
	if r.ExitCode != cli.ExitOK {
		return cli.ExitCode(r.ExitCode)
	}
	return nil
}

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
				return printJSON(s.Out, u)
			}
			cli.Printf(s.Out, "mcp-bash %s in %s, installed by %s\n  %s\n", u.Version, u.Home, u.How,
				cmp.Or(u.Command, "install the next version in the same way"))
			switch {
			case dryRun:
				return nil
			case !u.Runs:
				return &cli.Error{Code: cli.CodePolicy, Cause: cli.Lines("mcp-bash cannot do this itself"), Exit: cli.ExitPolicy}
			}
			code, err := script.Replace(script.LookPath(u.Argv[0], u.Env["PATH"]), u.Argv, u.Env.Entries())
			if err == nil {
				err = cli.ExitCode(code) // Windows: the exit code of the command
			}
			return err
		},
	}
	c.Flags.Bool(&dryRun, "dry-run", "print the command, and run nothing")
	c.Flags.Bool(&check, "check", "find out whether a newer release exists, and install nothing")
	c.Flags.Bool(&asJSON, "json", "with --dry-run: print it as JSON; errors, too")
	return c
}
