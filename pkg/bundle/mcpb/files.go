package mcpb

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// CheckFiles returns the faults of the files that a manifest names. Each must be in the
// bundle, with the same case, and programs must be executable (CLI-1434).
func CheckFiles(doc json.RawMessage, names *Names, isExec func(name string) bool) (faults []Fault) {
	has := func(path, name string) bool {
		if strings.Contains(name, "://") || strings.HasPrefix(name, "data:") {
			return false
		}
		ok, other := names.Has(name)
		switch {
		case ok:
		case other != "":
			faults = append(faults, Fault{path, fmt.Sprintf("%q is called %q in the bundle", name, other)})
		default:
			faults = append(faults, Fault{path, fmt.Sprintf("%q is not in the bundle", name)})
		}
		return ok
	}
	starts := func(path, name string) {
		if has(path, name) && !isExec(name) && strings.TrimSuffix(name, ".exe") == name {
			faults = append(faults, Fault{path, fmt.Sprintf("%q is not executable", name)})
		}
	}
	if icon := rawjson.TextOf(doc, "icon"); icon != "" {
		has("icon", icon)
	}
	i := 0
	for v := range rawjson.Elements(rawjson.Get(doc, "icons")) {
		has(fmt.Sprintf("icons.%d.src", i), rawjson.TextOf(v, "src"))
		i++
	}
	i = 0
	for v := range rawjson.Elements(rawjson.Get(doc, "screenshots")) {
		text, _ := rawjson.Text(v)
		has(fmt.Sprintf("screenshots.%d", i), text)
		i++
	}
	server := rawjson.Get(doc, "server")
	if rawjson.TextOf(server, "type") == "binary" {
		starts("server.entry_point", rawjson.TextOf(server, "entry_point"))
	} else if entry := rawjson.TextOf(server, "entry_point"); entry != "" {
		has("server.entry_point", entry)
	}
	config := rawjson.Get(server, "mcp_config")
	command := func(path string, v json.RawMessage) {
		if name, ok := strings.CutPrefix(rawjson.TextOf(v, "command"), "${__dirname}/"); ok {
			starts(path+".command", name)
		}
	}
	command("server.mcp_config", config)
	for _, m := range rawjson.Members(rawjson.Get(config, "platform_overrides")) {
		command("server.mcp_config.platform_overrides."+m.Name, m.Value)
	}
	return faults
}

// CheckWindows returns the files that Windows cannot create, if the bundle supports Windows.
// It does if its manifest lists Windows or has no list of platforms (CLI-1434).
func CheckWindows(doc json.RawMessage, names *Names) (faults []Fault) {
	if listed, _ := rawjson.Strings(rawjson.Path(doc, "compatibility", "platforms")); listed != nil &&
		!slices.Contains(listed, "win32") {
		return nil
	}
	for _, name := range slices.Sorted(maps.Values(names.files)) {
		if reason := windowsFault(name); reason != "" {
			faults = append(faults, Fault{name, reason})
		}
	}
	return faults
}
