// Package project opens a project: its directories, environment, settings and metadata. It also has the installation
// tree for scripts, and the private directory of a run.
//
// [FindRoot] finds the directory and [Open] makes a [Project] from it, which does not change afterwards. An [Env] is
// the environment of one run, and its [Settings] are read from it once. A [Home] is the tree with the SDK that scripts
// source. A [State] is the private directory of one run, which the first script creates.
package project

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/scriptenv"
)

// A Project is a directory of scripts and files, with its environment and settings.
type Project struct {
	Root string
	Dirs
	Env Env
	Settings
	Meta    Meta
	Scripts scriptenv.Policy // the variables of Env for scripts
}

// Dirs are a project's directories, absolute.
type Dirs struct {
	Tools, Resources, Prompts, Completions string
	Server                                 string // server.d
	Registry                               string // .registry
	Providers, UI                          string
}

// Open reads the settings and metadata of a project. Relative paths in the environment are relative to dir. Open
// creates no files, and reports ignored settings to warn.
func Open(root string, env Env, dir string, warn func(string)) *Project {
	p := &Project{Root: root, Env: env, Dirs: findDirs(root, env, dir)}
	p.Settings = ReadSettings(env, p.Dirs)
	p.checkTmp(env, warn)
	var meta scriptenv.Meta
	p.Meta, meta = readMeta(p, warn)
	if p.Scripts = scriptenv.NewPolicy(env, meta); !p.Scripts.MetaIgnored {
		for _, line := range meta.Complaints() {
			warn(line)
		}
	}
	return p
}

func findDirs(root string, env Env, dir string) Dirs {
	place := func(name, def string) string {
		switch v := env[name]; {
		case v == "":
			return filepath.Join(root, def)
		case filepath.IsAbs(v):
			return filepath.Clean(v)
		default:
			return filepath.Join(dir, v)
		}
	}
	return Dirs{
		Tools:       place("MCPBASH_TOOLS_DIR", "tools"),
		Resources:   place("MCPBASH_RESOURCES_DIR", "resources"),
		Prompts:     place("MCPBASH_PROMPTS_DIR", "prompts"),
		Completions: place("MCPBASH_COMPLETIONS_DIR", "completions"),
		Server:      place("MCPBASH_SERVER_DIR", "server.d"),
		Registry:    place("MCPBASH_REGISTRY_DIR", ".registry"),
		Providers:   place("MCPBASH_PROVIDERS_DIR", "providers"),
		UI:          place("MCPBASH_UI_DIR", "ui"),
	}
}

func (d *Dirs) all() []string {
	return []string{d.Tools, d.Resources, d.Prompts, d.Completions, d.Server, d.Registry, d.Providers, d.UI}
}

// Check returns an error if the root has neither [Marker] nor a directory of a project, so that no server serves a
// mistyped path. Projects of the Bash edition may lack the marker. source is the variable or option with the path.
func (p *Project) Check(source string) error {
	for _, path := range append([]string{filepath.Join(p.Root, filepath.FromSlash(Marker))}, p.all()...) {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	return cli.Baref(cli.CodeNotFound, "mcp-bash: %s is not a project: %s has no %s", source, cli.Line(p.Root), Marker).
		WithHint("Run mcp-bash init there, or set %s to the directory of a project.", source)
}

// Create creates the directories of a project. It ignores errors, because a server also works with a read-only project.
func (d Dirs) Create() {
	for _, dir := range []string{d.Tools, d.Resources, d.Prompts, d.Server} {
		os.MkdirAll(dir, 0o755)
	}
	if os.MkdirAll(filepath.Dir(d.Registry), 0o755) == nil {
		os.Mkdir(d.Registry, 0o700)
	}
}

// Marker is the file that every project has.
const Marker = "server.d/server.meta.json"

// TestsDir is the directory in a project with the test cases of its tools.
const TestsDir = "tests"

// ErrNone means that there is no project.
var ErrNone error = &cli.Error{Code: cli.CodeNotFound, Bare: true, Cause: cli.Lines(`Error: No MCP project found.

Could not find server.d/server.meta.json in the current directory or any parent.

To create a new project here:
  mcp-bash init --name my-server

To specify a project explicitly:
  use --project-root /path/to/project or set MCPBASH_PROJECT_ROOT`)}

// A MissingError means that the given project directory does not exist.
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
// MCPBASH_PROJECT_ROOT, or the nearest directory from dir upwards with [Marker]. The root directory of the file
// system cannot be a project. The error is a [*MissingError], [ErrNone], or the error of a path setting that is not a
// path.
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

// Find opens the project of a command (cli chapter 4). Its root is the result of [FindRoot] for named and the working
// directory. Find reports the warnings of [Open] to warn. The error of a missing project is a [*cli.Error].
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

// Place returns the directory of a place in the table of package code. It returns "" for a place that is not a single
// directory of the project.
func (p *Project) Place(place code.Place) string {
	const last = code.Used
	return [...]string{
		code.Root: p.Root, code.Above: filepath.Dir(p.Root), code.Tools: p.Tools, code.Prompts: p.Prompts,
		code.Resources: p.Resources, code.Completions: p.Completions, code.Server: p.Server, code.Registry: p.Registry,
		code.Providers: p.Providers, code.UI: p.UI, code.UserHome: p.Env["HOME"], last: "",
	}[place]
}

// RunsNext returns the files and folders of the project with code that our commands run or trust. No confined tool
// may write to them. The paths may have links, and need not exist.
func (p *Project) RunsNext() (list []string) {
	for _, row := range code.Rows {
		if row.Place == code.Repository {
			list = append(list, repository(p.Root)...)
			continue
		}
		for _, path := range row.Locations(p) {
			if filepath.IsAbs(path) {
				list = append(list, path)
			}
		}
	}
	return list
}

// repository returns the directories with the hooks and settings of the Git repository around a folder. Without a
// repository it returns the directory that Git would create.
func repository(root string) []string {
	for dir := root; ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		switch {
		case err != nil && dir != filepath.Dir(dir):
			continue
		case err != nil:
			return []string{filepath.Join(root, ".git")}
		case !info.Mode().IsRegular():
			return []string{git}
		}
		return append([]string{git}, gitDirectories(git)...)
	}
}

// gitDirectories returns the directories of a worktree with the given .git file: its separate one, and the one that
// all worktrees share.
func gitDirectories(file string) (list []string) {
	const maxSize = 4096 // bytes
	lead := func(file, prefix string) string {
		text, err := boundedfile.Read(file, maxSize)
		path, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
		switch {
		case err != nil || !ok || path == "":
			return ""
		case filepath.IsAbs(path):
			return filepath.Clean(path)
		}
		return filepath.Join(filepath.Dir(file), path)
	}
	own := lead(file, "gitdir: ")
	if own == "" {
		return nil
	}
	list = append(list, own)
	if shared := lead(filepath.Join(own, "commondir"), ""); shared != "" {
		list = append(list, shared)
	}
	return list
}
