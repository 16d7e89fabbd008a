package project

import (
	"maps"
	"slices"
	"strings"
)

// providerKeeps are the variables that providers of resources and completion
// scripts are given of the environment when it is kept from them (E-4).
// A name that ends in * stands for all that begin so.
var providerKeeps = []string{
	"PATH", "HOME", "TMPDIR", "TMP", "TEMP", "LANG", "LC_*", "USERPROFILE", "APPDATA", "SYSTEMROOT", "MSYSTEM",
	"MSYS2_ARG_CONV_EXCL", "MCP_*", "MCPBASH_ENABLE_GIT_PROVIDER", "MCPBASH_GIT_*", "MCPBASH_HTTPS_*",
	"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
}

// ProviderBase returns the environment that providers of resources and
// completion scripts have in common: what they inherit, as
// MCPBASH_PROVIDER_ENV_MODE says (T-621, RES-72), and what every
// script is given (P-205). also are further names that are inherited,
// in the form of the list of E-4.
func (p *Project) ProviderBase(common Env, also ...string) Env {
	keeps := func(name string) bool {
		return keptBy(providerKeeps, name) || keptBy(also, name)
	}
	inherit := p.Calls.ProviderEnvMode == "inherit"
	base := make(Env)
	for name, value := range p.Env {
		listed := p.Calls.ProviderEnvMode == "allowlist" && slices.Contains(p.Calls.ProviderEnvAllowlist, name)
		if (inherit || listed || keeps(name)) && !isSecret(name) {
			base[name] = strings.TrimRight(value, "\r")
		}
	}
	if !inherit {
		base.Default("PATH", "/usr/bin:/bin")
		base.Default("HOME", p.Root)
		base.Default("TMPDIR", "/tmp")
		base.Default("TMP", base["TMPDIR"])
		base.Default("TEMP", base["TMPDIR"])
		base.Default("LANG", "C")
		base.Default("LC_ALL", base["LANG"])
	}
	maps.Copy(base, common)
	base["MCPBASH_RESOURCES_DIR"] = p.Resources
	base["MCPBASH_PROMPTS_DIR"] = p.Prompts
	return base
}

func keptBy(list []string, name string) bool {
	return slices.ContainsFunc(list, func(kept string) bool {
		prefix, open := strings.CutSuffix(kept, "*")
		return name == kept || open && strings.HasPrefix(name, prefix)
	})
}
