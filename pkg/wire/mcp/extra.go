package mcp

import (
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// Extra are members that a revision of the protocol adds to the result of a method.
type Extra struct {
	Members []rawjson.Member // of the result; they come first
	Meta    []rawjson.Member // of its _meta
}

// Owns reports whether the revision sets a member of the result. A member of a script with the
// same name is dropped (M-30).
func (e *Extra) Owns(name string) bool { return has(e.Members, name) }

// OwnsMeta is like Owns for a member of _meta. Only the server sets names with the prefix of the
// protocol.
func (e *Extra) OwnsMeta(name string) bool {
	return has(e.Meta, name) || len(e.Meta) > 0 && strings.HasPrefix(name, metaPrefix)
}

// AppendMembers appends the members to an open result.
func (e *Extra) AppendMembers(b *rawjson.Builder) { appendAll(b, e.Members) }

// AppendMeta appends the members to an open _meta.
func (e *Extra) AppendMeta(b *rawjson.Builder) { appendAll(b, e.Meta) }

// AppendOwnMeta appends a _meta with only these members, if there are any.
func (e *Extra) AppendOwnMeta(b *rawjson.Builder) {
	if len(e.Meta) > 0 {
		b.Name("_meta").Object()
		e.AppendMeta(b)
		b.End()
	}
}

func appendAll(b *rawjson.Builder, list []rawjson.Member) {
	for _, m := range list {
		b.Name(m.Name).Raw(m.Value)
	}
}

func has(list []rawjson.Member, name string) bool {
	for i := range list {
		if list[i].Name == name {
			return true
		}
	}
	return false
}
