// Package prompt renders prompts. It finds a prompt in the registry, inserts the client's arguments into its template,
// and makes messages from it. It runs no script.
package prompt

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/filecache"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/wire/mcp"
)

// Prompts renders the prompts of one project. It is safe for concurrent use.
type Prompts struct {
	Project *project.Project
	// Find returns a prompt of the registry, or nil.
	Find func(ctx context.Context, name string) (*Entry, error)
	Log  mcp.LogFunc

	Caller *auth.Identity // the caller of all requests; nil if no credential was required
	// Files reads the texts of prompts. A nil Cache keeps none.
	Files *filecache.Cache
}

// A Request asks for one prompt.
type Request struct {
	Name      string
	Arguments json.RawMessage // an object; other values are ignored
	Client    mcp.Capabilities
	Asker     mcp.Asker // nil if the client cannot be asked
}

// A Result is a rendered prompt.
type Result struct {
	text        json.RawMessage // a string
	arguments   json.RawMessage
	role        string            // of the only message, whose content is text; "" if messages is set
	messages    []json.RawMessage // compact
	description string
	metadata    json.RawMessage // nil if absent
}

// An Entry is a prompt of the registry, prepared for requests.
type Entry struct {
	name, path, role, format, description string
	arguments, metadata                   json.RawMessage
	required, declared                    []string // names of arguments
	elicit                                bool
}

// NewEntry prepares an entry of a registry.
func NewEntry(item json.RawMessage) *Entry {
	e := &Entry{
		name: rawjson.TextOf(item, "name"), path: rawjson.TextOf(item, "path"), role: rawjson.TextOf(item, "role"),
		format: rawjson.TextOf(item, "format"), description: rawjson.TextOf(item, "description"),
		arguments: rawjson.Get(item, "arguments"), metadata: rawjson.Get(item, "metadata"),
		elicit: rawjson.True(rawjson.Get(item, "elicit")),
	}
	e.required, e.declared = requiredOf(e.arguments), declaredNames(e.arguments)
	return e
}

// Asks reports whether a prompt asks clients for missing arguments.
func (p *Prompts) Asks(ctx context.Context, name string) bool {
	if p.Project.Permit(p.Caller, auth.Prompt, name, name) != nil {
		return false
	}
	entry, err := p.Find(ctx, name)
	return err == nil && entry != nil && entry.elicit
}

// Get renders a prompt. The error is an [*mcp.Error] for the client, or the context's.
func (p *Prompts) Get(ctx context.Context, r *Request) (*Result, error) {
	if r.Name == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Prompt name is required")
	}
	if err := p.Project.Permit(p.Caller, auth.Prompt, r.Name, r.Name); err != nil {
		return nil, err
	}
	e, err := p.Find(ctx, r.Name)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, p.notFound(r.Name)
	}
	given := json.RawMessage("{}")
	if rawjson.KindOf(r.Arguments) == rawjson.Object {
		given = rawjson.Normal(r.Arguments)
	}
	if missing := missingOf(e.required, given); len(missing) > 0 {
		if given, err = p.complete(ctx, r, e, given, missing); err != nil {
			return nil, err
		}
	}
	res := &Result{arguments: given, description: e.description}
	if !rawjson.Absent(e.metadata) {
		res.metadata = e.metadata
	}
	if err := p.render(e, given, res); err != nil {
		p.Log(mcp.Err, logger, "Unable to render prompt '"+e.name+"': "+err.Error())
		if errors.Is(err, errTooLarge) {
			return nil, mcp.Errorf(mcp.CodeInternal, "Response exceeded response size limit").Because(mcp.CauseAnswer) // T-709
		}
		return nil, mcp.Errorf(mcp.CodeInternal, "Unable to render prompt")
	}
	return res, nil
}

// notFound returns the error for an unknown prompt. If a metadata file has that name, the error explains that the file
// has no text, or that it gives the prompt another name.
func (p *Prompts) notFound(name string) *mcp.Error {
	e := mcp.Errorf(mcp.CodeInvalidParams, "Prompt not found").Because(mcp.CauseNotFound)
	if filepath.Base(name) != name {
		return e
	}
	for _, file := range []string{name, filepath.Join(name, name)} {
		meta := filepath.Join(p.Project.Prompts, file+item.MetadataSuffix)
		text, err := boundedfile.Read(meta, item.MaxMetadata)
		if err != nil {
			continue
		}
		at := folder.Label(p.Project.Root, meta)
		object, _, err := item.ParseMetadata(text)
		if own := rawjson.TextOf(object, "name"); err == nil && own != "" && own != name {
			return e.Explain(fmt.Errorf("%s calls this prompt %q", at, own))
		}
		return e.Explain(fmt.Errorf("%s describes no text; add %s.txt", at, strings.TrimSuffix(at, item.MetadataSuffix)))
	}
	return e
}

const logger = "mcp.prompts"

func (p *Prompts) render(e *Entry, arguments json.RawMessage, res *Result) error {
	if e.path == "" {
		if e.format != "messages" {
			res.setText("", e.role)
			return nil
		}
		return errors.New("it has no template")
	}
	files := &files{dir: p.Project.Prompts, max: p.Project.Limits.Response, kept: p.Files}
	defer files.close()
	template, err := files.text(e.path)
	if err != nil {
		return err
	}
	f := &filler{valuesOf(arguments), files, budget{p.Project.Limits.Response}}
	for _, m := range findMisplaced(template, e.declared, f.values) { // T-410
		p.Log(mcp.Warning, logger, fmt.Sprintf("Prompt '%s': %s", e.name, m.Fault))
	}
	if e.format == "messages" {
		return res.setMessages(template, f)
	}
	text, err := f.fill(template)
	if err == nil {
		res.setText(text, e.role)
	}
	return err
}

// setText sets the only message of a prompt with a text template.
func (r *Result) setText(text, role string) {
	if role != "assistant" { // MCP has no other roles
		role = "user"
	}
	r.role = role
	r.text = rawjson.AppendString(make([]byte, 0, len(text)+len(text)/16+2), text)
}

// Size returns the approximate number of bytes that AppendJSON writes.
func (r *Result) Size() int {
	n := 256 + 2*len(r.text) + len(r.arguments) + len(r.metadata)
	for _, m := range r.messages {
		n += len(m) + 1
	}
	return n
}

// AppendJSON appends the result and the members of the protocol revision.
func (r *Result) AppendJSON(dst []byte, extra mcp.Extra) []byte {
	b := rawjson.Over(dst)
	b.Object()
	extra.AppendMembers(b)
	b.Name("text").Raw(r.text).Name("arguments").Raw(r.arguments).Name("messages").Array()
	if r.role != "" {
		b.Object().Name("role").String(r.role).Name("content").Object().
			Name("type").String("text").Name("text").Raw(r.text).End().End()
	}
	for _, m := range r.messages {
		b.Raw(m)
	}
	b.End()
	b.Optional("description", r.description)
	b.OptionalRaw("metadata", r.metadata)
	extra.AppendOwnMeta(b)
	return b.End().Bytes()
}

// complete asks the client for missing arguments, if the prompt and the client support that. Otherwise the error names
// the first missing argument.
func (p *Prompts) complete(ctx context.Context, r *Request, e *Entry, given json.RawMessage,
	missing []string) (json.RawMessage, error) {
	refusal := mcp.Errorf(mcp.CodeInvalidParams, "Missing required argument: %s", missing[0])
	if !e.elicit || r.Asker == nil || !r.Client.ElicitForm {
		return nil, refusal
	}
	message := cmp.Or(e.description, "Arguments for prompt "+e.name)
	var b rawjson.Builder
	b.Object().Name("mode").String("form").Name("message").String(message).
		Name("requestedSchema").Raw(formFor(e.arguments, missing)).End()
	inquiry := r.Asker.Ask([]mcp.InputRequest{{Method: mcp.MethodElicit, Params: b.Bytes()}})
	ctx, cancel := context.WithTimeout(ctx, p.Project.Sessions.ParkedTTL)
	defer cancel()
	answers, err := inquiry.Wait(ctx)
	if err != nil {
		inquiry.Close()
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, refusal
		}
		return nil, err
	}
	answer := answers[0].Result
	if rawjson.TextOf(answer, "action") != "accept" {
		return nil, refusal
	}
	merged := merge(given, rawjson.Get(answer, "content"))
	if still := missingOf(e.required, merged); len(still) > 0 {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "Missing required argument: %s", still[0])
	}
	return merged, nil
}

// Metadata declares arguments as a JSON Schema object, or as the array that clients get.

func requiredOf(arguments json.RawMessage) []string {
	var names []string
	switch rawjson.KindOf(arguments) {
	case rawjson.Object:
		for e := range rawjson.Elements(rawjson.Get(arguments, "required")) {
			if name, ok := rawjson.Text(e); ok {
				names = append(names, name)
			}
		}
	case rawjson.Array:
		for e := range rawjson.Elements(arguments) {
			if rawjson.True(rawjson.Get(e, "required")) {
				names = append(names, rawjson.TextOf(e, "name"))
			}
		}
	}
	return names
}

// missingOf returns the required arguments that are absent or null. An empty string counts as given.
func missingOf(required []string, given json.RawMessage) []string {
	var missing []string
	for _, name := range required {
		if rawjson.Absent(rawjson.Get(given, name)) {
			missing = append(missing, name)
		}
	}
	return missing
}

// AppendListed appends a registry entry in the form of prompts/list.
func AppendListed(dst []byte, item json.RawMessage) []byte {
	b := rawjson.Over(dst)
	b.Object()
	for _, m := range rawjson.Members(item) {
		switch {
		case m.Name == "elicit", m.Name == "metadata" && rawjson.Absent(m.Value):
		case m.Name == "arguments":
			b.Name(m.Name)
			appendArguments(b, m.Value)
		default:
			b.Name(m.Name).Raw(m.Value)
		}
	}
	return b.End().Bytes()
}

func appendArguments(b *rawjson.Builder, arguments json.RawMessage) {
	if rawjson.KindOf(arguments) == rawjson.Array {
		b.Raw(arguments)
		return
	}
	required := map[string]bool{}
	for _, name := range requiredOf(arguments) {
		required[name] = true
	}
	b.Array()
	for _, p := range rawjson.Members(rawjson.Get(arguments, "properties")) {
		b.Object().Name("name").String(p.Name).Name("description").String(rawjson.TextOf(p.Value, "description")).
			Name("required").Bool(required[p.Name]).End()
	}
	b.End()
}

// formFor returns the schema of a form that asks for these arguments. Forms support simple types only, so other
// arguments become text fields.
func formFor(arguments json.RawMessage, names []string) json.RawMessage {
	var b rawjson.Builder
	b.Object().Name("type").String("object").Name("properties").Object()
	for _, name := range names {
		b.Name(name).Raw(fieldFor(arguments, name))
	}
	return b.End().Name("required").Strings(names).End().Bytes()
}

func fieldFor(arguments json.RawMessage, name string) json.RawMessage {
	property := rawjson.Path(arguments, "properties", name)
	for e := range rawjson.Elements(arguments) {
		if rawjson.TextOf(e, "name") == name {
			property = e
		}
	}
	var b rawjson.Builder
	kind := "string"
	switch t := rawjson.TextOf(property, "type"); t {
	case "number", "integer", "boolean":
		kind = t
	}
	b.Object().Name("type").String(kind)
	for _, keyword := range []string{"title", "description", "enum", "default", "minimum", "maximum", "minLength",
		"maxLength", "format"} {
		if v := rawjson.Get(property, keyword); !rawjson.Absent(v) {
			b.Name(keyword).Raw(rawjson.Normal(v))
		}
	}
	return b.End().Bytes()
}

// merge returns the members of both objects. Members of over take precedence.
func merge(base, over json.RawMessage) json.RawMessage {
	var b rawjson.Builder
	b.Object()
	for _, m := range rawjson.Members(base) {
		if rawjson.Get(over, m.Name) == nil {
			b.Name(m.Name).Raw(m.Value)
		}
	}
	for _, m := range rawjson.Members(over) {
		b.Name(m.Name).Raw(rawjson.Normal(m.Value))
	}
	return b.End().Bytes()
}
