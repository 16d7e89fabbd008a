package scaffold

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/scaffold/adopt"
	"mcp-bash/pkg/scaffold/ask"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/pkg/text/shell"
)

// AdoptOptions are the options of [Adopt].
type AdoptOptions struct {
	Ask           bool // let the user of the client answer the questions of scripts
	Copy          bool // copy the scripts to scripts/ of the project; otherwise tools start them where they are
	Force         bool // replace tools with the same names
	DryRun        bool
	LeaveExisting bool // leave out the scripts whose tools exist, and make the others
	// Confirm asks whether to try tools without arguments that have no other trial. nil: they are not tried.
	Confirm func(names []string) bool
}

// Adopted has the tools that were made from the scripts of a folder.
type Adopted struct {
	Tools     []*wrap.Tool
	Items     []*Item
	Folder    *adopt.Folder
	Variables []string // of the server's environment that reach the tools
	Untried   []string // for each tool, why it has no trial, or ""
	Existing  int      // tools that were left out because they exist
}

// copiesIn is the folder of the project for copies of scripts, and maxCopied the largest copy of a folder, in bytes.
const (
	copiesIn  = "scripts"
	maxCopied = 50 << 20
)

// Adopt makes a tool from each script of a folder, all or none, except as [AdoptOptions] permit.
func Adopt(ctx context.Context, p *project.Project, folder *adopt.Folder, o AdoptOptions,
	warn func(string)) (a *Adopted, err error) {
	a = &Adopted{Folder: folder}
	if len(folder.Scripts) == 0 {
		return a, nil
	}
	w := writerFor(ctx, p, o.DryRun)
	defer w.close(&err)
	dir := folder.Dir
	if len(folder.Scripts) == 1 {
		keepName(p, folder.Scripts[0], dir)
	}
	if o.LeaveExisting && !o.Force {
		if a.Existing, err = leaveExisting(w, p, folder, o.Copy); err != nil || len(folder.Scripts) == 0 {
			return a, err
		}
	}
	if o.Copy && !fsys.Within(p.Root, dir) {
		dir = filepath.Join(p.Root, copiesIn, strings.TrimPrefix(filepath.Base(dir), copiesIn))
		if err := copyFolder(w, folder, dir); err != nil {
			return nil, err
		}
	}
	if err := explain(ctx, p, folder); err != nil {
		return nil, err
	}
	for _, found := range folder.Scripts {
		tool, err := adoptedTool(p, dir, found, o.Ask)
		if err != nil {
			return nil, err
		}
		a.Tools = append(a.Tools, tool)
		a.Variables = append(a.Variables, tool.Variables...)
	}
	a.findTrials(o.Confirm)
	slices.Sort(a.Variables)
	a.Variables = slices.Compact(a.Variables)
	a.Items, err = wrapTools(w, p, a.Tools, WrapOptions{Force: o.Force, DryRun: o.DryRun}, warn)
	return a, err
}

// leaveExisting moves the scripts whose tools exist to those that were left out, and returns their number.
func leaveExisting(w *writer, p *project.Project, folder *adopt.Folder, copies bool) (n int, err error) {
	command := "mcp-bash add --force "
	if copies {
		command += "--copy "
	}
	folder.Scripts = slices.DeleteFunc(folder.Scripts, func(found *adopt.Found) bool {
		info, failed := w.look(filepath.Join(p.Tools, found.Tool))
		if err = cmp.Or(err, failed); info == nil {
			return false
		}
		n++
		folder.LeftOut = append(folder.LeftOut, adopt.LeftOut{Path: found.Path, Reason: "the tool " + found.Tool + " exists",
			Remedy: command + shell.Quote(filepath.Join(folder.Dir, filepath.FromSlash(found.Path)))})
		return true
	})
	return n, err
}

// findTrials finds the tools without a trial. It asks whether to try those that change nothing without arguments.
func (a *Adopted) findTrials(confirm func(names []string) bool) {
	var names []string
	for i, found := range a.Folder.Scripts {
		_, lacks := found.Trial()
		a.Untried = append(a.Untried, lacks)
		if lacks != "" && found.Harmless() {
			names = append(names, a.Tools[i].Name)
		}
	}
	if confirm == nil || len(names) == 0 || !confirm(names) {
		return
	}
	for i, tool := range a.Tools {
		if slices.Contains(names, tool.Name) {
			tool.Trial, a.Untried[i] = &wrap.Trial{Arguments: map[string]any{}}, ""
		}
	}
}

// explain asks scripts of other languages for their help, each once and confined, as many at a time as there are
// processors. A script without help keeps its list of words.
func explain(ctx context.Context, p *project.Project, folder *adopt.Folder) error {
	asker := ask.New(p.Env["PATH"])
	if !asker.Confines() {
		return nil
	}
	slots := make(chan struct{}, runtime.NumCPU())
	var group sync.WaitGroup
	for _, found := range folder.Scripts {
		if found.Parsed() {
			continue
		}
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			answer, err := asker.Help(ctx, []string{filepath.Join(folder.Dir, filepath.FromSlash(found.Path))})
			if err == nil {
				found.Explain(answer.Help, &wrap.Trial{Words: []string{answer.Word}, ExitCode: answer.Status})
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// AdoptAgain makes the tool of a script again, under its present name.
func AdoptAgain(ctx context.Context, p *project.Project, old *Wrapped) (*wrap.Tool, error) {
	file := scriptOf(p, old)
	folder, err := adopt.LookAt(file)
	if err != nil {
		return nil, &cli.Error{Code: cli.CodeNotFound, Subject: file, Cause: fsys.Cause(err)}
	}
	if len(folder.Scripts) == 0 {
		reason := "not a script"
		if len(folder.LeftOut) > 0 {
			reason = folder.LeftOut[0].Reason
		}
		return nil, cli.Failf(cli.CodeInvalid, "%s: %s", file, reason)
	}
	folder.Scripts[0].Tool = old.Name
	if err := explain(ctx, p, folder); err != nil {
		return nil, err
	}
	return adoptedTool(p, folder.Dir, folder.Scripts[0], old.Asks)
}

// keepName gives a script the name of the tool that it has already. It begins with the name of a folder if a folder was
// added.
func keepName(p *project.Project, found *adopt.Found, dir string) {
	file := filepath.Join(dir, filepath.FromSlash(found.Path))
	tools, _ := WrappedTools(p, nil) // an error means that there are no such tools
	for _, t := range tools {
		if scriptOf(p, t) == file {
			found.Tool = t.Name
		}
	}
}

// scriptOf returns the path of the script that a tool was made of. It is meaningless for other tools.
func scriptOf(p *project.Project, t *Wrapped) string {
	if file := filepath.FromSlash(t.Script); !filepath.IsAbs(file) {
		return filepath.Join(p.Root, file)
	}
	return t.Script
}

// adoptedTool makes a tool from a script.
func adoptedTool(p *project.Project, dir string, found *adopt.Found, ask bool) (*wrap.Tool, error) {
	file := filepath.Join(dir, filepath.FromSlash(found.Path))
	t := adopt.Tool(dir, found, p.Env["HOME"], p.Env["PATH"], ask)
	words, program := file, file
	if fsys.Within(p.Root, file) {
		words = relative(p, file)
		program = "./" + words
	}
	if err := CheckWords([]string{words}); err != nil {
		return nil, err
	}
	t.Words, t.Program, t.Source = []string{words}, program, wrap.Source{File: words, Script: true}
	// The capabilities include reading the project.
	t.Reads = slices.DeleteFunc(t.Reads, func(read string) bool { return fsys.Within(p.Root, read) })
	return wrap.New(t, wrap.Selection{})
}

// copyFolder copies the files of a folder into a folder of the project: scripts, and the files next to them. Existing
// files with the same text are kept.
func copyFolder(w *writer, folder *adopt.Folder, to string) error {
	from, err := os.OpenRoot(folder.Dir)
	if err != nil {
		return failed(folder.Dir, err)
	}
	defer from.Close()
	var files []file
	left := maxCopied
	for _, name := range folder.Files {
		text, err := boundedfile.ReadIn(from, name, left)
		if _, ok := errors.AsType[*boundedfile.TooLargeError](err); ok {
			return cli.Failf(cli.CodeInvalid, "%s has more than %s; copy the scripts by hand, or leave --copy out",
				folder.Dir, cli.Size(maxCopied))
		} else if err != nil {
			return invalid(filepath.Join(folder.Dir, name), err)
		}
		left -= len(text)
		mode := modeFile
		if info, err := from.Stat(name); err == nil && info.Mode()&0o100 != 0 {
			mode = modeScript
		}
		files = append(files, file{name, string(text), mode})
	}
	if info, err := w.look(to); err == nil && info == nil {
		return w.putDir(to, "folder", files)
	}
	for _, f := range files {
		at := filepath.Join(to, filepath.FromSlash(f.path))
		err := w.edit(at, f.mode, maxCopied, func(old userfile.File) ([]byte, error) {
			if old.There && string(old.Text) != f.text {
				return nil, taken(at, "file")
			}
			return []byte(f.text), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// A Verdict is the outcome of a trial, as mcp-runtool prints it.
type Verdict struct {
	Status string `json:"status"` // "passed", Failed or NotTried
	Call   string `json:"call,omitempty"`
	Reason string `json:"reason,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// Outcomes of a trial.
const (
	Failed   = "failed"
	NotTried = "not tried"
)

// Try makes the trials of some tools of a project. If an error prevents a trial, its verdict has the reason.
func Try(ctx context.Context, p *project.Project, names []string) []Verdict {
	if len(names) == 0 {
		return nil
	}
	out, err := RunTool(ctx, p, append(slices.Clone(names), "--trial")...)
	list := make([]Verdict, len(names))
	lines := json.NewDecoder(bytes.NewReader(out))
	for i := range list {
		if err == nil {
			err = lines.Decode(&list[i])
		}
		if err != nil {
			list[i] = Verdict{Status: NotTried, Reason: strings.TrimPrefix(err.Error(), "run-tool: ")}
		}
	}
	return list
}

// RunTool runs mcp-runtool for a project, and returns the JSON that it prints. Every tool may run.
func RunTool(ctx context.Context, p *project.Project, args ...string) ([]byte, error) {
	program := script.Find("mcp-runtool", os.Getenv("PATH"))
	if program == "" {
		return nil, errors.New("mcp-runtool is neither next to this program nor on PATH; install all programs of mcp-bash")
	}
	var out bytes.Buffer
	args = append(slices.Clone(args), "--allow-all", "--json", "--project-root", p.Root)
	err := script.Pipe(ctx, nil, &out, program, args...)
	return out.Bytes(), err
}
