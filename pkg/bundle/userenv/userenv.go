// Package userenv has the variables that pass the fields of user_config to the server of a bundle.
package userenv

import (
	"encoding/json"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/scriptenv"
)

// A Mapping passes a field of user_config to the server as a variable.
type Mapping struct{ Key, Variable string }

// Read returns the mappings of MCPB_USER_CONFIG_ENV_MAP. If that is empty, it returns those of user_config_env_map in
// server.meta.json.
func Read(list string, meta json.RawMessage) (all []Mapping) {
	if list == "" {
		for _, m := range rawjson.Members(rawjson.Get(meta, "user_config_env_map")) {
			variable, _ := rawjson.Text(m.Value)
			all = append(all, Mapping{m.Name, variable})
		}
		return all
	}
	for pair := range strings.SplitSeq(list, ",") {
		if pair = strings.TrimSpace(pair); pair != "" {
			key, variable, _ := strings.Cut(pair, "=")
			all = append(all, Mapping{strings.TrimSpace(key), strings.TrimSpace(variable)})
		}
	}
	return all
}

// Lost returns a remedy if neither a script nor the server gets the variable, and "" otherwise. For bundles, only
// server.meta.json determines which variables scripts get.
func (m Mapping) Lost(meta json.RawMessage) (remedy string) {
	policy := scriptenv.NewPolicy(nil, scriptenv.ReadMeta(meta))
	if settings.Find(m.Variable) != nil || policy.Tools.Passes(m.Variable) || policy.Providers.Passes(m.Variable) {
		return ""
	}
	return policy.Tools.Remedy(m.Variable)
}
