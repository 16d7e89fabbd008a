// Package validate checks a project: what the server would leave out of it or refuse, what
// clients would do to what it offers, and what will not run on another machine (cli
// chapter 10).
//
// What the server accepts is asked of the server's own registry (registry.go). A check
// that it makes anyway is not made again here.
package validate

import (
	"context"
	"path/filepath"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
)

// Options say what is checked beyond what is always.
type Options struct {
	Fix        bool // make scripts executable (CLI-1006)
	Samples    bool // run tools with their samples (CLI-1010)
	ShellCheck bool // have shellcheck look at scripts, where it is installed
	Runner     *script.Runner
	Tree       func() project.Tree // for tools that run
	// Found, when set, gets each finding as it is found; those of the result are sorted.
	Found func(*finding.Finding)
}

// A Result is all that was found, sorted by [finding.Sort].
type Result struct {
	Root                    string
	Findings                []finding.Finding
	Errors, Warnings, Fixed int
	Name, Title, Version    string // what clients are told, defaults included
}

// The sections of a project, in the order in which they are checked (CLI-1007).
const (
	inServer    = "server"
	inTools     = "tools"
	inPrompts   = "prompts"
	inResources = "resources"
)

// A check is one run.
type check struct {
	ctx     context.Context
	p       *project.Project
	o       Options
	result  *Result
	section string
	text    []byte // of the metadata file that was read last
	offered *offered
	scripts []shellScript     // Bash scripts, to be looked at when all are known
	roots   roots.Scope       // for tools that run
	noRoots bool              // nobody gives any
	seen    map[string]bool   // what is said once: see once
	broken  map[string]bool   // the files with an error, also one that is not reported yet
	found   map[fileRule]bool // by checks here
	held    *sandbox.Sandbox
	only    map[string]bool // the rules that are reported; nil for all
	// describedBy are the metadata files of resources and templates, by name.
	describedBy map[string]string
}

// A fileRule is a rule that a file breaks.
type fileRule struct{ path, id string }

// Project checks a project. It changes nothing but what [Options] allow. The error is the
// context's.
func Project(ctx context.Context, p *project.Project, o Options) (*Result, error) {
	c := newCheck(ctx, p, o)
	if c.o.Runner == nil {
		c.o.Runner = new(script.Runner)
	}
	c.offered = c.takeStock()
	c.sections()
	c.section = inTools
	if ctx.Err() == nil {
		c.names()
		c.samples()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	finding.Sort(c.result.Findings)
	return c.result, nil
}

func newCheck(ctx context.Context, p *project.Project, o Options) *check {
	return &check{
		ctx: ctx, p: p, o: o, seen: map[string]bool{}, broken: map[string]bool{}, found: map[fileRule]bool{},
		describedBy: map[string]string{},
		result:      &Result{Root: p.Root, Name: p.Meta.Name, Title: p.Meta.Title, Version: p.Meta.Version},
	}
}

// sections checks the parts of the project.
func (c *check) sections() {
	for _, part := range []struct {
		section string
		run     func()
	}{
		{inServer, func() { c.server(); c.ignored() }}, {inTools, c.tools}, {inPrompts, c.prompts}, {inResources,
			c.resources},
	} {
		if c.ctx.Err() != nil {
			return
		}
		c.section = part.section
		part.run()
		c.reportStock()
		c.checkScripts()
	}
}

// add notes a finding of a check here. Severity and remedy are the rule's where it has none.
func (c *check) add(f finding.Finding) {
	c.found[fileRule{f.Path, f.ID}] = true
	c.note(f)
}

// note is [check.add] for a finding of the registry.
func (c *check) note(f finding.Finding) {
	if c.only != nil && (f.Good || !c.only[f.ID]) {
		if f.Severity == finding.Error {
			c.broken[f.Path] = true
		}
		return
	}
	rule := ruleOfID(f.ID)
	if f.Severity == "" {
		f.Severity = rule.Severity
	}
	if f.Fix == "" && !f.Good {
		f.Fix = rule.Fix
	}
	if f.Section == "" {
		f.Section = c.section
	}
	switch f.Severity {
	case finding.Error:
		c.result.Errors++
		c.broken[f.Path] = true
	case finding.Warning:
		c.result.Warnings++
	}
	c.result.Findings = append(c.result.Findings, f)
	if c.o.Found != nil {
		c.o.Found(&f)
	}
}

// ruleOfID is the rule of an id, of either table.
func ruleOfID(id string) *finding.Rule {
	if rule := Rules.Find(id); rule != nil {
		return rule
	}
	return MigrationRules.Find(id)
}

// at notes that a rule is broken in a file.
func (c *check) at(id, path, message string) {
	c.add(finding.Finding{ID: id, Path: path, Message: message})
}

// good notes that all is well with a file.
func (c *check) good(id, path, message string) {
	c.add(finding.Finding{ID: id, Path: path, Message: message, Good: true})
}

// valid notes that metadata is right, where nobody says otherwise (CLI-1003).
func (c *check) valid(label string) {
	if !c.broken[label] {
		c.good("metadata.valid", label, "valid")
	}
}

// once reports whether something is said for the first time.
func (c *check) once(what string) bool {
	before := c.seen[what]
	c.seen[what] = true
	return !before
}

// label is a path as findings name it: relative to the project where it lies in it.
func (c *check) label(path string) string { return folder.Label(c.p.Root, path) }

// sectionOf is the section that a kind of thing belongs to.
func sectionOf(k *kinds.Kind) string {
	switch k {
	case kinds.Resources, kinds.Templates:
		return inResources
	case kinds.Prompts, kinds.Completions:
		return inPrompts
	}
	return inTools
}

// abs is the path of a file in a directory of the project, given with slashes.
func abs(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
