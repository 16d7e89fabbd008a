package project

import (
	"cmp"
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
)

// Marker is the file that every project has.
const Marker = "server.d/server.meta.json"

// TestsDir is the directory in a project with the test cases of its tools.
const TestsDir = "tests"

// ErrNone means that there is no project (CLI-403).
var ErrNone error = &cli.Error{Code: cli.CodeNotFound, Bare: true, Cause: cli.Lines(`Error: No MCP project found.

Could not find server.d/server.meta.json in the current directory or any parent.

To create a new project here:
  mcp-bash init --name my-server

To specify a project explicitly:
  use --project-root /path/to/project or set MCPBASH_PROJECT_ROOT`)}

// A MissingError means that the given project directory does not exist (P-106, CLI-402).
type MissingError struct {
	Dir   string
	Named bool // by an option or an operand, and not by MCPBASH_PROJECT_ROOT
}

func (e *MissingError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error of a command, a [*cli.Error].
func (e *MissingError) Unwrap() error {
	if e.Named {
		return cli.Baref(cli.CodeNotFound, "mcp-bash: %s", e.Reason()).
			WithHint("Name an existing project directory, or create a project: mcp-bash new my-server")
	}
	return cli.Baref(cli.CodeNotFound, "mcp-bash: %s", e.Reason()).
		WithHint("Set MCPBASH_PROJECT_ROOT to an existing project directory or create it first.")
}

// Reason names what does not exist.
func (e *MissingError) Reason() string {
	if e.Named {
		return "the project directory does not exist: " + e.Dir
	}
	return "MCPBASH_PROJECT_ROOT directory does not exist: " + e.Dir
}

// FindRoot returns the project's root, absolute and without symbolic links. The root is named if it is not empty, or
// MCPBASH_PROJECT_ROOT, or the nearest directory from dir upwards with [Marker] (CLI-401). The root directory of the
// file system cannot be a project. The error is a [*MissingError], [ErrNone], or that of a setting that names no path.
func FindRoot(env Env, named, dir string) (string, error) {
	if err := env.checkPaths(); err != nil {
		return "", err
	}
	if root := cmp.Or(named, env["MCPBASH_PROJECT_ROOT"]); root != "" {
		if info, err := os.Stat(root); err != nil || !info.IsDir() {
			return "", &MissingError{Dir: root, Named: named != ""}
		}
		return fsys.Physical(root)
	}
	dir, err := fsys.Physical(dir)
	if err != nil {
		return "", ErrNone
	}
	for parent := filepath.Dir(dir); parent != dir; dir, parent = parent, filepath.Dir(parent) {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(Marker))); err == nil && info.Mode().IsRegular() {
			return dir, nil
		}
	}
	return "", ErrNone
}

// Find opens the project of a command (cli chapter 4). The result of [FindRoot] for named and the working directory
// is its root. Find reports the warnings of [Open] to warn. The error of a missing project is a [*cli.Error].
func Find(named string, warn func(string)) (*Project, error) {
	env := OSEnv()
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root, err := FindRoot(env, named, dir)
	if err != nil {
		return nil, err
	}
	return Open(root, env, dir, warn), nil
}
