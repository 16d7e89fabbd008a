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
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/semver"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/text/shell"
)

//go:embed rules.txt
var rulesText string

// Rules are the checks of doctor.
var Rules = sync.OnceValue(func() finding.Rules { return finding.ParseRules(rulesText) })

// Options are the options of doctor.
type Options struct {
	Env            project.Env
	Placeholders   []string // the variables that are left out of Env
	Dir            string   // the working directory
	DryRun, Fix    bool
	MinVersion     string
	Archive        string
	Verify         string
	Ref            string
	AllowDowngrade bool
	Kernel         *confine.Kernel        // the features that confine scripts; nil: those of the running kernel
	Found          func(*finding.Finding) // called with each finding at once, or with Fix at the end; may be nil
}

// A Result lists the findings and the actions. Its fields are in the order of the JSON.
type Result struct {
	SchemaVersion int               `json:"schemaVersion"`
	ExitCode      int               `json:"exitCode"`
	Findings      []finding.Finding `json:"findings"`
	Proposed      []Action          `json:"proposedActions"`
	Taken         []Action          `json:"actionsTaken"`
	Framework     Framework         `json:"framework"`
	Runtime       Runtime           `json:"runtime"`
	Install       Install           `json:"install"`
	Shim          *Shim             `json:"shim"` // the first of Shims
	MacOS         MacOS             `json:"macOS"`
	Windows       Windows           `json:"windows"`
	Project       Project           `json:"project"`
	EnvPolicy     json.RawMessage   `json:"envPolicy"` // of Project.ScriptEnv, or nil
	Errors        int               `json:"errors"`
	Warnings      int               `json:"warnings"`
	Binaries      []Binary          `json:"binaries"`
	SDK           SDK               `json:"sdk"`
	Shims         []Shim            `json:"shims"` // one for each program, first for mcp-bash

	fixing bool // whether DryRun or Fix was set
}

// An Action is a change that doctor made, or would make.
type Action struct {
	ID      string  `json:"id"`
	Message string  `json:"message"`
	Command *string `json:"command"`          // an equivalent shell command, or nil
	Line    string  `json:"-"`                // the action in the text report, with its mark
	Output  string  `json:"output,omitempty"` // the output of install.sh, or ""
}

// Framework describes the installation.
type Framework struct {
	Path           string `json:"path"`
	Exists         bool   `json:"exists"`
	Version        string `json:"version"` // "" if there is no file VERSION
	PathConfigured bool   `json:"pathConfigured"`
	program        string // the path of mcp-bash in the installation
}

// InvalidMinimum is the message for an invalid --min-version.
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
	quarantined func(file string) (is, known bool) // macOS marks it as downloaded; known: the mark could be read
}

// Examine checks the installation. With Fix, it also repairs it.
func Examine(ctx context.Context, o Options) *Result {
	return examine(ctx, o, host{runtime.GOOS, quarantined})
}

func examine(ctx context.Context, o Options, on host) *Result {
	e := &examination{
		ctx: ctx, o: o, on: on, runner: new(script.Runner), version: cli.Version,
		r: &Result{fixing: o.DryRun || o.Fix, Proposed: []Action{}, Taken: []Action{}},
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
		SchemaVersion: 1, Findings: []finding.Finding{}, fixing: e.r.fixing, Proposed: e.r.Proposed, Taken: e.r.Taken,
		Framework: Framework{Path: e.r.Framework.Path},
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

// add adds a finding of a rule. command is a shell command that fixes the problem, or "".
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
	case f.Path != "": // found before a fix, which replaces this program
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
		f.Version = cli.Version // the program contains everything
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

// quoted returns a directory as the beginning of a quoted shell word.
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

// Runtime describes the requirements of scripts.
type Runtime struct {
	BashVersion     string          `json:"bashVersion"`
	JQPath          string          `json:"jqPath"`
	GoJQPath        string          `json:"gojqPath"`
	JSONTool        string          `json:"jsonTool"`
	TmpRoot         string          `json:"tmpRoot"`
	TmpRootWritable bool            `json:"tmpRootWritable"`
	BashPath        string          `json:"bashPath"`
	BashOK          bool            `json:"bashOk"`
	BuiltinJSON     bool            `json:"builtinJson"` // whether scripts get our program
	Confine         json.RawMessage `json:"confine"`     // of Kernel
	Kernel          confine.Kernel  `json:"-"`           // the features that confine scripts
	ShellCheck      string          `json:"-"`
	NPX             string          `json:"-"`
}

// A Binary is a program of the installation.
type Binary struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Version string `json:"version"`
	Agrees  bool   `json:"agrees"` // whether the program belongs to this release
}

// SDK describes the SDK that tools source.
type SDK struct {
	Path    string `json:"path"`
	Exists  bool   `json:"exists"`
	Version string `json:"version"`
	Agrees  bool   `json:"agrees"`
}

// MacOS describes the checks on macOS. A file is nil if its quarantine could not be seen.
type MacOS struct {
	Detected  bool  `json:"detected"`
	Supported bool  `json:"quarantineCheckSupported"`
	Framework *bool `json:"frameworkQuarantined"`
	Project   *bool `json:"projectQuarantined"`
}

// Windows describes the checks on Windows.
type Windows struct {
	MSYS bool   `json:"msysDetected"`
	Hint string `json:"hint"`
}

const askTime = 5 * time.Second

// ask runs a program and returns the first line that it prints.
func (e *examination) ask(argv ...string) (line string, ok bool) {
	res := e.runner.Run(e.ctx, script.Spec{
		Argv: argv, Env: e.o.Env.Entries(), Timeout: askTime, StdoutLimit: 4096, StderrLimit: 4096,
	})
	line, _, _ = strings.Cut(string(res.Stdout), "\n")
	return line, res.Status == 0 && res.Cause == nil
}

func (e *examination) machine() {
	m, env := &e.r.Runtime, e.o.Env
	m.BashPath = script.LookPath("bash", env["PATH"])
	if m.BashPath == "" {
		e.add("runtime.bash_missing", "bash not found on PATH: no tool written in it can run", "")
	} else {
		m.BashVersion, _ = e.ask(m.BashPath, "--norc", "-c", `printf '%s\n' "$BASH_VERSION"`)
		if m.BashOK = !older(m.BashVersion, "3.2"); !m.BashOK {
			e.add("runtime.bash_too_old", fmt.Sprintf("Bash version: %s (>= 3.2 required)", m.BashVersion), "")
		}
	}
	m.JQPath, m.GoJQPath = script.LookPath("jq", env["PATH"]), script.LookPath("gojq", env["PATH"])
	p := project.Project{Env: env}
	tool := p.JSONTool("", func(string) {})
	m.JSONTool, m.BuiltinJSON = tool.Name, tool.Bin == ""
	if env["MCPBASH_JSON_TOOL"] == "none" {
		m.JSONTool, m.BuiltinJSON = "none", false
	}
	if m.JQPath == "" && m.GoJQPath == "" {
		e.add("runtime.json_tool_missing", "jq/gojq not installed (scripts are given ours)", "")
	}
	if m.GoJQPath == "" {
		e.add("optional.gojq_missing", "gojq not installed (optional, faster than jq)", "")
	}
	if m.Kernel = confine.Offered(); e.o.Kernel != nil {
		m.Kernel = *e.o.Kernel
	}
	m.Confine = sandbox.KernelReport(m.Kernel)
	if lacks := m.Kernel.Lacks(&confine.Profile{}); len(lacks) > 0 {
		e.add("runtime.confine_lacks", "scripts are not confined to: "+strings.Join(lacks, ", "), "")
	}
	m.TmpRoot = env["MCPBASH_TMP_ROOT"]
	m.TmpRootWritable = m.TmpRoot != "" && project.IsWritable(m.TmpRoot)
	switch {
	case m.TmpRoot == "":
		e.add("runtime.tmp_root_unset", "MCPBASH_TMP_ROOT not set (using system TMPDIR)", "")
	case !m.TmpRootWritable:
		e.add("runtime.tmp_root_not_writable", "TMP root not writable: "+m.TmpRoot, "")
	}
	if m.ShellCheck = script.LookPath("shellcheck", env["PATH"]); m.ShellCheck == "" {
		e.add("optional.shellcheck_missing", "shellcheck: not found (for validation)", "")
	}
	if m.NPX = script.LookPath("npx", env["PATH"]); m.NPX == "" {
		e.add("optional.npx_missing", "npx: not found (for MCP Inspector)", "")
	}
}

// programs checks that all programs and the SDK exist and belong to one release.
func (e *examination) programs() {
	var missing []string
	for _, name := range cli.Programs {
		b := Binary{Name: name, Path: e.locate(name)}
		if b.Path == "" {
			missing = append(missing, name)
			e.r.Binaries = append(e.r.Binaries, b)
			continue
		}
		line, ok := e.ask(b.Path, "--version")
		b.Version = strings.TrimPrefix(line, name+" ")
		if b.Agrees = ok && b.Version == e.version; !b.Agrees {
			message := fmt.Sprintf("%s is of version %s, not %s", b.Path, cmp.Or(b.Version, "(unknown)"), e.version)
			e.add("binaries.version_mismatch", message, "")
		}
		e.r.Binaries = append(e.r.Binaries, b)
	}
	if missing != nil && e.r.Framework.Exists {
		e.add("binaries.missing", fmt.Sprintf("not in this installation: %s", strings.Join(missing, ", ")), "")
	}
	e.sdk()
}

func (e *examination) sdk() {
	s := &e.r.SDK
	s.Path = filepath.Join(e.r.Framework.Path, "sdk", "tool-sdk.sh")
	if s.Exists = treeOf(e.r.Framework.Path) != ""; !s.Exists {
		if e.o.Env["MCPBASH_HOME"] != "" || isInstalled(e.r.Framework.Path) {
			e.add("sdk.missing", "no "+s.Path+": scripts are given the copy in the programs", "")
		}
		return
	}
	s.Version = e.r.Framework.Version
	if s.Agrees = s.Version == e.version; !s.Agrees {
		dir, version := filepath.Dir(s.Path), cmp.Or(s.Version, "(unknown)")
		e.add("sdk.version_mismatch", fmt.Sprintf("the SDK in %s is of version %s, not %s", dir, version, e.version), "")
	}
}

// isInstalled reports whether install.sh made an installation. Then it has an SDK.
func isInstalled(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, project.InstallerFile))
	return err == nil
}

func (e *examination) system() {
	m, w := &e.r.MacOS, &e.r.Windows
	if m.Detected = e.on.os == "darwin"; m.Detected {
		m.Supported = true
		m.Framework = e.quarantined("macos.framework_quarantined", e.r.Framework.program, e.r.Framework.Path)
	}
	if w.MSYS = e.on.os == "windows" && e.o.Env["MSYSTEM"] != ""; w.MSYS {
		w.Hint = "MSYS/Cygwin: set MCPBASH_TMP_ROOT to a short path, and call programs with Windows paths"
		e.add("windows.msys_detected", w.Hint, "")
	}
}

// quarantined reports whether macOS has marked a file of a directory as downloaded, or nil if that is unknown.
func (e *examination) quarantined(id, file, dir string) *bool {
	is, known := e.on.quarantined(file)
	if is {
		e.add(id, "macOS keeps "+file+" in quarantine", "xattr -dr com.apple.quarantine "+shell.Quote(dir))
	}
	if !known {
		return nil
	}
	return &is
}

// older reports whether a version is below another one. Only their first three numbers count,
// and missing ones are 0.
func older(version, than string) bool { return semver.Compare(numbers(version), numbers(than)) < 0 }

// numbers returns the numbers at the beginning of a version, as in "v5.2.15".
func numbers(version string) string {
	version = strings.TrimPrefix(version, "v")
	return "v" + version[:len(version)-len(strings.TrimLeft(version, "0123456789."))]
}
