package stage

import (
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
)

// maxRecord is the maximum size of a record of how a tool was made, in bytes.
const maxRecord = 1 << 20

// system are directories of programs that other machines have too.
var system = []string{
	"/bin", "/sbin", "/usr", "/lib", "/opt", "/snap", "/nix/store", "/gnu/store", "/home/linuxbrew/.linuxbrew", "/Library",
	"/System", "/Applications",
}

// startedScripts returns the entries at the top of the project that contain what its tools start. These are the scripts
// of imported tools, and files that confine.exec names. A file elsewhere is a fault: the tool would not work for
// others. Programs of the system are not (CLI-1415).
func (s *Stage) startedScripts() (names []string) {
	faulty := map[string]bool{} // tools
	add := func(file string) (inside bool) {
		local := filepath.FromSlash(file)
		if rel, err := filepath.Rel(s.Project.Root, local); filepath.IsAbs(local) && err == nil {
			local = rel
		}
		if inside = filepath.IsLocal(local) && local != "."; inside {
			names = append(names, strings.Split(filepath.ToSlash(filepath.Clean(local)), "/")[0])
		}
		return inside
	}
	for dir, record := range s.toolFiles(".wrap.json") {
		if script := rawjson.TextOf(record, "script"); script != "" && !add(script) {
			faulty[dir] = true
			s.Fault("tools/%s starts %s, which is not in the project; run: mcp-bash add %s --copy --force", dir,
				script, script)
		}
	}
	for dir, meta := range s.toolFiles("tool.meta.json") {
		declared, _ := access.ParseExtras(rawjson.Get(meta, "confine"))
		for _, program := range declared.Exec {
			isFile := strings.Contains(program, "/") && !slices.ContainsFunc(system, func(d string) bool {
				return fsys.Within(d, program)
			})
			if isFile && !faulty[dir] && !add(program) {
				s.Fault("tools/%s may start %s (confine.exec), which is not in the project; copy it there", dir, program)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// toolFiles yields the folders of tools that have a file of a name, with its content. A file that cannot be read is a
// fault.
func (s *Stage) toolFiles(name string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		files, _ := fs.Glob(os.DirFS(s.Project.Tools), "*/"+name)
		for _, file := range files {
			text, err := s.Project.ReadFile(filepath.Join(s.Project.Tools, filepath.FromSlash(file)), maxRecord)
			if err != nil {
				s.Fault("tools/%s: %v", file, err)
				continue
			}
			if !yield(path.Dir(file), text) {
				return
			}
		}
	}
}
