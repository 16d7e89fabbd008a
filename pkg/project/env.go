package project

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/scriptenv"
)

// Env is an environment. The programs read their settings from an Env and not from the process, so that tests and
// server.d/env.sh can change them.
type Env map[string]string

// TemplateName and TemplateVars are variables for providers. They describe the template that a URI matches (RES-174).
const (
	TemplateName = "MCP_RESOURCE_TEMPLATE_NAME"
	TemplateVars = "MCP_RESOURCE_TEMPLATE_VARS"
)

// OSEnv returns the environment of this process, without its [Placeholders]. It also drops the values of a template,
// because they come from another process (RES-175).
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

// checkPaths returns an error if a setting that is a path names none (E-12).
func (e Env) checkPaths() error {
	for v := range settings.Paths() {
		if _, err := fsys.Named(e[v.Name], e["HOME"]); err != nil {
			return cli.Baref(cli.CodeInvalid, "mcp-bash: %s: %v", v.Name, err)
		}
	}
	return nil
}

// Placeholders returns the sorted names of this process's variables whose value is a placeholder of a bundle. Clients
// leave a placeholder if their user left an option empty (E-2).
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

// Entries returns the sorted "NAME=value" entries for a child process, without secrets (P-2304).
func (e Env) Entries() []string { return e.entries(scriptenv.IsWithheld) }

// ScriptEntries is [Env.Entries] for an environment of [Project.ToolBase] or [Project.ProviderBase]. It keeps
// MCP_REGISTRY_TOKEN, which is only there if a list names it (T-63).
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

// Default sets a variable if it is unset or empty (E-2).
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
