package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/confine"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/script"
)

// declared returns what a tool declares; ok is false when it declares nothing.
// What nobody knows gives nothing (CF-3).
func (e *entry) declared() (list []access.Capability, ok bool) {
	given := rawjson.Get(e.item, "capabilities")
	if rawjson.KindOf(given) != rawjson.Array {
		return nil, false
	}
	for one := range rawjson.Elements(given) {
		name, _ := rawjson.Text(one)
		if c, known := access.ParseCapability(name); known {
			list = append(list, c)
		}
	}
	return list, true
}

// confine finds out what the kernel has to hold the call to, and has a confinement and the
// private directories of the tool made for it. It leaves both nil for a call that is not
// confined.
func (c *call) confine() error {
	t := c.tools
	declared, ok := c.entry.declared()
	if !t.Confine.Declared || !ok && !t.Confine.All {
		return nil
	}
	p := &confine.Profile{
		AllFiles: slices.Contains(declared, access.FileSystem),
		Network:  slices.Contains(declared, access.Network),
		Process:  slices.Contains(declared, access.Process),
		Modes:    slices.Contains(declared, access.Edit),
	}
	if p.Open() {
		return nil
	}
	k := t.Kernel()
	if lacks := k.Lacks(p); len(lacks) > 0 {
		what := strings.Join(lacks, ", ")
		if t.Confine.Required {
			return mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' cannot be confined", c.entry.name).WithReason(
				fmt.Errorf("this kernel cannot hold: %s; MCPBASH_CONFINE without \"required\" runs it all the same", what))
		}
		if _, warned := t.unheld.LoadOrStore(what, true); !warned {
			t.Log(mcp.Warning, logger, fmt.Sprintf("Tool '%s' runs although this kernel cannot hold: %s (MCPBASH_CONFINE)",
				c.entry.name, what))
		}
		if k.None() {
			return nil
		}
	}
	box, err := t.boxes.take(t.State, c.script)
	if err != nil {
		return c.cannotStart(err)
	}
	if !p.AllFiles {
		c.allowFiles(p, box, declared)
	}
	held, err := t.Runner.Confine(k, p)
	if err != nil { // in every mode: who can bring about a fault must not get out by it
		t.boxes.give(box)
		return c.cannotStart(fmt.Errorf("cannot be confined: %w", err))
	}
	c.box, c.held = box, held
	return nil
}

// ended says that the script has ended.
func (c *call) ended() {
	if c.held != nil {
		c.held.Release()
	}
}

// release gives back what is kept until the answer is on its way.
func (c *call) release() {
	if c.box != nil {
		c.tools.boxes.give(c.box)
	}
}

// allowFiles puts the paths of a call into its profile (CF-10 to CF-16).
func (c *call) allowFiles(p *confine.Profile, box *box, declared []access.Capability) {
	t := c.tools
	p.Programs = append(p.Programs, t.programs...)
	p.Programs = append(p.Programs, c.ownFolder())
	p.Programs = append(p.Programs, c.interpreter()...)
	p.Write = append(p.Write, box.dir)
	if slices.Contains(declared, access.Search) {
		p.Read = append(p.Read, t.project.Root)
		for _, r := range c.request.Roots {
			p.Read = append(p.Read, r.Path)
		}
	}
	if slices.Contains(declared, access.Edit) {
		for _, r := range c.request.Roots {
			c.allowEdit(p, r.Path)
		}
	}
}

// ownFolder is the folder of the tool; for one that has none the script.
func (c *call) ownFolder() string {
	switch dir := filepath.Dir(c.script); dir {
	case c.tools.project.Tools, c.tools.project.Root:
		return c.script
	default:
		return dir
	}
}

// allowEdit lets the call write below a root, but not to what runs next. In the project
// itself, what lies in it is allowed one by one, as the kernel knows no exceptions.
func (c *call) allowEdit(p *confine.Profile, root string) {
	pr := c.tools.project
	in := func(name string) string { return filepath.Join(pr.Root, name) }
	protected := []string{
		pr.Tools, pr.Server, pr.Registry, pr.Providers, pr.Completions, in("lib"), in("config"), in(".git"),
	}
	isProtected := func(path string) bool {
		return slices.ContainsFunc(protected, func(dir string) bool { return project.Within(dir, path) })
	}
	p.Read = append(p.Read, root)
	switch {
	case isProtected(root):
	case slices.ContainsFunc(protected, func(dir string) bool { return project.Within(root, dir) }) &&
		project.Within(pr.Root, root):
		for _, e := range firstEntries(root) {
			path := filepath.Join(root, e.Name())
			if e.Type().IsRegular() && !isProtected(path) {
				p.Write = append(p.Write, path)
			} else if e.IsDir() {
				c.allowEdit(p, path)
			}
		}
	default:
		p.Write = append(p.Write, root)
	}
}

// firstEntries are as many entries of a directory as a domain is made for.
func firstEntries(dir string) []os.DirEntry {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, _ := f.ReadDir(mostEntries)
	return list
}

const mostEntries = 256

// interpreter is the program that runs the script, and where that is installed.
func (c *call) interpreter() []string {
	program := c.argv[0]
	if len(c.argv) == 1 {
		if f, err := os.Open(c.script); err == nil {
			var head [256]byte
			n, _ := f.Read(head[:])
			f.Close()
			if words := script.Interpreter(head[:n]); len(words) > 0 {
				program = words[0]
			}
		}
	}
	if !filepath.IsAbs(program) {
		program = script.LookPath(program, c.tools.searched)
	}
	if program, _ = filepath.EvalSymlinks(program); program == "" || confine.IsSystem(program) {
		return nil
	}
	prefix := filepath.Dir(filepath.Dir(program))
	home := c.tools.project.Env["HOME"]
	if filepath.Base(filepath.Dir(program)) != "bin" || filepath.Base(prefix) == ".local" ||
		project.Within(prefix, home) || project.Within(prefix, c.tools.project.Root) {
		return []string{program}
	}
	return []string{prefix}
}

// ownPrograms are what every tool may read and start beside its own folder and the system's
// programs: the project's lib/, what we give scripts, and what is on their PATH.
func ownPrograms(p *project.Project, common project.Env, path string) []string {
	list := []string{filepath.Join(p.Root, "lib")}
	for _, name := range []string{"MCPBASH_HOME", "MCPBASH_HELPER_BIN", "MCPBASH_JSON_TOOL_BIN"} {
		list = append(list, common[name])
	}
	if exe, err := os.Executable(); err == nil {
		list = append(list, exe)
	}
	list = append(list, filepath.SplitList(path)...)
	return slices.DeleteFunc(list, func(path string) bool {
		return !filepath.IsAbs(path) || filepath.Clean(path) == "/" || confine.IsSystem(path)
	})
}
