package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/bundle/vendoring"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/lock"
)

type vendorOptions struct {
	options
	output                  string
	upgrade, verify, dryRun bool
}

func vendorCommand() *cli.Command {
	o := &vendorOptions{}
	c := &cli.Command{
		Name:    "vendor",
		Summary: "Put the server into a project, so that whoever has the project has its server.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "into .mcp-bash/ and run-server.sh of this directory"},
			{Line: "NAME --verify", Purpose: "has anybody changed it? For CI"},
			{Line: "NAME --upgrade --platform all", Purpose: "this version, for every system"},
			{Line: "NAME --dry-run", Purpose: "show the files that it would write"},
		},
		Text: `Without --platform and --arch the server comes for the systems that vendor.json records, at first for this one
and linux-amd64. An existing run-server.sh is kept.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "done, or nothing was changed"},
			{Code: 1, Meaning: "it failed, or --verify found changes"},
			{Code: 3, Meaning: "the server's program for a system is not available"},
		},
		Run: func(s cli.Streams, _ []string) error { return o.vendor(s) },
	}
	c.Flags.String(&o.output, "output", "DIR", "the project; else MCPBASH_PROJECT_ROOT, else this directory").
		Missing("--output requires a directory path").Completes(cli.Dirs)
	c.Flags.Bool(&o.upgrade, "upgrade", "replace what is there")
	c.Flags.Bool(&o.verify, "verify", "compare .mcp-bash and run-server.sh with vendor.json; write nothing")
	c.Flags.Bool(&o.dryRun, "dry-run", "list what would be written; write nothing")
	o.targets(c)
	o.runtimes(c)
	c.Flags.Bool(&o.Verbose, "verbose", "name every file")
	c.Flags.Bool(&o.json, "json", "print the result, or the error, as JSON and nothing else")
	return c
}

func (o *vendorOptions) vendor(s cli.Streams) error {
	env := project.OSEnv()
	dir := cmp.Or(o.output, env["MCPBASH_PROJECT_ROOT"])
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return cli.Failf(cli.CodeNotFound, "directory not found: %s", dir)
	}
	if o.verify {
		return o.verifyVendored(s, dir)
	}
	if err := o.choose(); err != nil {
		return err
	}
	note := func(line string) {
		if o.Verbose {
			cli.Printf(s.Err, "  %s\n", line)
		}
	}
	v := vendoring.Options{
		Source: runtimes.Source{Env: env, RuntimeDir: o.RuntimeDir, Home: project.InstalledHome(env),
			Offline: o.Offline, Note: note, Bar: cli.NewBar(s)},
		Dir: dir, Targets: o.Targets, Given: o.AllTargets, Tree: tree.Embedded(), Now: time.Now(),
	}
	if seconds, err := strconv.ParseInt(env["SOURCE_DATE_EPOCH"], 10, 64); err == nil {
		v.Now = time.Unix(seconds, 0)
	}
	if v.From = v.Home; v.From == "" {
		v.From, _ = os.Executable()
	}
	out := s.Out
	if o.json {
		out = io.Discard
	}
	if o.dryRun {
		r, err := vendoring.Plan(v)
		if err != nil {
			return err
		}
		cli.Printf(out, "Would vendor mcp-bash %s from %s\nInto: %s\n\nFiles that would be created:\n",
			r.Version, v.From, r.Path)
		for _, name := range r.Files {
			cli.Printf(out, "  %s\n", name)
		}
		return o.printResult(s, r, "dry-run")
	}
	if !o.upgrade && vendoring.Exists(dir) {
		if !cli.IsTerminal(s.In) || o.json {
			return cli.Failf(cli.CodeExists, "%s/ already exists in %s", runtimes.Dir, dir).
				WithHint("Use --upgrade to replace it.")
		}
		cli.Printf(s.Err, "%s/ already exists in %s\n", runtimes.Dir, dir)
		if !cli.Confirm(context.Background(), s, s.Err, "Proceed with upgrade?") {
			fmt.Fprintln(out, "Aborted.")
			return nil
		}
	}
	return o.putVendored(s, out, v)
}

func (o *vendorOptions) putVendored(s cli.Streams, out io.Writer, v vendoring.Options) error {
	fmt.Fprintf(out, "Vendoring mcp-bash framework...\n\n")
	ctx, stop := cli.UntilSignal()
	defer stop()
	r, err := vendoring.Vendor(ctx, v)
	var missing *runtimes.MissingError
	switch {
	case errors.As(err, &missing):
		hint := ""
		for _, reason := range missing.Reasons {
			hint += cli.Sprintf("  %s\n", reason)
		}
		hint += cli.Sprintf("  %s\n", missing.Searched()) + strings.Join(missing.Ways, "\n")
		return &cli.Error{Code: cli.CodeDepends, Exit: cli.ExitPolicy, Cause: missing, Hint: hint}
	case err != nil:
		return failed(s, err)
	}
	pinned := ""
	if _, err := os.Stat(filepath.Join(v.Dir, project.Marker)); err == nil {
		p, err := project.Find(v.Dir, s.Notice)
		if err == nil {
			err = stage.Check(ctx, p, stage.Options{Out: out, Err: s.Err})
		}
		if err == nil {
			pinned, err = " "+lock.FileName, pin(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	if r.Kept {
		s.Notice("vendor: run-server.sh is not that of this version; it is kept and recorded as it is. " +
			"Delete it and run this again to replace it.")
	}
	cli.Printf(out, "✓ Vendored mcp-bash %s into %s\n  %d files, %s\n  sha256: %s\n",
		r.Version, r.Path, len(r.Files), cli.Size(r.Bytes), r.SHA256)
	if o.Verbose {
		for _, name := range r.Files {
			cli.Printf(out, "    %s\n", name)
		}
	}
	cli.Printf(out, `
Next steps:
  git add .mcp-bash/ run-server.sh%s
  clients start %s with MCPBASH_TOOL_ALLOWLIST=*
  mcp-bash vendor --verify    # in CI: nobody changed it
  mcp-bash vendor --upgrade   # with a newer mcp-bash
`, pinned, filepath.Join(v.Dir, "run-server.sh"))
	return o.printResult(s, r, "vendor")
}

// pin writes the lock of a project without one. It keeps an existing lock, because people review its changes.
func pin(ctx context.Context, p *project.Project) error {
	if _, err := os.Lstat(filepath.Join(p.Root, lock.FileName)); err == nil {
		return nil
	}
	now, err := lock.Of(ctx, p, registry.NewCatalog(p, registry.Options{ReadOnly: true}), p.Root)
	if err != nil {
		return err
	}
	return now.Write(p)
}

func (o *vendorOptions) printResult(s cli.Streams, r *vendoring.Result, action string) error {
	if !o.json {
		return nil
	}
	_, err := fmt.Fprintf(s.Out, "%s\n", r.AppendJSON(nil, action))
	return err
}

func (o *vendorOptions) verifyVendored(s cli.Streams, dir string) error {
	if exe, err := os.Executable(); err == nil {
		if exe, err = fsys.Physical(exe); err == nil {
			if in, err := fsys.Physical(filepath.Join(dir, runtimes.Dir)); err == nil && fsys.Within(in, exe) {
				s.Notice("vendor: this program is part of what it verifies, which proves nothing; use an installed one")
			}
		}
	}
	r, err := vendoring.Verify(dir)
	var mismatch *vendoring.Mismatch
	switch {
	case errors.As(err, &mismatch):
		cli.Printf(s.Err, "vendor --verify: FAILED\n  recorded: %s\n  current:  %s\n",
			mismatch.Recorded, mismatch.Current)
		for _, detail := range mismatch.Details {
			cli.Printf(s.Err, "  %s\n", detail)
		}
		cli.Printf(s.Err, "%s/ or run-server.sh differs from the vendored server.\n"+
			"Restore both from version control, or delete both and run \"mcp-bash vendor\".\n", runtimes.Dir)
		if o.json {
			var b rawjson.Builder
			b.Object().Name("ok").Bool(false).Name("error").Object().Name("code").String(cli.CodeInvalid).
				Name("message").String(mismatch.Error()).End().Name("recorded").String(mismatch.Recorded).
				Name("current").String(mismatch.Current).Name("details").Strings(mismatch.Details).End()
			fmt.Fprintf(s.Out, "%s\n", b.Bytes())
		}
		return cli.ExitCode(cli.ExitFailed)
	case errors.Is(err, vendoring.ErrNoLock):
		return cli.Failf(cli.CodeNotFound, "no vendor.json found in %s", filepath.Join(dir, runtimes.Dir)).
			WithHint(`Run "mcp-bash vendor" first.`)
	case errors.Is(err, vendoring.ErrNoSum):
		return cli.Baref(cli.CodeInvalid, "vendor --verify: %v", err)
	case err != nil:
		return err
	}
	if r.Uncovered {
		s.Notice(`vendor --verify: vendor.json does not record run-server.sh; "mcp-bash vendor --upgrade" records it`)
	}
	if o.json {
		return o.printResult(s, r, "verify")
	}
	cli.Printf(s.Out, "vendor --verify: OK (version %s, sha256 %s)\n", r.Version, r.SHA256)
	return nil
}
