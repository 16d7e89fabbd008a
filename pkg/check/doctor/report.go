package doctor

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/scriptenv"
)

// A report writes the text report. It contains the findings of the JSON, by section.
type report struct {
	w     io.Writer
	r     *Result
	shown map[*finding.Finding]bool
}

// Report writes the result for people.
func (r *Result) Report(w io.Writer) {
	t := &report{w, r, map[*finding.Finding]bool{}}
	fmt.Fprint(w, "mcp-bash Environment Check\n==========================\n")
	t.framework()
	t.runtime()
	t.install()
	t.system()
	t.project()
	t.optional()
	t.actions()
	t.summary()
}

func (t *report) title(text string) { cli.Explain(t.w, "\n%s:\n", text) }

// good writes a line for a check that passed.
func (t *report) good(passed bool, format string, args ...any) {
	if passed {
		cli.Sign(t.w, "  ", cli.Green, "✓", fmt.Sprintf(format, args...))
	}
}

func (t *report) warn(format string, args ...any) {
	cli.Sign(t.w, "  ", cli.Yellow, "⚠", fmt.Sprintf(format, args...))
}

// found writes the findings of some rules and reports whether there were any.
func (t *report) found(ids ...string) (any bool) {
	for i := range t.r.Findings {
		f := &t.r.Findings[i]
		if !slices.Contains(ids, f.ID) || t.shown[f] {
			continue
		}
		t.shown[f], any = true, true
		text := f.Message
		if f.ID == "path.not_configured" {
			text = "PATH not configured"
		}
		if f.Command != "" {
			text += " (run: " + f.Command + ")"
		}
		cli.Sign(t.w, "  ", f.Color(), f.Mark(), text)
	}
	return any
}

func (t *report) framework() {
	f := &t.r.Framework
	t.title("Framework")
	if t.found("framework.missing") {
		return
	}
	t.good(true, "Location: %s", f.Path)
	t.good(f.Version != "", "Version: %s", f.Version)
	any := t.found("framework.version_missing", "framework.version_too_old", "path.not_configured", "path.shadowed")
	t.good(!any || f.PathConfigured, "PATH configured correctly")
	for _, b := range t.r.Binaries {
		t.good(b.Agrees, "%s: %s", b.Name, b.Path)
	}
	t.found("binaries.missing", "binaries.version_mismatch")
	t.good(t.r.SDK.Agrees, "SDK: %s", t.r.SDK.Path)
	t.found("sdk.missing", "sdk.version_mismatch")
}

func (t *report) runtime() {
	m := &t.r.Runtime
	t.title("Runtime")
	t.good(m.BashOK, "Bash version: %s (>= 3.2 required)", m.BashVersion)
	t.found("runtime.bash_missing", "runtime.bash_too_old")
	t.good(m.JQPath != "", "jq installed: %s", m.JQPath)
	t.good(m.GoJQPath != "", "gojq installed: %s", m.GoJQPath)
	t.found("runtime.json_tool_missing", "optional.gojq_missing")
	t.good(m.TmpRootWritable, "TMP root writable: %s", m.TmpRoot)
	t.good(m.Kernel.ABI > 0 && m.Kernel.Lacks(&confine.Profile{}) == nil,
		"Tools are confined to their declarations: Landlock ABI %d, seccomp", m.Kernel.ABI)
	t.found("runtime.confine_lacks", "runtime.tmp_root_unset", "runtime.tmp_root_not_writable", "env.unknown")
}

func (t *report) install() {
	i := &t.r.Install
	t.title("Install management")
	if t.found("install.home_unset") {
		return
	}
	cli.Explain(t.w, "  Managed root: %s\n", i.ManagedRoot)
	if i.Managed {
		t.good(true, "Managed install: yes (marker: %s)", i.MarkerPath)
	} else {
		cli.Explain(t.w, "  • Managed install: no (%s)\n", i.Reason)
	}
	for n, s := range t.r.Shims {
		if n > 0 && (!i.Managed || s.Status == "ok") {
			continue
		}
		cli.Explain(t.w, "  Shim: %s\n", s.Path)
		if s.Status == "ok" {
			t.good(true, "Shim ok (symlink)")
		} else {
			text := cli.Sprintf("Shim status: %s", s.Status)
			if i.Managed {
				t.warn("%s", text)
			} else { // only a managed installation has links
				cli.Explain(t.w, "  • %s\n", text)
			}
		}
	}
}

func (t *report) system() {
	if t.r.MacOS.Detected {
		t.title("macOS checks")
		t.good(!t.found("macos.framework_quarantined", "macos.project_quarantined"), "not in quarantine")
	}
	if t.r.Windows.MSYS {
		t.title("Windows/MSYS guidance")
		t.found("windows.msys_detected")
	}
}

func (t *report) project() {
	p := &t.r.Project
	t.title("Project (if in project directory)")
	if p.Root == "" {
		cli.Explain(t.w, "  (no project detected in current directory)\n")
		return
	}
	t.good(true, "Project root: %s", p.Root)
	t.good(p.ServerMeta != nil && *p.ServerMeta, "%s: valid", p.serverMeta)
	t.found("project.server_meta_invalid")
	t.good(true, "Tools found: %d", p.Tools)
	t.good(p.RegistryExists, "Registry: .registry/ exists")
	t.found("project.registry_missing", "project.register_permissions", "project.policy_hook_replaces_default",
		"project.requirements_invalid", "deps.missing", "project.validate_errors",
		"project.vendor_modified", "project.vendor_outdated")
	t.scriptEnv(p.ScriptEnv)
}

// scriptEnv shows which variables scripts get.
func (t *report) scriptEnv(r *scriptenv.Report) {
	t.title("Tool/provider environment policy (in this shell)")
	for _, line := range r.Lines() {
		switch {
		case line.Fault != "":
			t.warn("%s", line.Text)
		case line.Here:
			cli.Explain(t.w, "  - %s\n", line.Text)
		default:
			t.good(true, "%s", line.Text)
		}
	}
	if len(r.Policy.Applied) > 0 {
		cli.Explain(t.w,
			"  In bundles, a login profile that exports MCPBASH_*_ENV_* variables goes before server.meta.json.\n")
	}
}

func (t *report) optional() {
	m := &t.r.Runtime
	t.title("Optional dependencies")
	t.good(m.ShellCheck != "", "shellcheck: %s (for validation)", m.ShellCheck)
	t.good(m.NPX != "", "npx: %s (for MCP Inspector)", m.NPX)
	t.found("optional.shellcheck_missing", "optional.npx_missing")
}

func (t *report) actions() {
	if !t.r.fixing {
		return
	}
	t.title("Actions")
	none := true
	for _, a := range slices.Concat(t.r.Proposed, t.r.Taken) {
		none = false
		cli.Explain(t.w, "  %s\n", a.Line)
		for line := range strings.Lines(a.Output) {
			cli.Explain(t.w, "    %s\n", strings.TrimSpace(line))
		}
	}
	if none {
		fmt.Fprintln(t.w, "  (no actions)")
	}
}

func (t *report) summary() {
	fmt.Fprintln(t.w)
	warnings := t.r.Warnings
	switch {
	case t.r.Errors > 0:
		fmt.Fprintf(t.w, "%d error(s), %d warning(s) found.\n\n", t.r.Errors, warnings)
		cli.Explain(t.w, "Tip: mcp-bash validate checks a project; mcp-bash explain ID explains a finding.\n")
	case t.r.ExitCode != cli.ExitOK:
		cli.Explain(t.w, "Checks passed, but nothing was fixed: see the actions above.\n")
	case warnings > 0:
		cli.Explain(t.w, "Checks passed with %d warning(s). Review the notes above before production use.\n", warnings)
	default:
		cli.Explain(t.w, "All checks passed! Ready to build MCP servers.\n")
	}
}
