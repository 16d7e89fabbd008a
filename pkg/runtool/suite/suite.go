// Package suite implements the test command. It runs the test cases of a project, as a server would run the calls.
//
// Package cases reads the files and compares, and this package runs them in parallel. It prints the
// results for a terminal, as TAP, as JUnit or as JSON.
package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/runtool/cases"
)

type options struct {
	root, junit      string
	filter           *regexp.Regexp // nil: all
	jobs             int
	tap, json        bool
	update, coverage bool
}

// Command returns the command. tree returns the embedded installation tree.
func Command(tree func() project.Tree) *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:    "test",
		Summary: "Run the test cases of a project, and compare the results of its tools with what the cases expect.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "run the cases in tests/*.yaml, and the trials"},
			{Line: "NAME tests/hello.yaml"},
			{Line: "NAME --filter hello --coverage", Purpose: "some cases, and what they leave out"},
			{Line: "NAME audit.jsonl", Purpose: "the read-only requests of a record, again"},
			{Line: "NAME --update", Purpose: "take over the new results"},
			{Line: "NAME --tap --junit results.xml", Purpose: "for CI systems"},
		},
		Operands: []cli.Operand{{Name: "[FILE...]", Complete: cli.Files}},
		Text: `A file has one or more cases, separated by lines with ---. A case is a call and what it must return:

  tool: hello
  arguments: {name: Ada}
  expect:
    text: Hello Ada

docs/TESTING.md describes all members. The FILE - is standard input. A FILE with .jsonl in its name is the record of a
server (MCPBASH_AUDIT). Without FILE, the trials of tools run too: a call
that changes nothing, which imported and wrapped tools have. The cases run in parallel, each tool with its policy and
confinement. Cases may call tools that MCPBASH_TOOL_ALLOWLIST does not name.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "all cases passed, or were updated"},
			{Code: 1, Meaning: "a case failed, a file is invalid, or there is no case"},
			{Code: 128, Meaning: "and above: ended by a signal"},
		},
		Run: func(s cli.Streams, operands []string) error { return run(s, o, operands, tree) },
	}
	f := &c.Flags
	f.Func("filter", "REGEX", "run the cases whose FILE:LINE NAME or tool matches", func(text string) (wrong *cli.Error) {
		var err error
		if o.filter, err = regexp.Compile(text); err != nil {
			wrong = cli.Usagef("--filter: %v", err)
		}
		return wrong
	})
	f.Bool(&o.update, "update", "write the actual text, structured and error into cases that expect others")
	f.Bool(&o.coverage, "coverage", "show the tools and arguments that no case uses")
	f.Positive(&o.jobs, "jobs", "N", "cases that run at a time; otherwise MCPBASH_MAX_CONCURRENT_REQUESTS")
	f.Bool(&o.tap, "tap", "print the report in the Test Anything Protocol")
	f.String(&o.junit, "junit", "FILE", "also write the report as XML, in the form of JUnit").Completes(cli.Files)
	f.ProjectRoot(&o.root)
	f.Bool(&o.json, "json", "print the report as one JSON object, errors included")
	return c
}

func run(s cli.Streams, o *options, operands []string, tree func() project.Tree) error {
	if o.tap && o.json {
		return cli.Usagef("--tap and --json exclude each other")
	}
	if o.junit == "-" {
		return cli.Usagef("--junit takes a file, because the report is on standard output; a file of that name is ./-")
	}
	if o.update && slices.Contains(operands, "-") {
		return cli.Usagef("--update cannot change standard input")
	}
	p, err := project.Find(o.root, s.Notice)
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	tests, err := load(ctx, p, operands, s.In)
	if ended, ok := context.Cause(ctx).(cli.ExitCode); ok {
		return ended
	} else if err != nil {
		return err
	}
	r := &runner{Streams: s, options: o, base: p, tree: tree, tests: tests, engines: map[string]*server{}}
	defer r.close()
	if len(operands) == 0 {
		trials, err := r.trials(ctx)
		if err != nil {
			return err
		}
		r.tests = append(r.tests, trials...)
	}
	if err := r.choose(); err != nil {
		return err
	}
	return r.run(ctx)
}

// choose leaves out the tests that --filter does not match.
func (r *runner) choose() error {
	if len(r.tests) == 0 {
		return cli.Failf(cli.CodeNotFound, "no test cases: %s has no *.yaml", filepath.Join(r.base.Root, project.TestsDir)).
			WithHint("record a call: mcp-bash run-tool NAME --allow-self --save-test NAME")
	}
	if r.filter == nil {
		return nil
	}
	r.tests = slices.DeleteFunc(r.tests, func(t *test) bool {
		return !r.filter.MatchString(t.title()) && !r.filter.MatchString(t.Tool)
	})
	if len(r.tests) == 0 {
		return cli.Failf(cli.CodeNotFound, "no test case matches --filter %s", r.filter)
	}
	return nil
}

// run runs the tests, and prints the reports.
func (r *runner) run(ctx context.Context) error {
	var counted totals
	var updated []*result
	var failed error // of writing the file of --junit
	reports := r.reports(func(err error) { failed = err })
	err := r.all(ctx, func(res *result) {
		counted.add(res)
		if res.changed != nil {
			updated = append(updated, res)
		}
		for _, report := range reports {
			if _, isFile := report.(*junit); isFile || res.skipped != interrupted {
				report.add(res)
			}
		}
	})
	if err == nil {
		err = update(ctx, updated)
	}
	if err == nil && r.options.coverage {
		counted.coverage, err = r.coverage(ctx)
	}
	ended, isEnded := context.Cause(ctx).(cli.ExitCode)
	if err != nil && !isEnded {
		return err
	}
	for _, report := range reports {
		if _, isFile := report.(*junit); isFile || !isEnded {
			report.end(&counted)
		}
	}
	if isEnded {
		if failed != nil {
			cli.Printf(r.Err, "test: %v\n", failed)
		}
		return ended
	}
	cli.Printf(r.Err, "%s", cli.Lines(strings.Join(r.warnings, "")))
	if failed == nil && counted.failed > 0 {
		return cli.ExitCode(cli.ExitFailed)
	}
	return failed
}

func (r *runner) reports(written func(error)) []report {
	var list []report
	switch {
	case r.json:
		list = append(list, newObject(r.Out))
	case r.tap:
		list = append(list, newTAP(r.Out, len(r.tests)))
	default:
		list = append(list, terminal{r.Out})
	}
	if r.junit != "" {
		list = append(list, &junit{file: r.junit, write: written})
	}
	return list
}

// A test is a case with the file that it is in.
type test struct {
	cases.Case
	file string // for people
	path string

	isTrial  bool         // the call is in the tool's metadata
	recorded *trail.Entry // nil unless it is a request of a record
	skip     string       // why the request is not repeated, or ""
}

// title returns the place of a test and its name.
func (t *test) title() string {
	place := t.file
	if t.Line > 0 {
		place = fmt.Sprintf("%s:%d", t.file, t.Line)
	}
	return place + " " + cmp.Or(t.Name, t.Tool)
}

// load reads the cases of files, or those of the project. The file "-" is stdin.
func load(ctx context.Context, p *project.Project, files []string, stdin io.Reader) ([]*test, error) {
	label := func(file string) string { return file }
	read := func(file string) ([]byte, error) {
		if file == "-" {
			return boundedfile.ReadStream(ctx, stdin, cases.MaxFile)
		}
		return boundedfile.Read(file, cases.MaxFile)
	}
	if len(files) == 0 {
		var err error
		if files, err = list(filepath.Join(p.Root, project.TestsDir)); err != nil {
			return nil, err
		}
		label = func(file string) string { return folder.Label(p.Root, file) }
		read = func(file string) ([]byte, error) { // not through links that lead out of the project
			f, err := boundedfile.OpenBelow(p.Root, file)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return boundedfile.ReadAll(f, cases.MaxFile)
		}
	}
	var tests []*test
	var faults []string
	for _, file := range files {
		var list []cases.Case
		var err error
		if isRecord(file) {
			var recorded []*test
			recorded, err = loadRecord(file)
			tests = append(tests, recorded...)
		} else if text, unread := read(file); unread != nil {
			err = unread
		} else {
			list, err = cases.Parse(text)
		}
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				faults = append(faults, cli.Sprintf("%s: %s", label(file), line))
			}
		}
		for _, c := range list {
			tests = append(tests, &test{Case: c, file: label(file), path: file})
		}
	}
	if faults != nil {
		return nil, &cli.Error{Code: cli.CodeInvalid, Cause: cli.Lines(strings.Join(faults, "\n")), Bare: true}
	}
	return tests, nil
}

// list returns the files with cases in a folder, sorted.
func list(dir string) (files []string, err error) {
	d, err := folder.Open(dir)
	var entries []folder.Entry
	if err == nil {
		defer d.Close()
		entries, err = d.List(make([]byte, 32<<10))
	}
	switch {
	case folder.Missing(err) || errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, cli.Failf(cli.CodeInvalid, "%s cannot be read: %v", dir, fsys.Cause(err))
	}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name); !e.IsDir && (ext == ".yaml" || ext == ".yml") {
			files = append(files, filepath.Join(dir, e.Name))
		}
	}
	slices.Sort(files)
	return files, nil
}

// lockWait is the maximum wait for another command that edits a file in the directory.
const lockWait = 5 * time.Second

// update writes the changed expectations of results into their files. Results of a file are in the order of its lines.
func update(ctx context.Context, results []*result) error {
	for len(results) > 0 {
		end := slices.IndexFunc(results, func(r *result) bool { return r.path != results[0].path })
		if end < 0 {
			end = len(results)
		}
		if err := updateFile(ctx, results[:end]); err != nil {
			return &cli.Error{Code: cli.CodeInvalid, Op: "update", Subject: results[0].file, Cause: err}
		}
		results = results[end:]
	}
	return nil
}

// updateFile changes the expectations of a file, the last one first, so that the lines of earlier cases stay the
// same.
func updateFile(ctx context.Context, results []*result) error {
	o := userfile.Options{Max: cases.MaxFile}
	return edit(ctx, results[0].path, o, func(f userfile.File) (text []byte, err error) {
		if !f.There {
			return nil, fs.ErrNotExist
		}
		text = f.Text
		for _, r := range slices.Backward(results) {
			if text, err = cases.Rewrite(text, r.Line, r.changed); err != nil {
				return nil, err
			}
		}
		return text, nil
	})
}

func edit(ctx context.Context, file string, o userfile.Options, change func(userfile.File) ([]byte, error)) error {
	dir, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return err
	}
	defer dir.Close()
	o.Wait = lockWait
	_, err = userfile.Edit(ctx, dir, filepath.Base(file), o, change)
	return err
}
