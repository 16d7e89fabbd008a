// Conformance runs the official conformance suite against the server. A bridge translates between the
// standard streams of the server and the HTTP transport of the suite:
//
//	conformance -server FILE -results DIR SUITE...
//
// SUITE is the command of the suite with its first arguments. All scenarios for servers must pass without
// warnings, except the exceptions in the file verdict. Every line of the server must match the schema of
// its revision. Otherwise the exit code is 1.
//
// DIR has a folder for each revision, with the results and the output of the suite, and with
// every line of every session. See run.sh.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
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
	place, err := newPlace(s.server, s.project, s.results)
	if err != nil {
		return err
	}
	defer place.remove()
	lines, err := os.Create(filepath.Join(place.results, "lines.log"))
	if err != nil {
		return err
	}
	defer lines.Close()
	transcript := &transcript{out: lines}
	bridge := newBridge(place.start, transcript)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{Handler: bridge, ReadHeaderTimeout: time.Minute}
	go web.Serve(listener)
	defer web.Close()

	names := s.names
	arguments := []string{"server", "--url", "http://" + listener.Addr().String() + "/mcp", "-o", place.results}
	if s.scenario == "" {
		arguments = append(arguments, "--requirements", s.revision)
	} else {
		names = []string{s.scenario}
		arguments = append(arguments, "--spec-version", s.revision, "--scenario", s.scenario)
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, suite[0], append(suite[1:], arguments...)...)
	cmd.Stdout, cmd.Stderr = &output, &output
	ran := cmd.Run() // its code counts failures that we do not, and misses warnings that we do
	bridge.close()
	if err := os.WriteFile(filepath.Join(place.results, "suite.log"), output.Bytes(), 0o644); err != nil {
		return err
	}
	if e := (*exec.ExitError)(nil); ran != nil && !errors.As(ran, &e) || ctx.Err() != nil {
		return fmt.Errorf("the suite did not run to its end: %w", errors.Join(ran, ctx.Err()))
	}
	return conclude(os.Stdout, s.revision, place.results, names, transcript.faults())
}

// A place is where a run works: a copy of the project, directories for its files,
// and one for the results.
type place struct{ dir, server, project, results string }

func newPlace(server, project, results string) (*place, error) {
	server, err := filepath.Abs(server)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mcp-bash-conformance.")
	if err != nil {
		return nil, err
	}
	if physical, err := filepath.EvalSymlinks(dir); err == nil {
		dir = physical
	}
	p := &place{dir: dir, server: server, project: filepath.Join(dir, "project"), results: results}
	for _, make := range []func() error{
		func() error { return os.MkdirAll(p.results, 0o755) },
		func() error { return os.Mkdir(filepath.Join(dir, "tmp"), 0o700) },
		func() error { return os.CopyFS(p.project, os.DirFS(project)) },
	} {
		if err == nil {
			err = make()
		}
	}
	if err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

// remove leaves nothing but the results.
func (p *place) remove() { os.RemoveAll(p.dir) }

// start is the server as a client's configuration would start it.
func (p *place) start() *exec.Cmd {
	cmd := exec.Command(p.server)
	cmd.Dir = p.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + filepath.Join(p.dir, "tmp"),
		"MCPBASH_PROJECT_ROOT=" + p.project, "MCPBASH_TOOL_ALLOWLIST=*",
	}
	return cmd
}
