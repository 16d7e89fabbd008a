package methods

import (
	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/protocol/internal/seal"
	"mcp-bash/pkg/wire/mcp"
)

// A Replica names this process in the URIs of stored results, so that other replicas find it.
type Replica struct{ Self seal.Self }

// bound binds a name to a result and its caller. The keys of callers begin differently, so no other
// sealed text opens as a name.
func bound(token, caller string) string { return "result of " + token + " " + caller }

// owner returns the part of results.Config.
func (r Replica) owner() func(token, caller string) string {
	if r.Self.URL == "" {
		return nil
	}
	return func(token, caller string) string { return r.Self.Name(bound(token, caller)) }
}

// Owner returns the replica with the stored result that a request reads or searches. gone is the error if
// that replica cannot be reached. The owner is zero for all requests that this process answers (LR-13).
func (r Replica) Owner(caller *auth.Identity, method string, params *mcp.Params) (o seal.Owner, gone *mcp.Error) {
	var uri string
	switch {
	case method == "resources/read":
		uri = params.Text(mcp.ParamURI)
	case method == "tools/call" && params.Text(mcp.ParamName) == tool.SearchTool:
		uri = rawjson.TextOf(params.Get(mcp.ParamArguments), "uri")
	}
	if !results.Owns(uri) {
		return o, nil
	}
	token, name := results.Parts(uri)
	if name == "" {
		return o, nil
	}
	if o = r.Self.Find(name, bound(token, caller.Key())); o.URL == "" {
		return o, nil
	}
	return o, results.NotFound(uri)
}
