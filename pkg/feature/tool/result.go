package tool

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// A Result is what a call came to, ready to be written as a CallToolResult.
type Result struct {
	IsError bool
	// Failure is set when the tool ended with another status than 0 and reported
	// no error itself: what the Bash edition answers then (T-187).
	Failure *mcp.Error
	// Status is the exit status of the tool; of one that was timed out, 124.
	Status int

	name       string           // "" leaves the member out
	own        []rawjson.Member // of a CallToolResult that the tool printed (T-196)
	texts      [][]byte         // else its text items
	embedded   []json.RawMessage
	structured json.RawMessage // nil for none
	noMeta     bool            // nothing ran: there is nothing to say of it
	stderr     string          // the tail, "" for none
	left       bool            // something that the script left behind runs on
	tidy       func()          // clears up after the call; nil for nothing
}

// Done clears up after the call. It is a method of its own so that nobody waits
// for it; the result stays what it is.
func (r *Result) Done() {
	if r.tidy != nil {
		r.tidy()
	}
}

// Size is about how many bytes AppendJSON will write, to make room for.
func (r *Result) Size() int {
	n := 1024 + len(r.structured) + len(r.stderr)
	for _, t := range r.texts {
		n += len(t) + len(t)/16
	}
	for _, e := range r.embedded {
		n += len(e)
	}
	for _, m := range r.own {
		n += len(m.Value)
	}
	return n
}

// AppendJSON appends the result.
func (r *Result) AppendJSON(dst []byte, extra mcp.Extra) []byte {
	b := rawjson.Over(dst)
	b.Object()
	extra.AppendMembers(b)
	if r.name != "" {
		b.Name("name").String(r.name)
	}
	var ownMeta json.RawMessage
	for _, m := range r.own {
		switch {
		case m.Name == "_meta":
			ownMeta = m.Value
		case m.Name == "name" || m.Name == "content" || m.Name == "isError" || m.Name == "structuredContent" ||
			extra.Owns(m.Name):
		default:
			b.Name(m.Name).Raw(rawjson.Normal(m.Value))
		}
	}
	r.appendContent(b.Name("content").Array())
	b.End().Name("isError").Bool(r.IsError)
	if r.structured != nil {
		b.Name("structuredContent").Raw(r.structured)
	}
	if !r.noMeta || len(extra.Meta) > 0 {
		b.Name("_meta").Object()
		r.appendMeta(b, ownMeta, &extra)
		b.End()
	}
	return b.End().Bytes()
}

func (r *Result) appendContent(b *rawjson.Builder) {
	for _, m := range r.own {
		if m.Name == "content" {
			for item := range rawjson.Elements(m.Value) {
				b.Raw(rawjson.Normal(item))
			}
		}
	}
	for _, text := range r.texts {
		b.Object().Name("type").String("text").Name("text").Text(text).End()
	}
	for _, item := range r.embedded {
		b.Raw(item)
	}
}

// legacyUI is the deprecated name of _meta.ui.resourceUri (T-251).
const legacyUI = "ui/resourceUri"

func (r *Result) appendMeta(b *rawjson.Builder, own json.RawMessage, extra *mcp.Extra) {
	extra.AppendMeta(b)
	link := rawjson.Get(own, legacyUI)
	linked := false
	for _, m := range rawjson.Members(own) {
		switch {
		case m.Name == "exitCode" || m.Name == "stderr" || m.Name == legacyUI || r.left && m.Name == leftRunning ||
			extra.OwnsMeta(m.Name):
		case m.Name == "ui" && link != nil && rawjson.KindOf(m.Value) == rawjson.Object:
			linked = true
			b.Name("ui").Object()
			for _, u := range rawjson.Members(m.Value) {
				if u.Name != "resourceUri" {
					b.Name(u.Name).Raw(rawjson.Normal(u.Value))
				}
			}
			b.Name("resourceUri").Raw(link).End()
		case m.Name == "ui" && link != nil:
		default:
			b.Name(m.Name).Raw(rawjson.Normal(m.Value))
		}
	}
	if link != nil && !linked {
		b.Name("ui").Object().Name("resourceUri").Raw(link).End()
	}
	if r.noMeta {
		return
	}
	b.Name("exitCode").Int(r.Status)
	if r.stderr != "" {
		b.Name("stderr").String(r.stderr)
	}
	if r.left {
		b.Name(leftRunning).Bool(true)
	}
}

// leftRunning is the member of _meta that says that a process of the tool runs on (T-48a).
const leftRunning = "leftRunning"

// failure is a result that tells the model what went wrong, in words and as
// structured content {"success":false,"error":{"type":…,"message":…}}; more
// adds members to the error.
func failure(kind, message string, more func(b *rawjson.Builder)) *Result {
	var b rawjson.Builder
	b.Object().Name("success").Bool(false).Name("error").Object().Name("type").String(kind).Name("message").String(message)
	if more != nil {
		more(&b)
	}
	return &Result{IsError: true, texts: [][]byte{[]byte(message)}, structured: b.End().End().Bytes()}
}
