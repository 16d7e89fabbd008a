package project

import (
	"maps"
	"os"
	"slices"
	"strings"

	"mcp-bash/pkg/run/scriptenv"
)

// Env is an environment: what was handed to this process, or what a script
// made of it. The programs read their settings from an Env and never from the
// process, so that a test, or server.d/env.sh, can give another.
type Env map[string]string

// TemplateName and TemplateVars describe the template that a URI matches to the provider that reads
// the URI, and to nobody else (RES-174).
const (
	TemplateName = "MCP_RESOURCE_TEMPLATE_NAME"
	TemplateVars = "MCP_RESOURCE_TEMPLATE_VARS"
)

// OSEnv returns the environment of this process, without its [Placeholders] and without the values
// of a template, which are those of another process (RES-175).
func OSEnv() Env {
	env := parseEnv(os.Environ())
	maps.DeleteFunc(env, func(_, value string) bool { return scriptenv.IsPlaceholder(value) })
	delete(env, TemplateName)
	delete(env, TemplateVars)
	completeEnv(env)
	return env
}

// Placeholders returns the sorted names of the variables of this process that a client of
// bundles could not fill in, since its user left an option empty (E-2).
func Placeholders() (names []string) {
	for name, value := range parseEnv(os.Environ()) {
		if scriptenv.IsPlaceholder(value) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// parseEnv reads "NAME=value" entries; of a repeated name the last counts.
func parseEnv(entries []string) Env {
	env := make(Env, len(entries))
	for _, e := range entries {
		if name, value, ok := strings.Cut(e, "="); ok && name != "" {
			env[name] = value
		}
	}
	return env
}

// Entries returns the environment as a process is given it: "NAME=value", sorted,
// without the secrets of this one (P-2304).
func (e Env) Entries() []string { return e.entries(scriptenv.IsWithheld) }

// ScriptEntries is [Env.Entries] for an environment that [Project.ToolBase] or
// [Project.ProviderBase] made. A secret that a list names stays in it (T-63).
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

// Override returns what a process is given with one variable set, in place of any value that
// it had. The argument stays as it is.
func Override(env []string, name, value string) []string {
	list := make([]string, 0, len(env)+1)
	for _, e := range env {
		if !strings.HasPrefix(e, name) || !strings.HasPrefix(e[len(name):], "=") {
			list = append(list, e)
		}
	}
	return append(list, name+"="+value)
}

// Clone returns a copy.
func (e Env) Clone() Env { return maps.Clone(e) }

// Default sets a variable that is unset or empty (E-2).
func (e Env) Default(name, value string) {
	if e[name] == "" {
		e[name] = value
	}
}
