// Bench compares mcp-bash with other MCP servers that serve the same work, and with floors: the minimum
// time for the same work. It starts all programs and runs their tasks in turn, in one loop. A busy
// machine disturbs all of them alike, so the results are ratios.
//
//	go run .                        all chapters
//	go run . -quick                 a smoke test
//	go run . -only call,ping        some chapters
//	go run . -json FILE             the figures as JSON too
//	go run . -before DIR            another version too, built from its source in DIR
//
// A missed target is not an error: the exit code is 1 only if a program fails.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"mcp-bash/pkg/cli"
)

// A bench is one run of the benchmark.
type bench struct {
	*fixture
	report *report
	quick  bool
}

// rounds is how often something is done; in a smoke test far less often.
func (b *bench) rounds(n int) int {
	if b.quick {
		return max(3, n/20)
	}
	return n
}

// many is how many tools a project has that has very many.
func (b *bench) many() int {
	if b.quick {
		return 2000
	}
	return 10000
}

// A chapter measures one aspect.
type chapter struct {
	name string
	run  func(*bench) error
}

var chapters = []chapter{
	{"call", (*bench).call},
	{"confined", (*bench).confined},
	{"record", (*bench).record},
	{"stateless", (*bench).stateless},
	{"suspended", (*bench).suspended},
	{"http", (*bench).http},
	{"requests", (*bench).requests},
	{"gateways", (*bench).gateways},
	{"ping", (*bench).ping},
	{"start", (*bench).start},
	{"list", (*bench).list},
	{"large", (*bench).large},
	{"content", (*bench).content},
	{"refresh", (*bench).refresh},
	{"memory", (*bench).memory},
	{"watch", (*bench).watch},
	{"packages", (*bench).packages},
	{"bundle", (*bench).bundle},
	{"validate", (*bench).validate},
	{"version", (*bench).version},
}

func main() {
	var names []string
	for _, c := range chapters {
		names = append(names, c.name)
	}
	only := flag.String("only", "", "the chapters to run, of "+strings.Join(names, ","))
	quick := flag.Bool("quick", false, "few rounds: see that it works, not what comes out")
	file := flag.String("json", "", "write the figures to this `file` as JSON")
	source := flag.String("before", "", "measure the version of mcp-bash whose source is in this `directory` too")
	flag.Parse()
	wanted := names
	if *only != "" {
		wanted = strings.Split(*only, ",")
	}
	for _, name := range wanted {
		if !slices.Contains(names, name) {
			fmt.Fprintf(os.Stderr, "bench: no chapter %q; there are %s\n", name, strings.Join(names, ", "))
			os.Exit(2)
		}
	}
	var err error
	if scratch, err = os.MkdirTemp("", "mcp-bash-bench."); err == nil {
		if scratch, err = filepath.EvalSymlinks(scratch); err == nil {
			err = run(wanted, *quick, *file, *source)
		}
	}
	leave(err)
}

// leave ends everything and leaves nothing behind.
func leave(err error) {
	killAll()
	os.RemoveAll(scratch)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(wanted []string, quick bool, file, source string) error {
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	go func() { leave(fmt.Errorf("%s", <-told)) }()
	debug.SetGCPercent(400) // the client should not be what is measured

	began := time.Now()
	fixture, err := build()
	if err != nil {
		return err
	}
	if source != "" {
		if err := fixture.buildBefore(source); err != nil {
			return err
		}
	}
	if _, err := makeProject(10); err != nil {
		return err
	}
	b := &bench{fixture: fixture, quick: quick, report: &report{
		out: os.Stdout, columns: fixture.columns(), Version: cli.Version, Quick: quick,
		Machine: fmt.Sprintf("%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
	}}
	fmt.Printf("mcp-bash %s on %s. Medians; only ratios mean anything.\n", cli.Version, b.report.Machine)
	if err := fixture.installTypescript(); err != nil {
		b.report.leaveOut("ts-sdk", err.Error())
	}
	for _, c := range chapters {
		if !slices.Contains(wanted, c.name) {
			continue
		}
		if err := c.run(b); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	b.report.summary()
	fmt.Printf("%s in all\n", time.Since(began).Round(time.Second))
	if file == "" {
		return nil
	}
	text, err := b.report.document()
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
