package doctor

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/shell"
)

// Runtime describes the requirements of scripts.
type Runtime struct {
	BashPath, BashVersion string
	BashOK                bool
	JQPath, GoJQPath      string
	JSONTool              string
	BuiltinJSON           bool // whether scripts get our program
	TmpRoot               string
	TmpRootWritable       bool
	ShellCheck, NPX       string
	Kernel                confine.Kernel // the features that confine scripts
}

// A Binary is a program of the installation.
type Binary struct {
	Name, Path, Version string
	Agrees              bool // whether it belongs to this release
}

// SDK describes the SDK that tools source.
type SDK struct {
	Path, Version  string
	Exists, Agrees bool
}

// MacOS describes the checks on macOS.
type MacOS struct {
	Detected              bool
	Framework, Project    bool // quarantined
	KnownFramework, Known bool // whether that could be seen
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

// programs checks that all programs and the SDK exist and belong to one release (P-103).
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
	e.r.MacOS.Detected = e.on.os == "darwin"
	if e.r.MacOS.Detected {
		e.r.MacOS.Framework, e.r.MacOS.KnownFramework = e.on.quarantined(e.r.Framework.program)
		if e.r.MacOS.Framework {
			e.add("macos.framework_quarantined", "macOS keeps "+e.r.Framework.program+" in quarantine",
				"xattr -dr com.apple.quarantine "+shell.Quote(e.r.Framework.Path))
		}
	}
	if e.r.MSYS = e.on.os == "windows" && e.o.Env["MSYSTEM"] != ""; e.r.MSYS {
		e.add("windows.msys_detected", msysHint, "")
	}
}

const msysHint = "MSYS/Cygwin: set MCPBASH_TMP_ROOT to a short path, and call programs with Windows paths"

// older reports whether a version is below another one. Only their first three numbers count,
// and missing ones are 0.
func older(version, than string) bool { return semver.Compare(numbers(version), numbers(than)) < 0 }

// numbers returns the numbers at the beginning of a version, as in "v5.2.15".
func numbers(version string) string {
	version = strings.TrimPrefix(version, "v")
	return "v" + version[:len(version)-len(strings.TrimLeft(version, "0123456789."))]
}
