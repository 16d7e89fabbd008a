package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed project library scripts
var files embed.FS

// A workspace is a temporary directory with the project, the texts it works on, and a home with scripts.
type workspace struct{ dir, project, library, home, tmp string }

func newWorkspace() (*workspace, error) {
	dir, err := os.MkdirTemp("", "mcp-bash-demo.")
	if err != nil {
		return nil, err
	}
	if physical, err := filepath.EvalSymlinks(dir); err == nil {
		dir = physical
	}
	p := &workspace{dir, filepath.Join(dir, "project"), filepath.Join(dir, "library"), filepath.Join(dir, "home"),
		filepath.Join(dir, "tmp")}
	err = errors.Join(os.Mkdir(p.tmp, 0o700), os.Mkdir(p.home, 0o700))
	if err == nil {
		err = fs.WalkDir(files, ".", p.unpack)
	}
	if err != nil {
		p.remove()
		return nil, err
	}
	return p, nil
}

func (p *workspace) unpack(name string, d fs.DirEntry, err error) error {
	to := filepath.Join(p.dir, filepath.FromSlash(name))
	if in, _, _ := strings.Cut(name, "/"); in == "scripts" {
		to = filepath.Join(p.home, filepath.FromSlash(name))
	}
	switch {
	case err != nil || name == ".":
		return err
	case d.IsDir():
		return os.Mkdir(to, 0o755)
	}
	data, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if strings.HasPrefix(string(data), "#!") {
		mode = 0o755
	}
	return os.WriteFile(to, data, mode)
}

// environment is what a client's configuration would give the server.
func (p *workspace) environment() []string {
	env := []string{"MCPBASH_PROJECT_ROOT=" + p.project, "MCPBASH_TOOL_ALLOWLIST=count-words,remove-empty"}
	for _, name := range []string{"PATH", "SYSTEMROOT"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range []string{"HOME", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME"} {
		env = append(env, name+"="+p.tmp)
	}
	return env
}

// newcomer returns the environment of a person with an empty home and our commands in the folder bin. With an
// empty bin, it is the environment of a client, whose PATH does not contain our commands.
func (p *workspace) newcomer(bin string) []string {
	path := "/usr/local/bin:/usr/bin:/bin"
	if bin != "" {
		path = bin + ":" + path
	}
	return []string{"PATH=" + path, "HOME=" + p.home, "TMPDIR=" + p.tmp, "LANG=C.UTF-8"}
}

func (p *workspace) remove() error {
	if err := os.RemoveAll(p.dir); err != nil {
		return fmt.Errorf("cleaning up: %w", err)
	}
	return nil
}
