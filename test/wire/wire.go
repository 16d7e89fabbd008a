// Package wire holds lines that the server wrote against the published schema
// of the protocol revision in use. It is for tests.
package wire

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

//go:embed schemas/*.json
var schemas embed.FS

// A Checker checks the lines of one session. Its methods may be called from any
// goroutine.
type Checker struct {
	mu       sync.Mutex
	revision string
	asked    map[string]request // by id
	settled  bool               // by a handshake
}

// A request is one of the client.
type request struct {
	method    string
	stateless bool
}

// NewChecker returns a checker for a session that has not negotiated yet.
func NewChecker() *Checker {
	return &Checker{revision: "2025-11-25", asked: map[string]request{}}
}

// Sent notes a line of the client, to know what an answer answers. It has to be
// called before the line is written.
func (c *Checker) Sent(line []byte) {
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) == nil {
		for _, element := range batch {
			c.Sent(element)
		}
		return
	}
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if json.Unmarshal(line, &m) == nil && m.Method != "" && m.ID != nil {
		c.mu.Lock()
		c.asked[string(m.ID)] = request{m.Method, isStateless(m.Method, m.Params)}
		c.mu.Unlock()
	}
}

// Received checks a line of the server: its form, and its content by the
// schema's definition for the method. Methods a revision does not know are
// checked for their form only (P-503).
func (c *Checker) Received(line []byte) error {
	if n := bytes.Count(line, []byte("\n")); n != 1 || line[len(line)-1] != '\n' || bytes.IndexByte(line, '\r') >= 0 {
		return fmt.Errorf("not one line: %q", line)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, line); err != nil || compact.Len() != len(line)-1 {
		return fmt.Errorf("not compact: %s", line)
	}
	m, ok := doc.(map[string]any)
	if !ok || m["jsonrpc"] != "2.0" {
		return fmt.Errorf("not a JSON-RPC message: %s", line)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	method, _ := m["method"].(string)
	switch {
	case method != "" && m["id"] != nil:
		return c.check(requests[method], doc)
	case method != "":
		return c.checkNotification(method, m)
	case m["error"] != nil:
		if asked, known := c.asked[rawID(line)]; known && asked.stateless {
			return checkStatelessError(m)
		}
		if _, hasID := m["id"]; !hasID {
			return c.check("", doc) // P-401: older schemas demand an id
		}
		return c.check(c.errorType(), doc)
	}
	id, _ := json.Marshal(m["id"])
	asked, known := c.asked[string(id)]
	if !known {
		asked, known = c.asked[rawID(line)]
	}
	if !known {
		return fmt.Errorf("answer to something that was not asked: %s", line)
	}
	result := m["result"]
	if asked.stateless {
		return c.checkStateless(asked.method, result)
	}
	if asked.method == "initialize" {
		r, _ := result.(map[string]any)
		if revision, ok := r["protocolVersion"].(string); ok {
			c.revision, c.settled = revision, true
		}
	}
	m["id"] = "echoed" // the client may choose any id, also a fraction (P-501)
	if err := c.check("JSONRPCResponse", doc); err != nil {
		return err
	}
	return c.check(results[asked.method], result)
}

// rawID is the id as written, which may not survive decoding.
func rawID(line []byte) string {
	var m struct{ ID json.RawMessage }
	json.Unmarshal(line, &m)
	return string(m.ID)
}

func (c *Checker) errorType() string {
	if c.revision == "2025-11-25" {
		return "JSONRPCErrorResponse"
	}
	return "JSONRPCError"
}

var requests = map[string]string{
	"roots/list": "ListRootsRequest", "elicitation/create": "ElicitRequest",
	"sampling/createMessage": "CreateMessageRequest", "ping": "PingRequest",
}

var notifications = map[string]string{
	"notifications/cancelled": "CancelledNotification", "notifications/progress": "ProgressNotification",
	"notifications/message":                "LoggingMessageNotification",
	"notifications/tools/list_changed":     "ToolListChangedNotification",
	"notifications/prompts/list_changed":   "PromptListChangedNotification",
	"notifications/resources/list_changed": "ResourceListChangedNotification",
	"notifications/resources/updated":      "ResourceUpdatedNotification",

	"notifications/subscriptions/acknowledged": "SubscriptionsAcknowledgedNotification",
}

var results = map[string]string{
	"initialize": "InitializeResult", "ping": "EmptyResult", "tools/list": "ListToolsResult",
	"tools/call":     "CallToolResult",
	"resources/list": "ListResourcesResult", "resources/templates/list": "ListResourceTemplatesResult",
	"resources/read": "ReadResourceResult",
	"prompts/list":   "ListPromptsResult", "prompts/get": "GetPromptResult", "completion/complete": "CompleteResult",
	"logging/setLevel": "EmptyResult", "resources/subscribe": "EmptyResult", "resources/unsubscribe": "EmptyResult",
}

// checkNotification uses the session's revision. Without a session, and for messages of a stream, it uses the
// stateless revision.
func (c *Checker) checkNotification(method string, m map[string]any) error {
	params, _ := m["params"].(map[string]any)
	meta, _ := params["_meta"].(map[string]any)
	if _, ofStream := meta[metaSubscription]; ofStream || !c.settled {
		return check(stateless, notifications[method], m)
	}
	return c.check(notifications[method], m)
}

// check validates a value by a definition of the session's revision.
func (c *Checker) check(definition string, value any) error {
	return check(c.revision, definition, value)
}

// check validates a value by a definition; nothing is demanded where the
// revision has no such definition.
func check(revision, definition string, value any) error {
	if definition == "" {
		return nil
	}
	s, err := definitionOf(revision, definition)
	if s == nil || err != nil {
		return err
	}
	if err := s.Validate(value); err != nil {
		text, _ := json.Marshal(value)
		return fmt.Errorf("%s of %s: %w\n%.2000s", definition, revision, err, text)
	}
	return nil
}

var (
	cacheLock sync.Mutex
	cache     = map[[2]string]*jsonschema.Schema{}
	documents = map[string]map[string]any{}
)

func definitionOf(revision, name string) (*jsonschema.Schema, error) {
	cacheLock.Lock()
	defer cacheLock.Unlock()
	if s, ok := cache[[2]string{revision, name}]; ok {
		return s, nil
	}
	doc, err := document(revision)
	if err != nil {
		return nil, err
	}
	key := "definitions"
	if doc[key] == nil {
		key = "$defs"
	}
	definitions, _ := doc[key].(map[string]any)
	if definitions[name] == nil {
		cache[[2]string{revision, name}] = nil
		return nil, nil
	}
	compiler := jsonschema.NewCompiler()
	url := "mem:///" + revision + ".json"
	if err := compiler.AddResource(url, doc); err != nil {
		return nil, err
	}
	s, err := compiler.Compile(url + "#/" + key + "/" + name)
	cache[[2]string{revision, name}] = s
	return s, err
}

func document(revision string) (map[string]any, error) {
	if doc := documents[revision]; doc != nil {
		return doc, nil
	}
	f, err := schemas.Open("schemas/" + revision + ".json")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	v, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		return nil, err
	}
	documents[revision], _ = v.(map[string]any)
	return documents[revision], nil
}
