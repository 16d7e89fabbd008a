package project

import (
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/script"
)

// A JSONTool is the jq-compatible program for scripts (P-111, SDK-14).
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
		if name == "" {
			name = dialect(bin)
		}
		return JSONTool{name, bin}
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

func dialect(bin string) string {
	if strings.HasPrefix(filepath.Base(bin), "gojq") {
		return "gojq"
	}
	return "jq"
}
