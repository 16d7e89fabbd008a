package tool

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
)

// AppendListed appends a registry entry in the form of tools/list. anySchema permits an
// outputSchema for other values than objects, as in the newest revision.
func AppendListed(dst []byte, item json.RawMessage, anySchema bool) []byte {
	b := rawjson.Over(dst)
	b.Object()
	var meta json.RawMessage
	own := toolMeta{}
	_, long := ParseLongRunning(item)
	for _, m := range rawjson.Members(item) {
		switch m.Name {
		case "requires", "validateInput", "securityLevel", "confine", "output", "largeResultBytes", "longRunning",
			"keepColors", "trial", access.Unreadable:
		case "name":
			own.name = m.Value
			b.Name("name").Raw(m.Value)
		case "id":
			own.id = m.Value
		case "version":
			own.version = m.Value
		case "capabilities":
			own.capabilities = m.Value
		case "_meta":
			meta = m.Value
		case "timeoutSecs":
			if !rawjson.Absent(m.Value) {
				b.Name(m.Name).Raw(m.Value)
			}
		case "outputSchema":
			if long { // a handle does not match it (TASK-3)
				continue
			}
			if anySchema || rawjson.TextOf(m.Value, "type") == "object" {
				b.Name(m.Name).Raw(m.Value)
			}
		default:
			b.Name(m.Name).Raw(m.Value)
		}
	}
	if meta != nil || own.declared() {
		b.Name("_meta").Object().Members(meta)
		own.append(b)
		b.End()
	}
	return b.End().Bytes()
}

// toolMeta has the declarations of a tool for programs that choose among tools.
type toolMeta struct{ name, id, version, capabilities json.RawMessage }

func (t *toolMeta) declared() bool {
	return t.id != nil || t.version != nil || t.capabilities != nil
}

func (t *toolMeta) append(b *rawjson.Builder) {
	if !t.declared() {
		return
	}
	id := t.id
	if id == nil {
		id = t.name
	}
	b.Name("mcpbash/tool").Object().Name("id").Raw(id)
	b.OptionalRaw("version", t.version)
	b.OptionalRaw("capabilities", t.capabilities)
	b.End()
}
