// Conformance runs the official conformance suite against the server over HTTP:
//
//	conformance -server FILE -results DIR SUITE...
//
// SUITE is the command of the suite with its first arguments. All scenarios for servers must pass without
// warnings, except the exceptions in the file verdict. Every message of the server must match the schema of
// its revision. Otherwise the exit code is 1.
//
// DIR has a folder for each revision, with the results and the output of the suite, and with
// every message of every session. See run.sh.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"mcp-bash/pkg/wire/revision"
)

// revisions name the requirement sets, each of which is run at its revision: that of
// the last handshake, and the one without.
var revisions = []string{"2025-11-25", revision.Stateless}

func main() {
	server := flag.String("server", filepath.Join("bin", "mcp-bash"), "the server to test")
	project := flag.String("project", filepath.Join("test", "conformance", "project"), "the project it serves")
	results := flag.String("results", "",
		"an empty directory for what is found; if not given a temporary one, kept when something fails")
	scenario := flag.String("scenario", "", "run this scenario alone")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *server, *project, *results, *scenario, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

// skillScenarios test the extension for skills. They belong to no requirement set.
var skillScenarios = []string{"sep-2640-skills-enumeration", "sep-2640-skills-directory", "sep-2640-skills-manifest"}

func run(ctx context.Context, server, project, results, scenario string, suite []string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if len(suite) == 0 {
		return errors.New("no command of the suite: start test/conformance/run.sh")
	}
	keep := results != ""
	if !keep {
		if results, err = os.MkdirTemp("", "mcp-bash-conformance-results."); err != nil {
			return err
		}
		defer os.Remove(results) // if there is nothing in it
	}
	known := false
	for _, name := range skillScenarios {
		if scenario != "" && scenario != name {
			continue
		}
		known = true
		for _, revision := range revisions {
			set := set{server, project, filepath.Join(results, name, revision), revision, nil, name}
			err = errors.Join(err, set.run(ctx, suite))
		}
	}
	for _, revision := range revisions {
		names, e := list(ctx, suite, revision)
		if e != nil {
			return e
		}
		if scenario != "" && !slices.Contains(names, scenario) {
			continue
		}
		known = true
		set := set{server, project, filepath.Join(results, revision), revision, names, scenario}
		err = errors.Join(err, set.run(ctx, suite))
	}
	if !known {
		return fmt.Errorf("the suite has no scenario %s for servers", scenario)
	}
	if err == nil && !keep {
		return os.RemoveAll(results)
	}
	return err
}

// list returns the scenarios of a requirement set.
func list(ctx context.Context, suite []string, revision string) ([]string, error) {
	output, err := exec.CommandContext(ctx, suite[0], append(suite[1:], "list", "--requirements", revision)...).Output()
	if err != nil {
		return nil, fmt.Errorf("asking the suite for its scenarios: %w", err)
	}
	return scenarios(string(output)), nil
}

// A set is one requirement set to run, or one scenario of it.
type set struct {
	server, project, results, revision string
	names                              []string
	scenario                           string // empty for all
}

func (s set) run(ctx context.Context, suite []string) error {
	t, err := start(s.server, s.project, s.results)
	if err != nil {
		return err
	}
	defer t.remove()
	lines, err := os.Create(filepath.Join(s.results, "lines.log"))
	if err != nil {
		return err
	}
	defer lines.Close()
	t.transcript.out = lines

	names := s.names
	arguments := []string{"server", "--url", t.address, "-o", s.results}
	if s.scenario == "" {
		arguments = append(arguments, "--requirements", s.revision)
	} else {
		names = []string{s.scenario}
		arguments = append(arguments, "--spec-version", s.revision, "--scenario", s.scenario, "--force")
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, suite[0], append(suite[1:], arguments...)...)
	cmd.Stdout, cmd.Stderr = &output, &output
	ran := cmd.Run() // its code counts failures that we do not, and misses warnings that we do
	t.end()
	if err := os.WriteFile(filepath.Join(s.results, "suite.log"), output.Bytes(), 0o644); err != nil {
		return err
	}
	if e := (*exec.ExitError)(nil); ran != nil && !errors.As(ran, &e) || ctx.Err() != nil {
		return fmt.Errorf("the suite did not run to its end: %w", errors.Join(ran, ctx.Err()))
	}
	return conclude(os.Stdout, s.revision, s.results, names, t.faults())
}
