package project

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
)

// Env is an environment. The programs read their settings from an Env and not from the process, so that tests and
// server.d/env.sh can change them.
type Env map[string]string

// TemplateName and TemplateVars are variables for providers. They describe the template that a URI matches.
const (
	TemplateName = "MCP_RESOURCE_TEMPLATE_NAME"
	TemplateVars = "MCP_RESOURCE_TEMPLATE_VARS"
)

// OSEnv returns the environment of this process, without its [Placeholders]. It also drops the values of a template,
// because they come from another process.
func OSEnv() Env {
	env := parseEnv(os.Environ())
	maps.DeleteFunc(env, func(_, value string) bool { return scriptenv.IsPlaceholder(value) })
	delete(env, TemplateName)
	delete(env, TemplateVars)
	completeEnv(env)
	for v := range settings.Paths() {
		if path, err := fsys.Named(env[v.Name], env["HOME"]); err == nil && env[v.Name] != "" {
			env[v.Name] = path
		}
	}
	return env
}

// checkPaths returns an error if the value of a path setting is not a path.
func (e Env) checkPaths() error {
	for v := range settings.Paths() {
		if _, err := fsys.Named(e[v.Name], e["HOME"]); err != nil {
			return cli.Baref(cli.CodeInvalid, "mcp-bash: %s: %v", v.Name, err)
		}
	}
	return nil
}

// Placeholders returns the sorted names of this process's variables whose value is a placeholder of a bundle. Clients
// leave a placeholder if their user left an option empty.
func Placeholders() (names []string) {
	for name, value := range parseEnv(os.Environ()) {
		if scriptenv.IsPlaceholder(value) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// parseEnv parses "NAME=value" entries. The last value of a repeated name takes precedence.
func parseEnv(entries []string) Env {
	env := make(Env, len(entries))
	for _, e := range entries {
		if name, value, ok := strings.Cut(e, "="); ok && name != "" {
			env[name] = value
		}
	}
	return env
}

// Entries returns the sorted "NAME=value" entries for a child process, without secrets.
func (e Env) Entries() []string { return e.entries(scriptenv.IsWithheld) }

// ScriptEntries is [Env.Entries] for an environment of [Project.ToolBase] or [Project.ProviderBase]. It keeps
// MCP_REGISTRY_TOKEN, which is only there if a list names it.
func (e Env) ScriptEntries() []string { return e.entries(scriptenv.IsRemoteToken) }

func (e Env) entries(without func(name string) bool) []string {
	list := make([]string, 0, len(e))
	for name, value := range e {
		if !without(name) {
			list = append(list, name+"="+value)
		}
	}
	slices.Sort(list)
	return list
}

// Override returns a copy of the entries of an environment, with another value of one variable.
func Override(env []string, name, value string) []string {
	list := make([]string, 0, len(env)+1)
	for _, e := range env {
		if !strings.HasPrefix(e, name) || !strings.HasPrefix(e[len(name):], "=") {
			list = append(list, e)
		}
	}
	return append(list, name+"="+value)
}

// SetTemp sets the directory for temporary files in an environment, which it changes. TMP and TEMP follow TMPDIR where
// they are set.
func SetTemp(env []string, dir string) []string {
	found := false
	for i, e := range env {
		switch name, _, _ := strings.Cut(e, "="); name {
		case "TMPDIR", "TMP", "TEMP":
			env[i] = name + "=" + dir
			found = found || name == "TMPDIR"
		}
	}
	if !found {
		env = append(env, "TMPDIR="+dir)
	}
	return env
}

// Clone returns a copy.
func (e Env) Clone() Env { return maps.Clone(e) }

// Default sets a variable if it is unset or empty.
func (e Env) Default(name, value string) {
	e[name] = cmp.Or(e[name], value)
}

// utf8Locale is the locale with the rules of C and characters in UTF-8.
const utf8Locale = "C.UTF-8"

// defaultLocale returns the locale of scripts that do not inherit one. It is C.UTF-8 if the system has that, and
// otherwise C. Bash would print a warning for a locale that the system lacks. The C library of Alpine (musl) needs no
// file for it.
var defaultLocale = sync.OnceValue(func() string {
	return localeIn("/")
})

func localeIn(root string) string {
	for _, name := range []string{
		"usr/lib/locale/C.utf8", "usr/lib/locale/C.UTF-8", "usr/share/locale/C.UTF-8", "lib/ld-musl-*.so.1",
	} {
		if found, _ := filepath.Glob(filepath.Join(root, name)); len(found) > 0 {
			if _, err := os.Stat(found[0]); err == nil {
				return utf8Locale
			}
		}
	}
	return "C"
}

// maxMetaValue limits values of the server metadata for scripts, in bytes. Scripts get longer values empty.
const maxMetaValue = 65536

// Common returns the variables that every script gets: paths, the JSON program, and the server's metadata. All are
// always set, because scripts may use set -u.
func (p *Project) Common(home, helper string, tool JSONTool) Env {
	m := &p.Meta
	env := Env{
		"MCPBASH_HOME":              home,
		"MCP_SDK":                   home + "/sdk",
		"MCPBASH_HELPER_BIN":        helper,
		"MCPBASH_JSON_TOOL":         tool.Name,
		"MCPBASH_JSON_TOOL_BIN":     tool.Bin,
		"MCPBASH_MODE":              "full",
		"MCPBASH_PROJECT_ROOT":      p.Root,
		"MCPBASH_FRAMEWORK_VERSION": cli.Version,
		"MCPBASH_TRANSPORT":         "stdio",
		"MCPBASH_TRANSPORT_STDIO":   "true",
		"MCPBASH_SERVER_ARGS_JSON":  "[]",
	}
	for name, value := range map[string]string{
		"MCPBASH_SERVER_NAME": m.Name, "MCPBASH_SERVER_VERSION": m.Version, "MCPBASH_SERVER_TITLE": m.Title,
		"MCPBASH_SERVER_DESCRIPTION": m.Description, "MCPBASH_SERVER_WEBSITE_URL": m.WebsiteURL,
		"MCPBASH_SERVER_ICONS": string(m.Icons), "MCPBASH_SERVER_INSTRUCTIONS": m.Instructions,
	} {
		if len(value) > maxMetaValue {
			value = ""
		}
		env[name] = value
	}
	if p.Logging.LevelSet {
		env["MCPBASH_LOG_LEVEL"] = p.Logging.Level.String()
	}
	return env
}

// ToolBase returns the variables that a tool inherits under a rule.
func (p *Project) ToolBase(rule *scriptenv.Rule) Env {
	base := p.inherited(rule, nil)
	if !rule.Inherits() {
		if bash := script.LookPath("bash", base["PATH"]); bash != "" {
			base.Default("SHELL", bash) // otherwise Bash asks the user database at every start
		}
	}
	return base
}

// inherited returns the variables that a script inherits under a rule, and those that also names. It removes carriage
// returns at the end of values.
func (p *Project) inherited(rule *scriptenv.Rule, also []string) Env {
	base := make(Env)
	for name, value := range p.Scripts.Environ(p.Env) {
		if rule.Passes(name) || scriptenv.Matches(also, name) {
			base[name] = strings.TrimRight(value, "\r")
		}
	}
	if !rule.Inherits() {
		base.Default("PATH", "/usr/bin:/bin")
		base.Default("HOME", p.Root)
		base.Default("TMPDIR", "/tmp")
		base.Default("LANG", defaultLocale())
	}
	return base
}

// ForHooks returns the environment of policy.sh and register.sh. It has all variables of the server except secrets, the
// variables of every script, and the directories.
func (p *Project) ForHooks(common Env, state string) Env {
	env := make(Env, len(p.Env)+len(common)+7)
	for name, value := range p.Scripts.Environ(p.Env) {
		if !scriptenv.IsWithheld(name) {
			env[name] = value
		}
	}
	maps.Copy(env, common)
	env["MCPBASH_TOOLS_DIR"] = p.Tools
	env["MCPBASH_RESOURCES_DIR"] = p.Resources
	env["MCPBASH_PROMPTS_DIR"] = p.Prompts
	env["MCPBASH_SERVER_DIR"] = p.Server
	env["MCPBASH_REGISTRY_DIR"] = p.Registry
	env["MCPBASH_STATE_DIR"] = state
	env["MCPBASH_TOOL_POLICY_CONTEXT"] = p.Calls.PolicyContext
	return env
}

// ProviderBase returns the common environment of resource providers and completion scripts. They inherit variables by
// the rule of their scope, and get the variables of every script. also are further names to inherit, in the form of
// [scriptenv.Matches].
func (p *Project) ProviderBase(common Env, also ...string) Env {
	base := p.inherited(&p.Scripts.Providers, also)
	if !p.Scripts.Providers.Inherits() {
		base.Default("TMP", base["TMPDIR"])
		base.Default("TEMP", base["TMPDIR"])
		base.Default("LC_ALL", base["LANG"])
	}
	maps.Copy(base, common)
	base["MCPBASH_RESOURCES_DIR"] = p.Resources
	base["MCPBASH_PROMPTS_DIR"] = p.Prompts
	return base
}

// dumping makes a shell print its variables when it ends. "E name=value" is an exported variable. "U name=value" is
// another variable that MCPBASH_TOOL_ENV_ALLOWLIST or server.meta.json names. A NUL ends each of them. The output of
// the evaluated files is discarded. The code runs in Bash 3.2.
const dumping = `
__mcp_dump() {
  __mcp_rc=$?
  exec 1>&3 3>&-
  for __mcp_n in $(compgen -e); do
    case "$__mcp_n" in __mcp_*|_|SHLVL|PWD|OLDPWD|BASHOPTS|SHELLOPTS) continue ;; esac
    printf 'E %s=%s\0' "$__mcp_n" "${!__mcp_n}"
  done
  IFS=$', \t\n'
  set -f
  for __mcp_n in ${MCPBASH_TOOL_ENV_ALLOWLIST-} ${__mcp_listed-}; do
    [[ "$__mcp_n" =~ ^[A-Za-z_][A-Za-z0-9_]*$ && -n "${!__mcp_n-}" ]] || continue
    printf 'U %s=%s\0' "$__mcp_n" "${!__mcp_n}"
  done
  printf 'D %s\0' "$__mcp_rc"
}
trap __mcp_dump EXIT
exec 3>&1 >/dev/null
`

// sourcing evaluates files that must not fail. profiling evaluates a file that may fail.
const (
	sourcing = dumping + `for __mcp_f in "$@"; do
  source "$__mcp_f" || {
    __mcp_s=$?
    [[ -z $("$BASH" -n "$__mcp_f" 2>&1) ]] || printf 'S %s\0' "$__mcp_f" >&3
    exit "$__mcp_s"
  }
done
`
	profiling = dumping + `source "$1" || true` + "\n"
)

// A SourceError means that a shell file failed.
type SourceError struct {
	Status int
	Stderr string
	Syntax string // the file with a syntax error, or ""
}

func (e *SourceError) Error() string { return fmt.Sprintf("failed (exit %d)", e.Status) }

// maxSourced limits the resulting environment, and the output on standard error, in bytes.
const maxSourced = 16 << 20

// Source evaluates shell files in order, in one Bash process in the project's root. It returns the resulting
// environment, and the output on standard error. MCPBASH_ENV_TIMEOUT limits the time. If a file fails, the error is
// a [*SourceError].
func (p *Project) Source(ctx context.Context, r *script.Runner,
	files ...code.File) (result Env, stderr string, err error) {
	return p.source(ctx, r, sourcing, files...)
}

// SourceProfile is [Project.Source] for a login profile, which may fail. It keeps changes from before the failure.
func (p *Project) SourceProfile(ctx context.Context, r *script.Runner,
	file code.File) (result Env, stderr string, err error) {
	return p.source(ctx, r, profiling, file)
}

func (p *Project) source(ctx context.Context, r *script.Runner, text string,
	files ...code.File) (result Env, stderr string, err error) {
	res := r.Run(ctx, script.Spec{
		Argv: []string{"bash", "-c", text, "bash"}, Sources: files, Dir: p.Root,
		Env:     Override(p.Env.Entries(), "__mcp_listed", strings.Join(p.Scripts.Tools.Names, ",")),
		Timeout: p.EnvTimeout, StdoutLimit: maxSourced, StderrLimit: maxSourced,
	})
	stderr = string(res.Stderr)
	if errors.Is(res.Cause, script.ErrTimedOut) {
		return nil, stderr, fmt.Errorf("not done after %s, so it was ended; "+
			"leave out what waits, or set MCPBASH_ENV_TIMEOUT to more seconds (0: no limit)", p.EnvTimeout)
	}
	result = make(Env)
	for _, name := range []string{"_", "SHLVL", "PWD", "OLDPWD", "BASHOPTS", "SHELLOPTS"} {
		if v, ok := p.Env[name]; ok {
			result[name] = v
		}
	}
	complete, syntax := false, ""
	for row := range bytes.SplitSeq(res.Stdout, []byte{0}) {
		kind, rest, _ := strings.Cut(string(row), " ")
		name, value, _ := strings.Cut(rest, "=")
		switch kind {
		case "E":
			result[name] = value
		case "U":
			if _, exported := result[name]; !exported {
				result[name] = value
			}
		case "S":
			syntax = rest
		case "D":
			complete = rest == "0"
		}
	}
	for name, value := range p.Env {
		if _, given := result[name]; !given && scriptenv.IsWithheld(name) { // secrets are hidden from the files
			result[name] = value
		}
	}
	if res.Cause != nil {
		return nil, stderr, res.Cause
	}
	if res.Status != 0 || !complete {
		return nil, stderr, &SourceError{max(res.Status, 1), stderr, syntax}
	}
	return result, stderr, nil
}

// kept are the variables that server.d/env.sh cannot change in a server. The last two are restrictions that a project
// cannot loosen.
var kept = []string{
	"MCPBASH_HOME", "MCPBASH_PROJECT_ROOT", "MCPBASH_TOOLS_DIR", "MCPBASH_RESOURCES_DIR", "MCPBASH_PROMPTS_DIR",
	"MCPBASH_COMPLETIONS_DIR", "MCPBASH_SERVER_DIR", "MCPBASH_REGISTRY_DIR", "MCPBASH_PROVIDERS_DIR", "MCPBASH_UI_DIR",
	"MCPBASH_SECURITY_LEVEL", "MCPBASH_CONFINE",
}

// Adopt returns a copy of env with the values of changed, except for protected variables. A variable that a file
// unset keeps its value.
func Adopt(env, changed Env) Env {
	result := env.Clone()
	for name, value := range changed {
		if !slices.Contains(kept, name) {
			result[name] = value
		}
	}
	return result
}

// A JSONTool is the jq-compatible program for scripts.
type JSONTool struct {
	Name string // its dialect, jq or gojq
	Bin  string // absolute
}

// SelectJSONTool returns a valid override, or jq or gojq from PATH, or our own program. As root, overrides need a
// permission. works reports whether a program answers --version.
func SelectJSONTool(env Env, root bool, own string, works func(bin string) bool, warn func(string)) JSONTool {
	name, bin := env["MCPBASH_JSON_TOOL"], env["MCPBASH_JSON_TOOL_BIN"]
	if relativeOverride(env) {
		name, bin = "", ""
	}
	if name != "jq" && name != "gojq" {
		name = ""
	}
	if root && (name != "" || bin != "") && !settings.Bool(env, "MCPBASH_ALLOW_JSON_TOOL_OVERRIDE_FOR_ROOT") {
		warn("Ignoring MCPBASH_JSON_TOOL{,_BIN} overrides while running as root; set " +
			"MCPBASH_ALLOW_JSON_TOOL_OVERRIDE_FOR_ROOT=true to allow.")
		name, bin = "", ""
	}
	if bin == "" && name != "" {
		bin = script.LookPath(name, env["PATH"])
	}
	if bin != "" && works(bin) {
		if name == "" && strings.HasPrefix(filepath.Base(bin), "gojq") {
			name = "gojq"
		}
		return JSONTool{cmp.Or(name, "jq"), bin}
	}
	for _, name := range []string{"jq", "gojq"} {
		if bin := script.LookPath(name, env["PATH"]); bin != "" {
			return JSONTool{name, bin}
		}
	}
	return JSONTool{"jq", own}
}

// JSONTool is [SelectJSONTool] without starting a program. An existing override counts as working.
func (p *Project) JSONTool(own string, warn func(string)) JSONTool {
	works := func(bin string) bool { return script.LookPath(filepath.Base(bin), filepath.Dir(bin)) != "" }
	return SelectJSONTool(p.Env, os.Geteuid() == 0, own, works, warn)
}
