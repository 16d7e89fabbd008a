// Package suite implements the test command. It runs the test cases of a project, as a server would run the calls.
package suite

import (
	"context"
	"fmt"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

type options struct {
	root string
	jobs int
}

// Command returns the command. tree returns the embedded installation tree.
func Command(tree func() project.Tree) *cli.Command {
	o := &options{}
	c := &cli.Command{
		Name:    "test",
		Summary: "Run the test cases of a project, and compare the results of its tools with what the cases expect.",
		Examples: []cli.Example{
			{Line: "NAME", Purpose: "run the cases in tests/*.yaml"},
			{Line: "NAME tests/hello.yaml"},
		},
		Operands: []cli.Operand{{Name: "[FILE...]", Complete: cli.Files}},
		Text: `A file has one or more cases, separated by lines with ---. A case is a call and what it must return:

  tool: hello
  arguments: {name: Ada}
  expect:
    text: Hello Ada

docs/TESTING.md describes all members. The cases run in parallel, each tool with its policy and confinement. Cases may
call tools that MCPBASH_TOOL_ALLOWLIST does not name.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "all cases passed"},
			{Code: 1, Meaning: "a case failed, a file is invalid, or there is no case"},
			{Code: 128, Meaning: "and above: ended by a signal"},
		},
		Run: func(s cli.Streams, operands []string) error { return run(s, o, operands, tree) },
	}
	f := &c.Flags
	f.Positive(&o.jobs, "jobs", "N", "cases that run at a time; otherwise MCPBASH_MAX_CONCURRENT_REQUESTS")
	f.ProjectRoot(&o.root)
	return c
}

func run(s cli.Streams, o *options, operands []string, tree func() project.Tree) error {
	p, err := project.Find(o.root, s.Notice)
	if err != nil {
		return err
	}
	tests, err := load(p, operands)
	if err != nil {
		return err
	}
	if len(tests) == 0 {
		return cli.Failf(cli.CodeNotFound, "no test cases: %s has no *.yaml", filepath.Join(p.Root, testsDir)).
			WithHint("write tests/NAME.yaml as docs/TESTING.md describes")
	}
	ctx, stop := cli.UntilSignal()
	defer stop()
	e := &runner{Streams: s, base: p, tree: tree, jobs: o.jobs, tests: tests}
	defer e.close()
	report := &terminal{Streams: s}
	if err := e.all(ctx, report.add); err != nil {
		return err
	}
	if ended, ok := context.Cause(ctx).(cli.ExitCode); ok {
		return ended
	}
	report.end()
	if report.failed > 0 {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// A terminal prints the report for people.
type terminal struct {
	cli.Streams
	passed, failed int
}

func (t *terminal) add(r *result) {
	if len(r.differences) == 0 {
		t.passed++
		cli.Paint(t.Out, cli.Green, "✓")
		cli.Printf(t.Out, " %s\n", r.title())
		return
	}
	t.failed++
	cli.Paint(t.Out, cli.Red, "✗")
	cli.Printf(t.Out, " %s\n", r.title())
	for _, d := range r.differences {
		printDifference(t.Out, d)
	}
	if r.stderr != "" {
		cli.Printf(t.Out, "  standard error\n%s", indented(r.stderr, "    "))
	}
}

func (t *terminal) end() {
	fmt.Fprintf(t.Out, "%d passed, %d failed\n", t.passed, t.failed)
}
