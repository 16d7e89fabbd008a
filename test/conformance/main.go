// Conformance runs the official conformance suite against the server, which speaks
// on standard streams, through a bridge to the HTTP transport that the suite needs:
//
//	conformance -server FILE -results DIR SUITE...
//
// SUITE is the command of the suite with its first arguments. It exits with 1
// unless every scenario of the requirement set for servers passes, warnings
// counted as failures, but for those named in verdict.go, and unless every line of
// the server is what the schema of the revision says. In DIR are then what the
// suite found and said, and every line of every session. See run.sh.
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
)

// revision names the requirement set, and the revision it is run at.
const revision = "2025-11-25"

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
	place, err := newPlace(server, project, results)
	if err != nil {
		return err
	}
	defer func() { place.remove(err == nil && results == "") }()

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

	list, err := exec.CommandContext(ctx, suite[0], append(suite[1:], "list", "--requirements", revision)...).Output()
	if err != nil {
		return fmt.Errorf("asking the suite for its scenarios: %w", err)
	}
	names := scenarios(string(list))
	arguments := []string{"server", "--url", "http://" + listener.Addr().String() + "/mcp", "-o", place.results}
	if scenario == "" {
		arguments = append(arguments, "--requirements", revision)
	} else {
		names = slices.DeleteFunc(names, func(name string) bool { return name != scenario })
		arguments = append(arguments, "--spec-version", revision, "--scenario", scenario)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, suite[0], append(suite[1:], arguments...)...)
	cmd.Stdout, cmd.Stderr = &said, &said
	ran := cmd.Run() // its code counts failures that we do not, and misses warnings that we do
	bridge.close()
	if err := os.WriteFile(filepath.Join(place.results, "suite.log"), said.Bytes(), 0o644); err != nil {
		return err
	}
	if e := (*exec.ExitError)(nil); ran != nil && !errors.As(ran, &e) || ctx.Err() != nil {
		return fmt.Errorf("the suite did not run to its end: %w", errors.Join(ran, ctx.Err()))
	}
	return judge(os.Stdout, place.results, names, transcript.faults())
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
	if p.results == "" {
		p.results, err = os.MkdirTemp("", "mcp-bash-conformance-results.")
	} else {
		err = os.MkdirAll(p.results, 0o755)
	}
	for _, make := range []func() error{
		func() error { return os.Mkdir(filepath.Join(dir, "tmp"), 0o700) },
		func() error { return os.CopyFS(p.project, os.DirFS(project)) },
	} {
		if err == nil {
			err = make()
		}
	}
	if err != nil {
		p.remove(results == "")
		return nil, err
	}
	return p, nil
}

// remove leaves nothing but, perhaps, the results.
func (p *place) remove(resultsToo bool) {
	os.RemoveAll(p.dir)
	if resultsToo {
		os.RemoveAll(p.results)
	}
}

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
