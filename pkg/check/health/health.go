// Package health reports whether a project's server would be ready to serve, for supervisors
// (cli chapter 12). It writes no file and creates no directory.
package health

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
)

// Command describes the command, which has two names. Only mcp-bash passes parse, which recognizes a running server.
func Command(name string, parse ParseFunc) *cli.Command {
	root, timeout, server := "", "", false
	c := &cli.Command{
		Name:    name,
		Summary: "Report whether the project's server would be ready, as one line of JSON. Writes nothing.",
		Examples: []cli.Example{
			{Line: "NAME"}, {Line: "NAME --project-root /srv/demo --timeout 10 | jq -r .status"},
		},
		Text: `Reads the project as the server does, and runs server.d/health-checks.sh if it exists. That Bash script can
call mcp_health_check_command COMMAND and mcp_health_check_env VARIABLE.`,
		Exits: []cli.Exit{
			{Code: 0, Meaning: "ready"}, {Code: 1, Meaning: "not ready, or not within the time"},
			{Code: 2, Meaning: "wrong usage, no project, or settings with which no server starts"},
		},
		Run: func(s cli.Streams, _ []string) error {
			env := project.OSEnv()
			const variable = "MCPBASH_HEALTH_TIMEOUT_SECS"
			limit := settings.Duration(project.Env{variable: cmp.Or(timeout, env[variable])}, variable)
			ctx, stop := cli.UntilSignal()
			defer stop()
			if !server {
				parse = nil
			}
			return probe(ctx, s, env, root, limit, parse)
		},
	}
	c.Flags.ProjectRoot(&root)
	c.Flags.String(&timeout, "timeout", "SECS", "how long it may take (MCPBASH_HEALTH_TIMEOUT_SECS, else 5)")
	if parse != nil {
		c.Flags.Bool(&server, "server", "ask the server of this container, too")
	}
	c.Flags.Bool(new(bool), "json", "print errors as JSON on standard output, too; results always are")
	return c
}

var errTimeout = errors.New("timeout")

// probe makes the checks and prints the answer. If parse is nil, it asks no running server.
func probe(ctx context.Context, s cli.Streams, env project.Env, named string, limit time.Duration,
	parse ParseFunc) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	root, err := project.FindRoot(env, named, dir)
	if err != nil {
		cli.Printf(s.Err, "mcp-bash health: %s\n", noProject(err, named))
		return misconfigured(s, "no_project")
	}
	p := project.Open(root, env, dir, s.Notice)
	if err := p.Token.Check(); err != nil {
		cli.Printf(s.Err, "%s\n", err)
		return misconfigured(s, "weak_token")
	}
	if _, err := roots.Fallback(p); err != nil {
		cli.Printf(s.Err, "mcp-bash health: %s\n", err)
		return misconfigured(s, "unusable_roots")
	}
	if p.Minimal {
		return misconfigured(s, "json_tool_missing")
	}
	a := answer{jsonTool: p.JSONTool("", func(string) {}).Name}
	if parse != nil {
		err := checkServer(ctx, parse)
		if err != nil {
			cli.Printf(s.Err, "mcp-bash health: %s\n", err)
		}
		a.asked, a.server = true, err == nil
	}
	catalog := registry.NewCatalog(p, registry.Options{ReadOnly: true})
	a.tools = ready(ctx, s.Err, catalog, kinds.Tools)
	a.resources = ready(ctx, s.Err, catalog, kinds.Resources, kinds.Templates)
	a.prompts = ready(ctx, s.Err, catalog, kinds.Prompts)
	a.checks = projectChecks(ctx, s.Err, p)
	switch cause := context.Cause(ctx); cause {
	case nil:
	case errTimeout:
		a.reason = "timeout"
	default:
		return cause
	}
	healthy := a.reason == "" && a.tools && a.resources && a.prompts && a.checks && a.server == a.asked
	fmt.Fprintf(s.Out, "%s\n", a.appendJSON(nil, healthy))
	if !healthy {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// noProject returns a message that explains why there is no project.
func noProject(err error, named string) string {
	var missing *project.MissingError
	switch {
	case errors.As(err, &missing) && named != "":
		return "project root not found: " + missing.Dir
	case errors.As(err, &missing):
		return "MCPBASH_PROJECT_ROOT does not exist: " + missing.Dir
	}
	return "no project root detected (set MCPBASH_PROJECT_ROOT or use --project-root)"
}

func misconfigured(s cli.Streams, reason string) error {
	var b rawjson.Builder
	fmt.Fprintf(s.Out, "%s\n", b.Object().Name("status").String("error").Name("reason").String(reason).End().Bytes())
	return cli.ExitCode(cli.ExitUsage)
}

type answer struct {
	reason                            string // why the project is not ready, unless a kind is the cause
	jsonTool                          string
	tools, resources, prompts, checks bool
	asked, server                     bool // whether a running server was asked, and whether it answered
}

func (a *answer) appendJSON(dst []byte, healthy bool) []byte {
	status, words := "unhealthy", map[bool]string{true: "ok", false: "failed"}
	if healthy {
		status = words[true]
	}
	b := rawjson.Over(dst)
	b.Object().Name("status").String(status).Optional("reason", a.reason)
	b.Name("mode").String("full").Name("jsonTool").String(a.jsonTool).Name("tools").String(words[a.tools]).
		Name("resources").String(words[a.resources]).Name("prompts").String(words[a.prompts]).
		Name("projectChecks").String(words[a.checks])
	if a.asked {
		b.Name("server").String(words[a.server])
	}
	return b.End().Bytes()
}

// ready reports whether the server could list some kinds, and the reason if not.
func ready(ctx context.Context, stderr io.Writer, catalog *registry.Catalog, list ...*kinds.Kind) bool {
	ok := true
	for _, k := range list {
		_, err := catalog.Fresh(ctx, k)
		if failed, ok := errors.AsType[*registry.Failure](err); ok {
			cli.Printf(stderr, "mcp-bash health: %s: %s\n", k.Key, failed.Reason)
		}
		ok = ok && err == nil
	}
	return ok
}

// checksFile is the script with a project's own checks.
const checksFile = "health-checks.sh"

//go:embed checks.sh
var checks string

// maxMarks limits the marks of failed calls, and the messages of the checks, in bytes.
const maxMarks = 64 << 10

// projectChecks runs the project's own checks.
func projectChecks(ctx context.Context, stderr io.Writer, p *project.Project) bool {
	file := code.HealthChecks.In(p)
	if _, err := os.Lstat(file.Path()); errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err := p.CheckTrusted(file); err != nil {
		reason := err.Error()
		if insecure := (*trust.InsecureError)(nil); errors.As(err, &insecure) {
			reason = p.Brief(insecure)
		}
		cli.Printf(stderr, "  ⚠ Skipping %s: %s\n", checksFile, reason)
		return true
	}
	fmt.Fprintln(stderr, "Running project health checks...")
	env := p.Env.Clone()
	env["MCPBASH_PROJECT_ROOT"] = p.Root
	runner := new(script.Runner)
	defer runner.End() // also ends processes that the checks left running
	res := runner.Run(ctx, script.Spec{
		Argv: []string{"bash", "-c", checks, checksFile}, Sources: []code.File{file}, Dir: p.Root, Env: env.Entries(),
		StdoutLimit: maxMarks, StderrLimit: maxMarks, StderrTee: stderr,
	})
	if res.Status != 0 || res.Cause != nil || len(res.Stdout) > 0 {
		fmt.Fprintln(stderr, "  ✗ Project health checks failed")
		return false
	}
	fmt.Fprintln(stderr, "  ✓ Project health checks passed")
	return true
}

// A ParseFunc recognizes the command line of a server. words are its words without the program. The result ask asks the
// server for its health. It is nil if the server cannot be asked. ok is false if the words start no server.
type ParseFunc func(words []string) (ask func(context.Context) error, ok bool)

// A running is a server's process.
type running struct {
	process int
	stopped bool // stopped by a signal, or ended
	ask     func(context.Context) error
}

var errNoServer = errors.New("no server runs here")

// checkServer checks the server of this container.
func checkServer(ctx context.Context, parse ParseFunc) error {
	s, err := findServer(parse)
	switch {
	case err != nil:
		return err
	case s.stopped:
		return fmt.Errorf("the server (process %d) is stopped", s.process)
	case s.ask == nil:
		return nil
	}
	return s.ask(ctx)
}

// findServer returns the process with the lowest number that is a server: process 1 of a container, or the child of its
// init program.
func findServer(parse ParseFunc) (*running, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("only in a container of Linux can the server be found")
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		dir := "/proc/" + strconv.Itoa(n)
		line, _ := os.ReadFile(dir + "/cmdline") // each word ends with NUL
		words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
		if filepath.Base(words[0]) != "mcp-bash" {
			continue
		}
		ask, ok := parse(words[1:])
		stat, err := os.ReadFile(dir + "/stat")
		if ok && err == nil {
			return &running{n, isStopped(stat), ask}, nil
		}
	}
	return nil, errNoServer
}

// isStopped reads the state of a process from its stat: "pid (command) state parent …". A command may contain any
// character.
func isStopped(stat []byte) bool {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) == 0 || strings.Contains("TtZX", string(fields[0]))
}
