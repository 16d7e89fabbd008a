package project

import (
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
)

// Marker is the file that makes a directory a project.
const Marker = "server.d/server.meta.json"

// ErrNone is the error when there is no project (CLI-403).
var ErrNone error = &cli.Error{Code: cli.CodeNotFound, Exit: cli.ExitFailed, Whole: true, Message: `Error: No MCP project found.

Could not find server.d/server.meta.json in the current directory or any parent.

To create a new project here:
  mcp-bash init --name my-server

To specify a project explicitly:
  use --project-root /path/to/project or set MCPBASH_PROJECT_ROOT`}

// A MissingError is the error for a project directory that was named but does
// not exist (P-106, CLI-402).
type MissingError struct{ Dir string }

func (e *MissingError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error of a command, a [*cli.Error].
func (e *MissingError) Unwrap() error {
	return &cli.Error{Code: cli.CodeNotFound, Exit: cli.ExitFailed, Whole: true, Message: cli.Sprintf(
		"mcp-bash: MCPBASH_PROJECT_ROOT directory does not exist: %s\n"+
			"Set MCPBASH_PROJECT_ROOT to an existing project directory or create it first.", e.Dir)}
}

// FindRoot returns the project's root, absolute and without symbolic links:
// named when that is not empty, else MCPBASH_PROJECT_ROOT, else the nearest
// directory from dir upwards that holds [Marker] (CLI-401). The root directory
// of the file system is never tried. The error is a [*MissingError] or
// [ErrNone].
func FindRoot(env Env, named, dir string) (string, error) {
	if named == "" {
		named = env["MCPBASH_PROJECT_ROOT"]
	}
	if named != "" {
		if info, err := os.Stat(named); err != nil || !info.IsDir() {
			return "", &MissingError{named}
		}
		return fsys.Physical(named)
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

// Find opens the project that a command is about: the one in the directory named, where
// that is not "", else the one that the environment names, else the one around the working
// directory (cli chapter 4). What its server would complain about is told to warn. Where
// there is none, the error is a [*cli.Error].
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
