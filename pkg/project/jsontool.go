package project

import (
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/script"
)

// A JSONTool is the jq-compatible program that scripts are given (protocol
// P-111, SDK-14).
type JSONTool struct {
	Name string // jq or gojq: its dialect
	Bin  string // absolute
}

// SelectJSONTool chooses it: a valid override, else jq, else gojq from PATH,
// else our own. root says that we run as root, when overrides need leave;
// works tells whether a program answers --version.
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

// JSONTool is [SelectJSONTool] for who starts no program to find out: one that was named
// counts as working when it is there.
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
