package completion

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/sandbox"
)

// perRequest are the variables that belong to one request, or to a script of
// another kind. An inherited value of any of them would be stale.
var perRequest = []string{
	"MCP_COMPLETION_NAME", "MCP_COMPLETION_ARGS_JSON", "MCP_COMPLETION_ARGS_FILE", "MCP_COMPLETION_LIMIT",
	"MCP_COMPLETION_OFFSET", "MCP_COMPLETION_ARGS_HASH", "MCP_COMPLETION_CURSOR",
	"MCP_PROMPT_REL_PATH", "MCP_PROMPT_PATH", "MCP_PROMPT_METADATA", "MCP_PROMPT_METADATA_FILE",
	"MCP_RESOURCE_REL_PATH", "MCP_RESOURCE_PATH", "MCP_RESOURCE_URI", "MCP_RESOURCE_PROVIDER", "MCP_RESOURCE_METADATA",
	"MCP_RESOURCE_METADATA_FILE", "PWD",
}

// baseEnviron is the part that all scripts share, as a process takes it (T-621).
func baseEnviron(p *project.Project, common project.Env) []string {
	env := p.ProviderBase(common)
	for _, name := range perRequest {
		delete(env, name)
	}
	env["PWD"] = p.Root
	return slices.Clip(env.ScriptEntries())
}

// json is the request as scripts see it (T-622).
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

// digest is the SHA-256 of json, with sorted keys.
func (q *query) digest() string {
	if q.hash == "" {
		sum := sha256.Sum256(rawjson.AppendCanonical(nil, q.json()))
		q.hash = hex.EncodeToString(sum[:])
	}
	return q.hash
}

// A scriptInput is what a script is given.
type scriptInput struct {
	env     []string
	private func() (*os.Root, error) // opens the directory whose path is path
	path    string
	dir     *os.Root // the same, once files lies in it
	// files is the name of a directory that holds what an environment cannot.
	files string
}

func (h *scriptInput) remove() {
	if h.dir != nil {
		h.dir.RemoveAll(h.files)
	}
}

// hand makes the environment of one run (T-622).
func (c *Completions) hand(q *query, s *source, hold *sandbox.Confinement) (*scriptInput, error) {
	h := &scriptInput{env: c.base(), private: c.State.Root, path: c.State.Dir}
	if hold != nil { // it can read nowhere else
		root, path := hold.Root()
		h.private, h.path = func() (*os.Root, error) { return root, nil }, path
	}
	set := func(name, value string) { h.env = append(h.env, name+"="+value) }
	set("MCP_COMPLETION_NAME", q.name)
	set("MCP_COMPLETION_LIMIT", strconv.Itoa(q.limit))
	set("MCP_COMPLETION_OFFSET", strconv.Itoa(q.from.offset))
	set("MCP_COMPLETION_ARGS_HASH", q.digest())
	if q.from.own != "" {
		set("MCP_COMPLETION_CURSOR", q.from.own)
	}
	if err := h.put("MCP_COMPLETION_ARGS_JSON", "MCP_COMPLETION_ARGS_FILE", q.json()); err != nil {
		h.remove()
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
		return h, nil
	}
	if q.template == nil {
		rel := rawjson.TextOf(s.item, "path")
		set(prefix+"REL_PATH", rel)
		set(prefix+"PATH", filepath.Join(s.dir, filepath.FromSlash(rel)))
	}
	if err := h.put(prefix+"METADATA", prefix+"METADATA_FILE", s.item); err != nil {
		h.remove()
		return nil, err
	}
	return h, nil
}

// put hands a document over in a variable, or, where it is longer than one can
// be, in a file that another variable names (T-627).
func (h *scriptInput) put(variable, file string, doc json.RawMessage) error {
	if len(doc) <= project.MaxInline {
		h.env = append(h.env, variable+"="+string(doc))
		return nil
	}
	if h.dir == nil {
		dir, err := h.private()
		if err != nil {
			return err
		}
		h.files = handoff.Unique("completion.")
		if err := dir.Mkdir(h.files, 0o700); err != nil {
			return err
		}
		h.dir = dir
	}
	name := filepath.Join(h.files, file)
	h.env = append(h.env, variable+"=", file+"="+filepath.Join(h.path, name))
	return handoff.Create(h.dir, name, doc)
}
