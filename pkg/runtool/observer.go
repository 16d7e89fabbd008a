package runtool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/json/jsonedit"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/observe"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
)

// An observer implements [sandbox.Observer] for --explain and --learn.
type observer struct {
	runner  *script.Runner
	sandbox *sandbox.Sandbox
	learns  bool
	begin   func()           // called just before the script starts
	session *observe.Session // nil if the call was not confined or did not start
}

func (o *observer) Learns() bool { return o.learns }

func (o *observer) Confine(k confine.Kernel, p *confine.Profile) (*script.Confined, error) {
	confined, err := o.runner.Prepared(func() (err error) {
		o.session, err = observe.Enter(k, p, !o.learns)
		return err
	})
	if err == nil {
		o.begin()
	}
	return confined, err
}

func (o *observer) report() observe.Report {
	r := o.session.Report()
	started := map[string]bool{}
	for _, a := range r.Accesses {
		started[a.Path] = started[a.Path] || a.Kind == observe.Start
	}
	r.Accesses = slices.DeleteFunc(r.Accesses, func(a observe.Access) bool {
		// A shell reads a program that it may not start, for its error message.
		return !o.learns && a.Kind == observe.Read && started[a.Path]
	})
	return r
}

func (r *run) surroundings(o *observer) *surroundings {
	s := &surroundings{project: r.project.Root, home: r.project.Env["HOME"], brings: o.sandbox.Brings,
		homes: o.sandbox.Homes()}
	s.secret, s.protected, s.processes = o.sandbox.Protected()
	s.state, _ = filepath.EvalSymlinks(o.sandbox.State.Dir)
	if home, err := filepath.EvalSymlinks(s.home); err == nil {
		s.home = home
	}
	for _, root := range r.roots.List {
		s.reach = append(s.reach, root.Path)
	}
	if r.roots.Given {
		s.roots = s.reach
	}
	path := r.project.ToolBase(&r.project.Scripts.Tools)["PATH"]
	s.lookPath = func(name string) string {
		program, _ := filepath.EvalSymlinks(script.LookPath(name, path))
		return program
	}
	return s
}

// printRefused prints the denied accesses of a call.
func (r *run) printRefused(o *observer) {
	if o.session == nil {
		cli.Printf(r.Err, "run-tool: nothing was refused: %s was not confined "+
			"(MCPBASH_CONFINE=all confines a tool that declares nothing)\n", r.tool)
		return
	}
	report, s := o.report(), r.surroundings(o)
	for _, a := range report.Accesses {
		cli.Printf(r.Err, "run-tool: refused: %s: %s\n", describe(a), s.remedy(a))
	}
	if len(report.Accesses) == 0 {
		r.Notice("run-tool: nothing was refused")
	}
	r.printIncomplete(report)
}

func (r *run) printIncomplete(report observe.Report) {
	if report.Dropped > 0 {
		cli.Printf(r.Err, "run-tool: warning: %d more are not listed\n", report.Dropped)
	}
	if report.Unread > 0 {
		cli.Printf(r.Err, "run-tool: warning: the arguments of %d system calls could not be read\n", report.Unread)
	}
}

// explanation returns the member of the result with the denied accesses.
func (r *run) explanation(o *observer) rawjson.Member {
	var b rawjson.Builder
	b.Object().Name("confined").Bool(o.session != nil).Name("refused").Array()
	if o.session == nil {
		return rawjson.Member{Name: "_explain", Value: b.End().End().Bytes()}
	}
	report, s := o.report(), r.surroundings(o)
	for _, a := range report.Accesses {
		s.appendRefused(&b, a)
	}
	b.End().Name("dropped").Int(report.Dropped).Name("unread").Int(report.Unread)
	return rawjson.Member{Name: "_explain", Value: b.End().Bytes()}
}

func (s *surroundings) appendRefused(b *rawjson.Builder, a observe.Access) {
	b.Object().Name("kind").String(string(a.Kind))
	b.Optional("path", a.Path).Optional("name", a.Name).Optional("program", a.Program)
	if a.Port != 0 {
		b.Name("port").Int(a.Port)
	}
	n := s.need(a)
	b.Name("capabilities").Strings(names(n.capabilities))
	if n.list != "" && a.Kind != observe.Socket {
		b.Name("confine").Raw(extrasJSON(map[string][]string{n.list: {s.spell(n.list, n.entry)}}))
	}
	if n.beforehand != nil {
		b.Name("beforehand").String(string(n.beforehand.made))
	}
	b.Optional("never", n.never)
	b.End()
}

// printLearned prints a declaration that permits the accesses of a call, and the reasons. failed means that the call
// failed.
func (r *run) printLearned(ctx context.Context, o *observer, item json.RawMessage, failed bool) error {
	report, s := o.report(), r.surroundings(o)
	d := s.declare(report.Accesses)
	if r.json {
		r.showLearned(&d, report, failed)
	} else {
		fmt.Fprintf(r.Out, "%s\n", rawjson.AppendIndent(nil, d.JSON(), 0))
	}
	for _, reason := range d.reasons {
		cli.Printf(r.Err, "run-tool: %s\n", reason.String())
	}
	for _, b := range d.beforehand {
		cli.Printf(r.Err, "run-tool: %s\n", b.String())
	}
	for _, never := range d.never {
		cli.Printf(r.Err, "run-tool: warning: not declared: %s\n", never)
	}
	r.printIncomplete(report)
	if failed {
		cli.Printf(r.Err, "run-tool: the call of %s failed; a successful call may need more\n", r.tool)
		return cli.ExitCode(cli.ExitFailed)
	}
	if !r.write {
		return nil
	}
	c, err := r.declareIn(ctx, item, &d, s)
	switch {
	case errors.Is(err, errRefused):
		return cli.Failf(cli.CodeInvalid, "nothing was written")
	case err != nil:
		return cli.Failf(cli.CodeInvalid, "nothing was written: %v", err)
	case c.isEmpty():
		cli.Printf(r.Err, "run-tool: %s already declares all of it\n", c.file)
	default:
		cli.Printf(r.Err, "run-tool: written to %s\n", c.file)
	}
	return nil
}

// approve shows a change of a metadata file, and asks on a terminal whether to make it.
func (r *run) approve(ctx context.Context, c change) bool {
	r.Err.Write(diff.Diff(c.file, c.before, c.file+" (new)", c.after))
	return !r.isTerminal || cli.Confirm(ctx, r.Streams, r.Err, "Write this?")
}

// showLearned is printLearned as JSON.
func (r *run) showLearned(d *declaration, report observe.Report, failed bool) {
	var b rawjson.Builder
	b.Object().Name("tool").String(r.tool).Name("declaration").Raw(d.JSON()).Name("reasons").Array()
	for _, reason := range d.reasons {
		b.Object().Name("declared").String(reason.declared).Name("because").String(describe(reason.first)).
			Name("more").Int(reason.more).End()
	}
	b.End().Name("beforehand").Array()
	for _, one := range d.beforehand {
		b.Object().Name("type").String(string(one.made)).Name("path").String(one.path).Name("command").
			String(one.command()).End()
	}
	b.End().Name("never").Strings(d.never).Name("dropped").Int(report.Dropped).Name("unread").Int(report.Unread).
		Name("failed").Bool(failed)
	fmt.Fprintf(r.Out, "%s\n", b.End().Bytes())
}

// lockWait is the maximum wait for another command that edits a file of the tool.
const lockWait = 5 * time.Second

// declareIn adds a declaration to a tool's metadata file. Existing declarations and all other bytes of the file stay.
func (r *run) declareIn(ctx context.Context, tool json.RawMessage, d *declaration, s *surroundings) (c change,
	err error) {
	script := filepath.FromSlash(rawjson.TextOf(tool, "path"))
	dir, err := os.OpenRoot(filepath.Join(r.project.Tools, filepath.Dir(script)))
	if err != nil {
		return c, fsys.Cause(err)
	}
	defer dir.Close()
	names := item.MetadataNames(filepath.Base(script))
	for _, name := range names {
		if name == "" {
			continue
		}
		c.file = path.Join(filepath.Base(r.project.Tools), filepath.ToSlash(filepath.Dir(script)), name)
		err := c.declareInFile(ctx, dir, name, d, s, func(c change) bool { return r.approve(ctx, c) })
		if !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				err = fmt.Errorf("%s: %w", c.file, err)
			}
			return c, err
		}
	}
	return c, fmt.Errorf("%s has no metadata file, neither %s nor %s; put it where the tool is described",
		r.tool, names[0], names[1])
}

// A change replaces the text of a metadata file.
type change struct {
	file          string // relative to the project
	before, after []byte
}

func (c *change) isEmpty() bool { return bytes.Equal(c.before, c.after) }

// Errors of changes that are not made.
var (
	errRefused = errors.New("refused")
	errChanged = errors.New("the file has changed meanwhile; run this again")
)

// declareInFile asks without holding the lock of the file, because a person may take long to answer.
func (c *change) declareInFile(ctx context.Context, dir *os.Root, name string, d *declaration, s *surroundings,
	approve func(c change) bool) error {
	o := userfile.Options{Max: item.MaxMetadata, Wait: lockWait}
	_, err := userfile.Edit(ctx, dir, name, o, func(f userfile.File) ([]byte, error) {
		if !f.There {
			return nil, fs.ErrNotExist
		}
		text, err := merged(f.Text, d, s)
		if err != nil {
			return nil, err
		}
		c.before, c.after = f.Text, text
		return f.Text, nil
	})
	switch {
	case err != nil || c.isEmpty():
		return err
	case !approve(*c):
		return errRefused
	}
	_, err = userfile.Edit(ctx, dir, name, o, func(f userfile.File) ([]byte, error) {
		if !bytes.Equal(f.Text, c.before) {
			return nil, errChanged
		}
		return c.after, nil
	})
	return err
}

func merged(text []byte, d *declaration, s *surroundings) ([]byte, error) {
	f, err := jsonedit.Dialect{}.Open(text)
	if err != nil {
		return nil, err
	}
	declared := d.JSON()
	if err := addTo(f, rawjson.Get(declared, "capabilities"), strings.EqualFold, "capabilities"); err != nil {
		return nil, err
	}
	lists := rawjson.Get(declared, "confine")
	given, err := f.Get("confine")
	if err != nil {
		return nil, err
	}
	if given == nil && lists != nil {
		err := f.Set(lists, "confine")
		return f.Bytes(), err
	}
	for list, entries := range rawjson.All(lists) {
		has := func(there, entry string) bool { return s.has(list, there, entry) }
		if err := addTo(f, entries, has, "confine", list); err != nil {
			return nil, err
		}
	}
	return f.Bytes(), nil
}

// addTo adds missing elements, texts or numbers, to an array. has reports whether an element that is there makes
// another one unnecessary.
func addTo(f *jsonedit.File, elements json.RawMessage, has func(there, element string) bool, path ...string) error {
	given, err := f.Get(path...)
	if err != nil {
		return err
	}
	if given != nil && rawjson.KindOf(given) != rawjson.Array {
		return fmt.Errorf("%s is not an array", strings.Join(path, "."))
	}
	textOf := func(v json.RawMessage) string {
		text, ok := rawjson.Text(v)
		if !ok {
			text = string(v)
		}
		return text
	}
	var b rawjson.Builder
	b.Array()
	var there []string
	for one := range rawjson.Elements(given) {
		b.Raw(one)
		there = append(there, textOf(one))
	}
	same := given != nil
	for one := range rawjson.Elements(elements) {
		if !slices.ContainsFunc(there, func(have string) bool { return has(have, textOf(one)) }) {
			same = false
			b.Raw(one)
		}
	}
	if same {
		return nil
	}
	return f.Set(b.End().Bytes(), path...)
}
