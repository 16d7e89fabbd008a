package clients

import (
	"path/filepath"
	"unicode/utf8"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/run/script"
)

// ServerOf returns the server of a project, for entries that start it. A link has no path of this machine, so it needs
// no command.
func ServerOf(p *project.Project, isLink bool) (s Server, err error) {
	s = Server{Name: p.Meta.Name, Root: p.Root, OwnRoots: roots.InProject(p)}
	if !isLink {
		if s.Command, err = FindCommand(p.Env); err != nil {
			return s, err
		}
	}
	for _, path := range []string{s.Command, s.Root} {
		if !utf8.ValidString(path) {
			return s, cli.Failf(cli.CodeInvalid, "%q is not valid UTF-8, so a client's file cannot name it", path).
				WithHint("rename the folder")
		}
	}
	return s, nil
}

// FindCommand returns the path of mcp-bash for clients' files. It prefers a link in the
// user's directory for programs, which an upgrade keeps, over the program itself (CLI-702).
func FindCommand(env project.Env) (string, error) {
	path := findProgram(env)
	if path == "" {
		return "", cli.Failf(cli.CodeNotFound, "mcp-bash is neither next to this program nor on PATH; install it")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if dir := filepath.Dir(path); filepath.Base(dir) == "bin" {
		path = filepath.Join(project.Lasting(filepath.Dir(dir)), "bin", filepath.Base(path))
	}
	bin := env["XDG_BIN_HOME"]
	if bin == "" && env["HOME"] != "" {
		bin = filepath.Join(env["HOME"], ".local", "bin")
	}
	if filepath.IsAbs(bin) {
		shim := filepath.Join(bin, filepath.Base(path))
		if fsys.Same(shim, path) {
			return shim, nil
		}
	}
	return path, nil
}

// findProgram looks in MCPBASH_HOME, next to this program, and on PATH.
func findProgram(env project.Env) string {
	if home := env["MCPBASH_HOME"]; home != "" {
		if path := script.LookPath("mcp-bash", filepath.Join(home, "bin")); path != "" {
			return path
		}
	}
	return script.Find("mcp-bash", env["PATH"])
}
