// Package doctor checks an installation: the programs, their requirements on this machine, and
// the current project. It fixes installations that install.sh manages (cli chapter 11).
//
// [Examine] returns a [Result], which writes itself as a report or as JSON. Each problem has an id
// of rules.txt. An [Action] is a step of --fix.
package doctor

import (
	"cmp"
	"context"
	_ "embed" // for rulesText
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/shell"
)

//go:embed rules.txt
var rulesText string

// Rules are the checks of doctor (CLI-1106, CLI-1107).
var Rules = sync.OnceValue(func() finding.Rules { return finding.ParseRules(rulesText) })

// Options are the options of doctor (CLI-1101).
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
	Kernel         *confine.Kernel        // the features that confine scripts; nil: those of the running kernel
	Found          func(*finding.Finding) // gets each finding as it is found, or with Fix at the end; nil: nobody does
}

// A Result lists the findings and the actions.
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

// An Action is a change that doctor made, or would make.
type Action struct {
	ID, Message string
	Command     string // an equivalent shell command, or ""
	Line        string // the action in the text report, with its mark
	Output      string // the output of install.sh, or ""
}

// Framework describes the installation.
type Framework struct {
	Path           string
	Exists         bool
	Version        string // "" where it has no VERSION
	PathConfigured bool
	program        string // mcp-bash in it
}

// InvalidMinimum is the message for an invalid --min-version (CLI-1103).
const InvalidMinimum = "--min-version requires a value like 0.8.1"

type examination struct {
	ctx    context.Context
	o      Options
	on     host
	r      *Result
	runner *script.Runner

	version string // the version that the installation should have
}

// A host describes features that only some systems have.
type host struct {
	os          string                             // as runtime.GOOS
	quarantined func(file string) (is, known bool) // macOS marks it as downloaded; known: that could be seen
}

// Examine checks the installation. With Fix, it also repairs it.
func Examine(ctx context.Context, o Options) *Result {
	return examine(ctx, o, host{runtime.GOOS, quarantined})
}

func examine(ctx context.Context, o Options, on host) *Result {
	e := &examination{
		ctx: ctx, o: o, on: on, r: &Result{fixing: o.DryRun || o.Fix}, runner: new(script.Runner), version: cli.Version,
	}
	e.inspect()
	if (o.DryRun || o.Fix) && e.r.ExitCode == cli.ExitOK {
		e.fix()
	}
	if e.r.ExitCode == cli.ExitOK && e.r.Errors > 0 {
		e.r.ExitCode = cli.ExitFailed
	}
	if o.Fix && o.Found != nil {
		for i := range e.r.Findings {
			o.Found(&e.r.Findings[i])
		}
	}
	return e.r
}

// inspect makes the findings. Actions change the installation, so they are followed by another inspection.
func (e *examination) inspect() {
	*e.r = Result{
		fixing: e.r.fixing, Proposed: e.r.Proposed, Taken: e.r.Taken, Framework: Framework{Path: e.r.Framework.Path},
	}
	e.framework()
	e.machine()
	e.programs()
	e.managed()
	e.shims()
	e.system()
	e.project()
	e.unknown()
	if e.o.MinVersion != "" && !requirements.IsVersion(e.o.MinVersion) {
		e.add("doctor.min_version_invalid", InvalidMinimum, "")
		e.r.ExitCode = cli.ExitUsage
		return
	}
	e.minimum()
}

// add adds a finding of a rule. command fixes it; "" if there is no such command.
func (e *examination) add(id, message, command string) {
	rule := Rules().Find(id)
	f := finding.Finding{ID: id, Severity: rule.Severity, Message: message, Fix: rule.Fix, Command: command}
	f.Fixable = id == "shim.status" && e.r.Install.Managed || id == "framework.version_too_old" && e.r.Install.Managed
	if id == "shim.status" && !e.r.Install.Managed { // other installations need no links
		f.Severity = finding.Info
	}
	switch f.Severity {
	case finding.Error:
		e.r.Errors++
	case finding.Warning:
		e.r.Warnings++
	}
	e.r.Findings = append(e.r.Findings, f)
	if e.o.Found != nil && !e.o.Fix {
		e.o.Found(&f)
	}
}

// framework finds the installation, and checks that PATH leads to it.
func (e *examination) framework() {
	f := &e.r.Framework
	switch home := e.o.Env["MCPBASH_HOME"]; {
	case f.Path != "": // the program of an installation that was replaced has no path
	case home != "":
		f.Path, _ = filepath.Abs(home)
	default:
		if f.Path = project.InstalledHome(e.o.Env); f.Path == "" {
			f.Path = ownHome()
		}
	}
	f.Path = project.Lasting(f.Path)
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
	f.PathConfigured = found != "" && fsys.Same(found, f.program)
	program := cmp.Or(f.program, filepath.Join(f.Path, "bin", programName("mcp-bash")))
	command := "export PATH=" + quoted(filepath.Dir(program)) + `:$PATH"`
	switch {
	case f.PathConfigured:
	case found == "":
		e.add("path.not_configured", "PATH does not resolve mcp-bash to "+program, command)
	default:
		e.add("path.shadowed", "another mcp-bash comes first on PATH: "+found, command)
	}
}

// quoted returns a directory as the beginning of a text in double quotes.
func quoted(dir string) string {
	if strings.ContainsAny(dir, "\"$`\\!") {
		return shell.Quote(dir) + `"`
	}
	return `"` + dir
}

func ownHome() string {
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

// treeOf returns the path of the SDK in an installation, or "".
func treeOf(dir string) string {
	file := filepath.Join(dir, "sdk", "tool-sdk.sh")
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return file
}

func (e *examination) locate(name string) string {
	for _, dir := range []string{filepath.Join(e.r.Framework.Path, "bin"), e.r.Framework.Path} {
		if file := script.LookPath(name, dir); file != "" {
			return file
		}
	}
	return ""
}

func programName(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}
