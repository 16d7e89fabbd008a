package project

import (
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
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

// Dirs are a project's directories, absolute (P-107, CLI-404).
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
// mistyped path (P-106). Projects of the Bash edition may lack the marker. source is the variable or option with the
// path.
func (p *Project) Check(source string) error {
	for _, path := range append([]string{filepath.Join(p.Root, filepath.FromSlash(Marker))}, p.all()...) {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
	}
	return cli.Baref(cli.CodeNotFound, "mcp-bash: %s is not a project: %s has no %s", source, cli.Line(p.Root), Marker).
		WithHint("Run mcp-bash init there, or set %s to the directory of a project.", source)
}

// Create creates the directories of a project. It ignores errors, because a server also works with a read-only
// project (P-107).
func (d Dirs) Create() {
	for _, dir := range []string{d.Tools, d.Resources, d.Prompts, d.Server} {
		os.MkdirAll(dir, 0o755)
	}
	if os.MkdirAll(filepath.Dir(d.Registry), 0o755) == nil {
		os.Mkdir(d.Registry, 0o700)
	}
}
