package project

import (
	"maps"
	"strings"

	"mcp-bash/pkg/run/scriptenv"
)

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
