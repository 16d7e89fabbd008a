package project

import (
	"maps"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
)

// maxMetaValue limits values of the server metadata for scripts, in bytes. Scripts get longer values empty (T-73).
const maxMetaValue = 65536

// Common returns the variables that every script gets: paths, the JSON program, and the server's metadata (P-205).
// All are always set, because scripts may use set -u.
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

// ToolBase returns the variables that a tool inherits under a rule (T-60, T-62, E-3). It removes carriage returns at
// the end of values.
func (p *Project) ToolBase(rule *scriptenv.Rule) Env {
	base := make(Env)
	for name, value := range p.Scripts.Environ(p.Env) {
		if rule.Passes(name) {
			base[name] = strings.TrimRight(value, "\r")
		}
	}
	if !rule.Inherits() {
		base.Default("PATH", "/usr/bin:/bin")
		base.Default("HOME", p.Root)
		base.Default("TMPDIR", "/tmp")
		base.Default("LANG", defaultLocale())
		if bash := script.LookPath("bash", base["PATH"]); bash != "" {
			base.Default("SHELL", bash) // otherwise Bash asks the user database at every start
		}
	}
	return base
}

// ForHooks returns the environment of policy.sh and register.sh. It has all variables of the server except secrets,
// the variables of every script, and the directories (T-29, R-152).
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

// ProviderBase returns the common environment of resource providers and completion scripts. They inherit variables
// by the rule of their scope (T-621, RES-72), and get the variables of every script (P-205). also are further names
// to inherit, in the form of [scriptenv.Matches].
func (p *Project) ProviderBase(common Env, also ...string) Env {
	rule := &p.Scripts.Providers
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
		base.Default("TMP", base["TMPDIR"])
		base.Default("TEMP", base["TMPDIR"])
		base.Default("LANG", defaultLocale())
		base.Default("LC_ALL", base["LANG"])
	}
	maps.Copy(base, common)
	base["MCPBASH_RESOURCES_DIR"] = p.Resources
	base["MCPBASH_PROMPTS_DIR"] = p.Prompts
	return base
}
