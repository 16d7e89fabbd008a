// Package validate checks a project. It finds items that the server would omit or refuse, names
// that clients would change, and scripts that fail on other machines.
//
// The server's own registry decides what the server accepts (loadRegistry). Checks that the registry
// makes are not repeated here.
package validate

import (
	"cmp"
	"context"
	_ "embed" // for rulesText
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/skill"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/sdk"
)

//go:embed rules.txt
var rulesText string

// Rules are the rules of validate, and those of migrate, whose ids begin with "migrate.".
var Rules = sync.OnceValue(func() finding.Rules { return finding.ParseRules(rulesText) })

// Options select optional checks and changes.
type Options struct {
	Fix        bool // make scripts executable
	Locked     bool // compare with the lock of the project, as for a locked project
	Samples    bool // run tools with their samples
	ShellCheck bool // run shellcheck if it is installed
	Runner     *script.Runner
	Tree       func() project.Tree // for tools that run
	// Recipe returns the faults of a recipe, with their places. name is the file's name. If Recipe is nil, recipes are
	// not checked.
	Recipe func(name string, text []byte) []finding.Finding
	// Found receives each finding immediately. It may be nil. The findings of the result are sorted.
	Found func(*finding.Finding)
}

// A Result has all findings, sorted by [finding.Sort].
type Result struct {
	Root                    string
	Findings                []finding.Finding
	Errors, Warnings, Fixed int
	Name, Title, Version    string // the values that clients get, with defaults
}

// Sections of a project, in the order of the checks.
const (
	inServer    = "server"
	inTools     = "tools"
	inPrompts   = "prompts"
	inResources = "resources"
)

type check struct {
	ctx     context.Context
	p       *project.Project
	o       Options
	result  *Result
	section string
	text    []byte // the metadata file that was read last
	offered *offered
	scripts []shellScript     // Bash scripts of the section
	sdk     []string          // public functions of the SDK
	roots   roots.Scope       // for tools that run
	noRoots bool              // no roots are configured
	seen    map[string]bool   // keys of once
	broken  map[string]bool   // files with an error, including errors that are not reported yet
	found   map[fileRule]bool // rules that this package's checks reported
	sandbox *sandbox.Sandbox  // does not confine anything
	only    map[string]bool   // reported rules; nil for all
	// describedBy has the metadata files of resources and templates, by name.
	describedBy map[string]string
}

type fileRule struct{ path, id string }

// Project checks a project. It changes nothing except as [Options] permit. The error is the context's.
func Project(ctx context.Context, p *project.Project, o Options) (*Result, error) {
	c := newCheck(ctx, p, o)
	c.o.Runner = cmp.Or(c.o.Runner, new(script.Runner))
	c.offered = c.loadRegistry()
	c.sections()
	c.section = inTools
	if ctx.Err() == nil {
		c.names()
		c.large()
		c.clients()
		c.samples()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	finding.Sort(c.result.Findings)
	return c.result, nil
}

func newCheck(ctx context.Context, p *project.Project, o Options) *check {
	c := &check{
		ctx: ctx, p: p, o: o, seen: map[string]bool{}, broken: map[string]bool{}, found: map[fileRule]bool{},
		describedBy: map[string]string{}, sdk: sdk.Functions(),
		result: &Result{Root: p.Root, Name: p.Meta.Name, Title: p.Meta.Title, Version: p.Meta.Version},
	}
	c.sandbox = sandbox.New(sandbox.Config{
		Project: p, State: &project.State{}, Mode: access.Confinement{Declared: true},
		Log: func(mcp.Level, string, string) {},
		Listed: func() ([]sandbox.Listed, error) {
			var completions []string
			for _, o := range c.offered.items[kinds.Completions] {
				completions = append(completions, o.path)
			}
			return engine.Listed(p, c.offered.entries(kinds.Tools), completions), nil
		},
	})
	return c
}

func (c *check) sections() {
	for _, part := range []struct {
		section string
		run     func()
	}{
		{inServer, func() { c.server(); c.ignored(); c.recipes(); c.skills(); c.lock() }},
		{inTools, c.tools}, {inPrompts, c.prompts}, {inResources, c.resources},
	} {
		if c.ctx.Err() != nil {
			return
		}
		c.section = part.section
		part.run()
		c.reportRegistry()
		c.checkScripts()
	}
}

// add records a finding of this package. The rule determines a missing severity and fix.
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
	rule := Rules().Find(f.ID)
	f.Severity = cmp.Or(f.Severity, rule.Severity)
	if f.Fix == "" && !f.Good {
		f.Fix = rule.Fix
	}
	f.Section = cmp.Or(f.Section, c.section)
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

func (c *check) at(id, path, format string, args ...any) {
	c.atLine(id, path, 0, format, args...)
}

func (c *check) atLine(id, path string, line int, format string, args ...any) {
	c.add(finding.Finding{ID: id, Path: path, Line: line, Message: fmt.Sprintf(format, args...)})
}

// near returns a finding with the place of a value in the text that was read last.
func (c *check) near(value json.RawMessage, f finding.Finding) finding.Finding {
	f.Line, f.Column, _ = rawjson.Position(c.text, value)
	return f
}

func (c *check) good(id, path, message string) {
	c.add(finding.Finding{ID: id, Path: path, Message: message, Good: true})
}

// valid reports valid metadata unless the file has errors.
func (c *check) valid(label string) {
	if !c.broken[label] {
		c.good("metadata.valid", label, "valid")
	}
}

// once reports whether this is the first call with a key.
func (c *check) once(what string) bool {
	before := c.seen[what]
	c.seen[what] = true
	return !before
}

// label returns a path for findings: relative to the project, if it is in the project.
func (c *check) label(path string) string { return folder.Label(c.p.Root, path) }

func sectionOf(k *kinds.Kind) string {
	switch k {
	case kinds.Resources, kinds.Templates:
		return inResources
	case kinds.Prompts, kinds.Completions:
		return inPrompts
	}
	return inTools
}

// abs returns the path of a file in a directory. name has slashes.
func abs(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }

// offered has the items that the server would offer, and its messages.
type offered struct {
	items map[*kinds.Kind][]offer
	said  map[string][]finding.Finding // by section, not reported yet
	byDir map[dirOfKind][]offer
}

// A dirOfKind is a directory of items, relative to the directory of their kind.
type dirOfKind struct {
	kind *kinds.Kind
	name string
}

type offer struct {
	name string
	path string // of its file, relative to the directory of its kind, or ""
	json json.RawMessage
}

// loadRegistry lets the registry scan the project as the server does, without writing. It does not run register.sh.
func (c *check) loadRegistry() *offered {
	o := &offered{items: map[*kinds.Kind][]offer{}, said: map[string][]finding.Finding{}, byDir: map[dirOfKind][]offer{}}
	p := *c.p
	p.Discovery.Static, p.Discovery.SubPath = false, "" // check the files
	section := ""
	said := func(f finding.Finding) {
		f.Section = cmp.Or(f.Section, section)
		o.said[f.Section] = append(o.said[f.Section], f)
		if Rules().Find(f.ID).Severity == finding.Error {
			c.broken[f.Path] = true
		}
	}
	catalog := registry.NewCatalog(&p, registry.Options{
		ReadOnly: true,
		OnMessage: func(m item.Message) {
			if f, ok := c.reported(m); ok {
				said(f)
			}
		},
	})
	for _, k := range kinds.All {
		section = sectionOf(k)
		list, err := catalog.Fresh(c.ctx, k)
		if failed, ok := errors.AsType[*registry.Failure](err); ok && c.once("failure "+failed.Reason) {
			said(c.unavailable(failed))
		}
		if err != nil {
			continue
		}
		for _, entry := range list.Items {
			one := offer{entry.Name, rawjson.TextOf(entry.JSON, "path"), entry.JSON}
			o.items[k] = append(o.items[k], one)
			top, _, _ := strings.Cut(one.path, "/")
			o.byDir[dirOfKind{k, top}] = append(o.byDir[dirOfKind{k, top}], one)
		}
	}
	return o
}

// reportRegistry reports the registry's messages about the current section. It leaves out faults that a check of this
// package has reported.
func (c *check) reportRegistry() {
	for _, f := range c.offered.said[c.section] {
		reported := c.found[fileRule{f.Path, f.ID}]
		for _, id := range sameFault[f.ID] {
			reported = reported || c.found[fileRule{f.Path, id}]
		}
		if !reported {
			c.note(f)
		}
	}
}

var unreadableFile = []string{"metadata.invalid_json", "metadata.unreadable"}

// sameFault has, for a rule, the rules of this package about the same fault.
var sameFault = map[string][]string{"metadata.invalid_json": unreadableFile, "declaration.unreadable": unreadableFile}

var ruleOf = [...]string{
	item.Other: "registry.reported", item.Malformed: "metadata.invalid_json", item.Declaration: "declaration.unreadable",
	item.ClientName: "name.not_portable", item.UnusableName: "name.unusable", item.MissingName: "metadata.no_name",
	item.Duplicate: "name.duplicate", item.UnknownKey: "metadata.unknown_key", item.Misplaced: "tool.misplaced",
	item.BadSchema: "schema.invalid", item.BadIcons: "icons.form", item.UnreadableIcon: "icons.unreadable",
	item.Ignored: "metadata.ignored", item.LeftOut: "metadata.ignored", item.BothURIs: "resource.both_uris",
	item.MissingVariable: "resource.no_variable", item.MissingURI: "resource.no_uri",
	item.MissingText: "prompt.no_text",
}

// reported returns a message of the registry as a finding. ok is false for messages that are not
// faults, or that repeat an error.
func (c *check) reported(m item.Message) (f finding.Finding, ok bool) {
	if m.Level < mcp.Warning || m.Topic == item.Unavailable {
		return f, false
	}
	f = finding.Finding{ID: ruleOf[m.Topic], Path: m.At.File, Line: m.At.Line, Column: m.At.Column, Message: m.Text}
	if m.At.Part != "" {
		f.Message = m.At.Part + ": " + m.Text
	}
	switch f.Path {
	case declare.JSONFile, declare.HookFile:
		if f.Path == declare.JSONFile && m.Topic == item.LeftOut {
			f.ID = "register.invalid"
		}
		f.Path, f.Section = c.label(abs(c.p.Server, f.Path)), inServer
	}
	return f, true
}

func (c *check) unavailable(failed *registry.Failure) finding.Finding {
	f := finding.Finding{ID: "registry.unavailable", Message: failed.Reason}
	if fault, ok := errors.AsType[*declare.Fault](failed); ok {
		f.ID, f.Section, f.Path = "register.invalid", inServer, c.label(abs(c.p.Server, declare.JSONFile))
		f.Line, f.Column = fault.Line, fault.Column
	}
	return f
}

func (o *offered) entries(k *kinds.Kind) (list []json.RawMessage) {
	for _, one := range o.items[k] {
		list = append(list, one.json)
	}
	return list
}

// metadataOf returns the possible metadata files of a content file, by precedence.
func metadataOf(file string) (names []string) {
	for _, name := range item.MetadataNames(path.Base(file)) {
		if name != "" {
			names = append(names, path.Join(path.Dir(file), name))
		}
	}
	return names
}

// skills checks the skills of the project.
func (c *check) skills() {
	list, faults, err := skill.Read(skill.Dir(c.p.Root))
	if err != nil {
		c.at("skill.invalid", "skills", "%v", err)
	}
	for _, s := range list {
		c.good("skill.valid", path.Join("skills", s.Name), "valid")
	}
	for _, f := range faults {
		c.at("skill.invalid", path.Join("skills", f.File), "%s", f.Text)
	}
}
