package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/scaffold/recipe"
)

type validateOptions struct {
	validate.Options
	root                                   string
	strict, json, ndjson                   bool
	defaults, inspector, withoutShellcheck bool
}

func validateCommand() *cli.Command {
	o := &validateOptions{}
	c := &cli.Command{
		Name:    "validate",
		Summary: "Check a project: what the server would leave out, clients refuse, or other machines not run.",
		Examples: []cli.Example{
			{Line: "NAME"},
			{Line: "NAME --strict", Purpose: "warnings count as errors"},
			{Line: "NAME --fix", Purpose: "make scripts executable"},
			{Line: "NAME --json | jq -e '.errors==0'"},
			{Line: "NAME --locked", Purpose: "in CI: fail if anything differs from mcp-bash.lock.json"},
			{Line: "NAME --run-samples", Purpose: "run tools with their samples/*.json"},
		},
		Text: "Each finding has a remedy and an id. For more, run mcp-bash explain ID.",
		Exits: []cli.Exit{
			{Code: 0, Meaning: "no errors; warnings are allowed unless --strict"},
			{Code: 1, Meaning: "errors, or no project"},
			{Code: 128, Meaning: "and above: ended by a signal"},
		},
		Run: func(s cli.Streams, _ []string) error { return o.run(s) },
	}
	f := &c.Flags
	f.Bool(&o.Fix, "fix", "make scripts executable that are not; nothing else is changed")
	f.Bool(&o.strict, "strict", "warnings count as errors")
	f.Bool(&o.Locked, "locked", "fail if the project differs from mcp-bash.lock.json")
	f.Bool(&o.Samples, "run-samples", "run tools with the arguments in their samples/*.json")
	f.Bool(&o.withoutShellcheck, "no-shellcheck", "leave out shellcheck, which is used where it is installed")
	f.Bool(&o.defaults, "explain-defaults", "print the name, title and version of the server")
	f.Bool(&o.inspector, "inspector", "print how to start the MCP Inspector")
	f.ProjectRoot(&o.root)
	f.Bool(&o.json, "json", "one JSON object, errors included")
	f.Bool(&o.ndjson, "ndjson", "a JSON object for each finding, as it is found")
	return c
}

func (o *validateOptions) run(s cli.Streams) error {
	p, err := project.Find(o.root, s.Notice)
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	o.ShellCheck, o.Runner, o.Tree, o.Recipe = !o.withoutShellcheck, new(script.Runner), tree.Embedded, recipeFaults
	if o.ndjson {
		o.Found = func(f *finding.Finding) {
			if !o.leavesOut(f) {
				fmt.Fprintf(s.Out, "%s\n", f.AppendJSON(nil))
			}
		}
	} else if !o.json {
		cli.Explain(s.Out, "Validating project at %s...\n\n", p.Root)
	}
	r, err := validate.Project(ctx, p, o.Options)
	if err != nil {
		return err
	}
	failed := r.Errors > 0 || o.strict && r.Warnings > 0
	r.Findings = slices.DeleteFunc(r.Findings, func(f finding.Finding) bool { return o.leavesOut(&f) })
	switch {
	case o.json:
		fmt.Fprintf(s.Out, "%s\n", o.appendJSON(nil, r))
	case !o.ndjson:
		for i := range r.Findings {
			r.Findings[i].Print(s.Out)
		}
		o.summarize(s, r)
	}
	if failed {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// leavesOut reports whether a finding is a note, which --strict leaves out in every form.
func (o *validateOptions) leavesOut(f *finding.Finding) bool {
	return o.strict && !f.Good && f.Severity == finding.Info
}

// appendJSON appends the result for programs.
func (o *validateOptions) appendJSON(dst []byte, r *validate.Result) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("projectRoot").String(r.Root).Name("errors").Int(r.Errors).Name("warnings").Int(r.Warnings).
		Name("fixesApplied").Int(r.Fixed).Name("strict").Bool(o.strict).
		Name("defaults").Object().Name("name").String(r.Name).Name("title").String(r.Title).
		Name("version").String(r.Version).End().Name("messages").Array()
	for i := range r.Findings {
		b.Append(r.Findings[i].AppendMessage)
	}
	return b.End().End().Bytes()
}

// summarize prints the numbers of errors and warnings.
func (o *validateOptions) summarize(s cli.Streams, r *validate.Result) {
	errors, warnings := r.Errors, r.Warnings
	if o.strict {
		errors, warnings = errors+warnings, 0
	}
	fmt.Fprintln(s.Out)
	if o.defaults {
		cli.Explain(s.Out, "Defaults used: name=%s, title=%s, version=%s\n", r.Name, r.Title, r.Version)
	}
	isFixable := func(f finding.Finding) bool { return f.Fixable }
	switch {
	case errors > 0 && o.Fix:
		cli.Explain(s.Out, "%d error(s) remaining. Please fix manually.\n", errors)
	case errors > 0 && slices.ContainsFunc(r.Findings, isFixable):
		cli.Explain(s.Out, "%d error(s) found. Run 'mcp-bash validate --fix' to fix auto-fixable issues.\n", errors)
	case errors > 0:
		cli.Explain(s.Out, "%d error(s) found.\n", errors)
	case o.Fix && r.Fixed > 0 && warnings == 0:
		cli.Explain(s.Out, "All checks passed. %d file(s) were auto-fixed.\n", r.Fixed)
	case o.Fix && r.Fixed > 0:
		cli.Explain(s.Out, "All remaining issues are warnings. %d file(s) were auto-fixed.\n", r.Fixed)
	case o.Fix:
		cli.Explain(s.Out, "All checks passed (no errors).\n")
	default:
		cli.Explain(s.Out, "All checks passed (warnings: %d).\n", warnings)
	}
	if o.inspector && errors == 0 {
		cli.Printf(s.Out, "\n%s\n", clients.InspectorLine(r.Root, serverOf(r.Root)))
	}
}

// serverOf returns the server that the Inspector should start: the project's own, or else this installation's.
func serverOf(root string) string {
	own := filepath.Join(root, "bin", "mcp-bash")
	if info, err := os.Stat(own); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return own
	}
	return cmp.Or(script.Sibling("mcp-bash"), "mcp-bash")
}

func recipeFaults(name string, text []byte) (list []finding.Finding) {
	r, err := recipe.Parse(text)
	var faults recipe.Faults
	errors.As(err, &faults)
	for _, f := range faults {
		found := finding.Finding{Line: f.Line, Column: f.Column, Message: f.Reason}
		if f.Path != "" {
			found.Message = f.Path + ": " + f.Reason
		}
		list = append(list, found)
	}
	if err == nil && r.FileName() != name {
		list = append(list, finding.Finding{Message: "must be called " + r.FileName()})
	}
	return list
}

func migrateCommand() *cli.Command {
	root, asJSON, ndjson := "", false, false
	c := &cli.Command{
		Name:    "migrate",
		Summary: "Show what changes for a project of the Bash edition (1.x), with file, line and remedy.",
		Examples: []cli.Example{
			{Line: "NAME"},
			{Line: "NAME --json | jq -e '.attention==0'"},
			{Line: "mcp-bash explain migrate.variable_dropped", Purpose: "why it matters, and what to do"},
		},
		Text: `The command reads the project. It starts no script and changes no file. ⚠ and ✗ need attention; • is a
note about a difference that may not matter. It does not repeat the checks of validate.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "nothing needs attention; notes are allowed"},
			{Code: 1, Meaning: "something needs attention, or no project"},
			{Code: 128, Meaning: "and above: ended by a signal"},
		},
		Run: func(s cli.Streams, _ []string) error { return migrate(s, root, asJSON, ndjson) },
	}
	c.Flags.ProjectRoot(&root)
	c.Flags.Bool(&asJSON, "json", "one JSON object, errors included")
	c.Flags.Bool(&ndjson, "ndjson", "a JSON object for each finding, as it is found")
	return c
}

func migrate(s cli.Streams, root string, asJSON, ndjson bool) error {
	p, err := project.Find(root, s.Notice)
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	var found func(*finding.Finding)
	if ndjson {
		found = func(f *finding.Finding) { fmt.Fprintf(s.Out, "%s\n", f.AppendJSON(nil)) }
	}
	m, err := validate.Migrate(ctx, p, found)
	if err != nil {
		return err
	}
	switch {
	case asJSON:
		fmt.Fprintf(s.Out, "%s\n", appendMigration(nil, m))
	case !ndjson:
		printMigration(s, m)
	}
	if m.Errors+m.Warnings > 0 {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// appendMigration appends the result for programs.
func appendMigration(dst []byte, m *validate.Result) []byte {
	attention := m.Errors + m.Warnings
	b := rawjson.Over(dst)
	b.Object().Name("projectRoot").String(m.Root).Name("attention").Int(attention).
		Name("notes").Int(len(m.Findings) - attention).Name("findings").Array()
	for i := range m.Findings {
		b.Append(m.Findings[i].AppendJSON)
	}
	return b.End().End().Bytes()
}

func printMigration(s cli.Streams, m *validate.Result) {
	attention := m.Errors + m.Warnings
	notes := len(m.Findings) - attention
	cli.Explain(s.Out, "Changes for the project at %s:\n\n", m.Root)
	for i := range m.Findings {
		m.Findings[i].Print(s.Out)
	}
	if len(m.Findings) > 0 {
		fmt.Fprintln(s.Out)
	}
	if attention == 0 {
		cli.Explain(s.Out, "Nothing needs attention (notes: %d). Next: mcp-bash validate\n", notes)
	} else {
		cli.Explain(s.Out, "%d difference(s) need attention (notes: %d).\n", attention, notes)
	}
}
