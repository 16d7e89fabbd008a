package runtimes

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/internal/web"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/secrets"
)

// A Source finds binaries (CLI-1422).
type Source struct {
	Env        project.Env
	RuntimeDir string // a directory from the user: DIR/<os>-<arch>/mcp-bash; "" for MCPBASH_RUNTIME_DIR
	Home       string // the installation tree, or "" for the embedded one
	Offline    bool   // whether to download nothing
	Runner     *script.Runner
	Work       string // a private directory for builds
	Web        web.Client
	Note       func(line string)
	Bar        *cli.Bar // the progress; may be nil

	nth, of int64 // the number of the target that is being looked for, and of all targets
}

// A MissingError lists the targets whose binary was not found.
type MissingError struct {
	Targets []Target
	Reasons []string // the reasons, for users

	releases string // the address of the releases, or "" if it is unknown
}

func (e *MissingError) Error() string {
	var names []string
	for _, t := range e.Targets {
		names = append(names, t.String())
	}
	return "No runtime for: " + strings.Join(names, ", ")
}

// Ways returns the ways to get the binaries, one in each line (CLI-1166).
func (e *MissingError) Ways() []string {
	download := "set MCPBASH_RELEASE_BASE_URL to the address of the releases, to download them"
	if e.releases != "" {
		download = "set MCPBASH_RELEASE_BASE_URL=" + secrets.Text(e.releases) + ", to download them"
	}
	return []string{
		"unpack mcp-bash-" + Tag + "-runtimes.tar.gz of the release, and pass its directory runtimes with --runtime-dir",
		download,
		"run the command of a checkout of mcp-bash where Go is installed, to build them",
		"or leave systems out with --platform and --arch",
	}
}

// Find returns the binaries of targets. If some are missing, it returns the others and a
// [*MissingError]. Otherwise the error is the context's.
func (s *Source) Find(ctx context.Context, targets []Target) ([]Binary, error) {
	var found []Binary
	missing := &MissingError{releases: project.Releases(s.Env, s.Home)}
	defer s.Bar.End()
	s.of = int64(len(targets))
	for i, t := range targets {
		s.nth = int64(i)
		b, err := s.find(ctx, t)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err != nil:
			missing.Targets = append(missing.Targets, t)
			missing.Reasons = append(missing.Reasons, fmt.Sprintf("%s: %s", t, cli.Line(secrets.Text(err.Error()))))
		default:
			found = append(found, *b)
		}
	}
	if len(missing.Targets) > 0 {
		return found, missing
	}
	return found, nil
}

func (s *Source) find(ctx context.Context, t Target) (*Binary, error) {
	if dir := cmp.Or(s.RuntimeDir, s.Env["MCPBASH_RUNTIME_DIR"]); dir != "" { // the user has chosen this directory
		return check(filepath.Join(dir, filepath.FromSlash(t.Path())), t)
	}
	var reasons []error
	note := func(err error) {
		if !errors.Is(err, os.ErrNotExist) {
			reasons = append(reasons, err)
		}
	}
	if s.Home != "" {
		b, err := check(filepath.Join(s.Home, "runtimes", filepath.FromSlash(t.Path())), t)
		if err == nil {
			return b, nil
		}
		note(err)
		if b, err = check(filepath.Join(s.Home, "bin", filepath.FromSlash(t.Path())), t); err == nil {
			return b, nil // this program is in a tree with binaries for several systems
		}
		note(err)
	}
	if isSource(s.Home) {
		b, err := s.build(ctx, t)
		if err == nil || ctx.Err() != nil {
			return b, err
		}
		note(err)
	}
	if t == Host {
		b, err := check(script.Sibling("mcp-bash"), t)
		if err == nil {
			return b, nil
		}
		note(err)
	}
	b, err := s.download(ctx, t)
	if err == nil {
		return b, nil
	}
	note(err)
	if len(reasons) == 0 {
		reasons = append(reasons, errors.New("not found"))
	}
	return nil, errors.Join(reasons...)
}

// begin reports slow work on a target.
func (s *Source) begin(work string) {
	s.Bar.End()
	s.Note(work)
	s.show(work, s.nth, s.of)
}

func (s *Source) show(work string, done, total int64) {
	s.Bar.Show(fmt.Sprintf("%s (%d of %d)", work, s.nth+1, s.of), done, total)
}

// isSource reports whether a directory contains the sources of this program, as it does for
// a binary of "make build".
func isSource(dir string) bool {
	if dir == "" {
		return false
	}
	text, err := boundedfile.Read(filepath.Join(dir, "go.mod"), 1<<20)
	if err != nil || !bytes.HasPrefix(text, []byte("module mcp-bash\n")) {
		return false
	}
	info, err := os.Stat(filepath.Join(dir, "cmd", "mcp-bash"))
	return err == nil && info.IsDir()
}

// BuildCommand returns the go command's arguments and variables for building packages. The
// same sources produce the same bytes in any directory and with any other variables. The programs contain no
// HTTP/2 and no debug information, and functions are aligned to 16 bytes instead of 32.
func BuildCommand(t Target, out, packages string) (args []string, env map[string]string) {
	return []string{"build", "-trimpath", "-buildvcs=false", "-tags=nethttpomithttp2", "-ldflags=-s -w -funcalign=16",
			"-o", out, packages},
		map[string]string{
			"GOOS": t.OS, "GOARCH": t.Arch, "CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off", "GOAMD64": "",
			"GOARM64": "", "GOEXPERIMENT": "", "GOTOOLCHAIN": "local",
		}
}

const buildTime = 10 * time.Minute

func (s *Source) build(ctx context.Context, t Target) (*Binary, error) {
	compiler := script.LookPath("go", s.Env["PATH"])
	if compiler == "" {
		return nil, errors.New("building it from the sources needs go, which is not on PATH")
	}
	s.begin("building " + t.String())
	file := filepath.Join(s.Work, t.String(), t.Binary())
	argv, settings := BuildCommand(t, file, "./cmd/mcp-bash")
	env := s.Env.Clone()
	maps.Copy(env, settings)
	if s.Offline {
		env["GOPROXY"] = "off"
	}
	r := s.Runner.Run(ctx, script.Spec{
		Argv: append([]string{compiler}, argv...),
		Dir:  s.Home, Env: env.Entries(), Timeout: buildTime, StdoutLimit: 1 << 20, StderrLimit: 1 << 20,
	})
	switch {
	case r.Cause != nil:
		return nil, fmt.Errorf("building it: %w", r.Cause)
	case r.Status != 0:
		return nil, fmt.Errorf("building it failed: %s", strings.TrimSpace(string(r.Stderr)))
	}
	return check(file, t)
}
