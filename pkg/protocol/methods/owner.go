package methods

import (
	"encoding/json"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/internal/seal"
	"mcp-bash/pkg/wire/mcp"
)

// A Replica names this process in the URIs of stored results, so that other replicas find it.
type Replica struct {
	URL    string // "": there are no other replicas
	Sealer seal.Sealer
}

// bound binds a sealed URL to a result and its caller. The keys of callers begin differently, so no
// other sealed text opens as an owner.
func bound(token, caller string) []byte { return []byte("result " + token + " " + caller) }

// owner returns the part of results.Config.
func (r Replica) owner() func(token, caller string) string {
	if r.URL == "" {
		return nil
	}
	return func(token, caller string) string { return r.Sealer.Seal([]byte(r.URL), bound(token, caller)) }
}

// Owner returns the URL of the replica with the stored result that a request reads or searches. gone
// is the error if that replica cannot be reached. The URL is "" for all requests that this process
// answers (LR-13).
func (r Replica) Owner(caller *auth.Identity, method string, params json.RawMessage) (url string, gone *mcp.Error) {
	switch {
	case method == "resources/read":
	case method == "tools/call" && rawjson.TextOf(params, "name") == tool.SearchTool:
		params = rawjson.Get(params, "arguments")
	default:
		return "", nil
	}
	uri, ok := rawjson.Text(rawjson.Get(params, "uri"))
	if !ok || !results.Owns(uri) {
		return "", nil
	}
	token, sealed := results.Parts(uri)
	if sealed == "" {
		return "", nil
	}
	text, err := r.Sealer.Open(sealed, bound(token, caller.Key()), 1, seal.MaxURL)
	if err != nil || string(text) == r.URL {
		return "", nil
	}
	return string(text), results.NotFound(uri)
}
