package bundle

import (
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/scriptenv"
)

// checkScriptEnv reports settings in the object "env" of server.meta.json that the server would
// leave out. The bundle would ship them, and a value may be a secret (CLI-1443).
func (b *builder) checkScriptEnv() {
	const where = "server.d/server.meta.json: env."
	meta := &b.p.Scripts.Meta
	for _, key := range meta.Refused {
		b.say.fault(where+"%s cannot be set there, and the bundle would ship its value; only %s can", key,
			strings.Join(scriptenv.Keys(), ", "))
	}
	for _, setting := range meta.Invalid {
		b.say.fault(where+"%s: %s", setting.Key, setting.Reason)
	}
}

// switchesOn reports whether a value of a variable gives a permission that only the operator of a server may give.
func switchesOn(name, value string) bool {
	off := []string{"", "0", "false", "no", "off"}
	switch name {
	case scriptenv.Tools.Leave, scriptenv.Providers.Leave, "MCPBASH_ALLOW_PROJECT_HOOKS",
		"MCPBASH_ALLOW_JSON_TOOL_OVERRIDE_FOR_ROOT", "MCPBASH_ALLOW_CORRUPT_STDOUT", "MCPBASH_SERVER_SOURCE_ENV",
		"MCPBASH_ENABLE_GIT_PROVIDER", "MCPBASH_GIT_ALLOW_ALL", "MCPBASH_HTTPS_ALLOW_ALL", "MCPBASH_RESOURCES_USE_ROOTS":
	case scriptenv.Tools.Mode, scriptenv.Providers.Mode:
		off = []string{"", scriptenv.Minimal, scriptenv.Isolate, scriptenv.Allowlist}
	case "MCPBASH_CONFINE":
		off = []string{"", "declared", "declared,required", "all", "all,required"}
	case "MCPBASH_SECURITY_LEVEL":
		off = []string{"", "restricted", "standard", "elevated"}
	default:
		return false
	}
	return !slices.Contains(off, strings.ToLower(value))
}

// checkSwitches warns if the project's environment for a platform turns on a switch of the operator (CLI-1444).
func (b *builder) checkSwitches(platform string, env []rawjson.Member) {
	for _, m := range env {
		if switchesOn(m.Name, strings.Trim(string(m.Value), `"`)) {
			b.say.warn("platform_overrides.%s.env turns on %s, which is for whoever runs the server to decide; leave it out",
				platform, m.Name)
		}
	}
}
