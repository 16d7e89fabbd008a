package completion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/handoff"
)

// perRequest are variables of one request or of another kind of script. Inherited values would be
// wrong, so they are removed.
var perRequest = []string{
	"MCP_COMPLETION_NAME", "MCP_COMPLETION_ARGS_JSON", "MCP_COMPLETION_ARGS_FILE", "MCP_COMPLETION_LIMIT",
	"MCP_COMPLETION_OFFSET", "MCP_COMPLETION_ARGS_HASH", "MCP_COMPLETION_CURSOR",
	"MCP_PROMPT_REL_PATH", "MCP_PROMPT_PATH", "MCP_PROMPT_METADATA", "MCP_PROMPT_METADATA_FILE",
	"MCP_RESOURCE_REL_PATH", "MCP_RESOURCE_PATH", "MCP_RESOURCE_URI", "MCP_RESOURCE_PROVIDER", "MCP_RESOURCE_METADATA",
	"MCP_RESOURCE_METADATA_FILE", "PWD", "MCP_CLIENT_ID", "MCP_CLIENT_ISSUER", "MCP_CLIENT_SUBJECT", "MCP_CLIENT_SCOPES",
}

// baseEnviron returns the variables that all requests share (T-621).
func baseEnviron(p *project.Project, common project.Env) []string {
	env := p.ProviderBase(common)
	for _, name := range perRequest {
		delete(env, name)
	}
	env["PWD"] = p.Root
	return slices.Clip(env.ScriptEntries())
}

// json returns the request in the form that scripts get (T-622).
func (q *query) json() json.RawMessage {
	if q.payload != nil {
		return q.payload
	}
	var b rawjson.Builder
	q.payload = b.Object().Name("query").String(q.value).Name("prefix").String(q.value).
		Name("argument").Object().Name("name").String(q.argument).Name("value").String(q.value).End().
		Name("context").Object().Name("arguments").Raw(rawjson.Normal(q.arguments)).End().
		Name("ref").Raw(rawjson.Normal(q.ref)).End().Bytes()
	return q.payload
}

// digest returns the SHA-256 of json with sorted keys.
func (q *query) digest() string {
	if q.hash == "" {
		sum := sha256.Sum256(rawjson.AppendCanonical(nil, q.json()))
		q.hash = hex.EncodeToString(sum[:])
	}
	return q.hash
}

// A scriptInput is the environment of a script, with the files that it names.
type scriptInput struct {
	env   []string
	files *handoff.Dir
}

// environ returns the environment of one run (T-622).
func (c *Completions) environ(q *query, s *source, files *handoff.Dir) ([]string, error) {
	in := &scriptInput{env: c.base(), files: files}
	set := func(name, value string) { in.env = append(in.env, name+"="+value) }
	c.Caller.EachVariable(set)
	set("MCP_COMPLETION_NAME", q.name)
	set("MCP_COMPLETION_LIMIT", strconv.Itoa(q.limit))
	set("MCP_COMPLETION_OFFSET", strconv.Itoa(q.from.offset))
	set("MCP_COMPLETION_ARGS_HASH", q.digest())
	if q.from.own != "" {
		set("MCP_COMPLETION_CURSOR", q.from.own)
	}
	in.env = project.SetTemp(in.env, files.TempPath())
	if err := in.put("MCP_COMPLETION_ARGS_JSON", "MCP_COMPLETION_ARGS_FILE", q.json()); err != nil {
		return nil, err
	}
	prefix := ""
	switch s.kind {
	case prompt:
		prefix = "MCP_PROMPT_"
	case resource:
		prefix = "MCP_RESOURCE_"
		uri, provider := item.URI(c.Project, s.item), rawjson.TextOf(s.item, "provider")
		if q.template != nil {
			uri = rawjson.TextOf(s.item, kinds.URITemplate)
			provider = item.ProviderOf(uri)
		}
		set("MCP_RESOURCE_URI", uri)
		set("MCP_RESOURCE_PROVIDER", provider)
	default:
		return in.env, nil
	}
	if q.template == nil {
		rel := rawjson.TextOf(s.item, "path")
		set(prefix+"REL_PATH", rel)
		set(prefix+"PATH", filepath.Join(s.dir, filepath.FromSlash(rel)))
	}
	err := in.put(prefix+"METADATA", prefix+"METADATA_FILE", s.item)
	return in.env, err
}

// put adds a document as a variable. A document that is too long goes to a file, whose path is in
// another variable (T-627).
func (in *scriptInput) put(variable, file string, doc json.RawMessage) error {
	if len(doc) <= project.MaxInline {
		in.env = append(in.env, variable+"="+string(doc))
		return nil
	}
	in.env = append(in.env, variable+"=", file+"="+in.files.Path(file))
	return in.files.Create(file, doc)
}
