// Package doctor checks an installation: the programs and what they need on this machine,
// and the project around. It mends installations that install.sh manages (cli chapter 11).
package doctor

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
)

// Options are those of CLI-1101.
type Options struct {
	Env            project.Env
	Placeholders   []string // the variables that are left out of Env (E-2)
	Dir            string   // the working directory
	DryRun, Fix    bool
	MinVersion     string
	Archive        string
	Verify         string
	Ref            string
	AllowDowngrade bool
	Kernel         *confine.Kernel        // what scripts can be held to; nil: what the running one offers
	Found          func(*finding.Finding) // gets each finding as it is found; nil: nobody does
}

// A Result is what was found and done.
type Result struct {
	ExitCode         int
	Findings         []finding.Finding
	Proposed, Taken  []Action
	Framework        Framework
	Runtime          Runtime
	Install          Install
	Shims            []Shim // of each program, that of mcp-bash first
	MacOS            MacOS
	MSYS             bool
	Project          Project
	Binaries         []Binary
	SDK              SDK
	Errors, Warnings int

	fixing bool // whether DryRun or Fix was set
}

// An Action is something that was done or would be.
type Action struct {
	ID, Message string
	Command     string // that a person could type instead; "" for none
	Line        string // the action in the text report, with its mark
	Output      string // the output of install.sh, or ""
}

// Framework is where the installation lies.
type Framework struct {
	Path           string
	Exists         bool
	Version        string // "" where it has no VERSION
	PathConfigured bool
	program        string // mcp-bash in it
}

// InvalidMinimum is what is wrong with a --min-version that is none (CLI-1103).
const InvalidMinimum = "--min-version requires a value like 0.8.1"

// family are the commands of an installation, in the order in which they are listed.
var family = []string{"mcp-bash", "mcp-runtool", "mcp-registry", "mcp-bundle", "mcp-scaffold", "mcp-doctor"}

type examination struct {
	ctx    context.Context
	o      Options
	on     host
	r      *Result
	runner *script.Runner
}

// A host is what only some systems have.
type host struct {
	os          string                             // as runtime.GOOS
	quarantined func(file string) (is, known bool) // macOS marks it as downloaded; known: that could be seen
}

// Examine checks, and with Fix mends.
func Examine(ctx context.Context, o Options) *Result {
	return examine(ctx, o, host{runtime.GOOS, quarantined})
}

func examine(ctx context.Context, o Options, on host) *Result {
	e := &examination{ctx: ctx, o: o, on: on, r: &Result{fixing: o.DryRun || o.Fix}, runner: new(script.Runner)}
	e.framework()
	e.machine()
	e.programs()
	e.managed()
	e.shims()
	e.system()
	e.project()
	switch {
	case o.MinVersion != "" && !validate.IsVersion(o.MinVersion):
		e.add("doctor.min_version_invalid", InvalidMinimum, "")
		e.r.ExitCode = cli.ExitUsage
	default:
		e.minimum()
		if o.DryRun || o.Fix {
			e.fix()
		}
	}
	if e.r.ExitCode == cli.ExitOK && e.r.Errors > 0 {
		e.r.ExitCode = cli.ExitFailed
	}
	return e.r
}

// add notes a finding of a rule; command is what mends it, "" for none.
func (e *examination) add(id, message, command string) {
	rule := Rules.Find(id)
	f := finding.Finding{ID: id, Severity: rule.Severity, Message: message, Fix: rule.Fix, Command: command}
	f.Fixable = id == "shim.status" && e.r.Install.Managed || id == "framework.version_too_old" && e.r.Install.Managed
	switch f.Severity {
	case finding.Error:
		e.r.Errors++
	case finding.Warning:
		e.r.Warnings++
	}
	e.r.Findings = append(e.r.Findings, f)
	if e.o.Found != nil {
		e.o.Found(&f)
	}
}

// framework finds the installation, and whether typing mcp-bash leads to it.
func (e *examination) framework() {
	f := &e.r.Framework
	switch home := e.o.Env["MCPBASH_HOME"]; {
	case home != "":
		f.Path, _ = filepath.Abs(home)
	default:
		if f.Path = project.InstalledHome(e.o.Env); f.Path == "" {
			f.Path = besides()
		}
	}
	info, err := os.Stat(f.Path)
	if f.Exists = err == nil && info.IsDir(); !f.Exists {
		e.add("framework.missing", "Location not found: "+f.Path, "")
		return
	}
	f.Version = readVersion(f.Path)
	if f.Version == "" && treeOf(f.Path) == "" {
		f.Version = cli.Version // one program alone brings everything along (decision 8)
	}
	if f.Version == "" {
		e.add("framework.version_missing", "VERSION file missing at "+f.Path, "")
	}
	f.program = e.locate("mcp-bash")
	found := script.LookPath("mcp-bash", e.o.Env["PATH"])
	f.PathConfigured = found != "" && sameFile(found, f.program)
	program := f.program
	if program == "" {
		program = filepath.Join(f.Path, "bin", programName("mcp-bash"))
	}
	command := "export PATH=" + quoted(filepath.Dir(program)) + `:$PATH"`
	switch {
	case f.PathConfigured:
	case found == "":
		e.add("path.not_configured", "PATH does not resolve mcp-bash to "+program, command)
	default:
		e.add("path.shadowed", "another mcp-bash comes first on PATH: "+found, command)
	}
}

// quoted is a directory at the beginning of a text in double quotes.
func quoted(dir string) string {
	if strings.ContainsAny(dir, "\"$`\\!") {
		return script.Quote(dir) + `"`
	}
	return `"` + dir
}

// besides is the directory that the running program belongs to.
func besides() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	if physical, err := filepath.EvalSymlinks(exe); err == nil {
		exe = physical
	}
	dir := filepath.Dir(exe)
	if filepath.Base(dir) == "bin" {
		return filepath.Dir(dir)
	}
	return dir
}

// treeOf is the SDK of an installation, "" where it has none on disk.
func treeOf(dir string) string {
	file := filepath.Join(dir, "sdk", "tool-sdk.sh")
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return file
}

// locate finds a program of the installation, "" for none.
func (e *examination) locate(name string) string {
	for _, dir := range []string{filepath.Join(e.r.Framework.Path, "bin"), e.r.Framework.Path} {
		if file := script.LookPath(name, dir); file != "" {
			return file
		}
	}
	return ""
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, errOther := os.Stat(b)
	return err == nil && errOther == nil && os.SameFile(one, other)
}

// programName is a program's file name on this system.
func programName(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
