package mcp

import (
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// Extra is what a revision of the protocol adds to a result beside what the method made.
type Extra struct {
	Members []rawjson.Member // of the result; they stand first
	Meta    []rawjson.Member // of its _meta
}

// Owns reports whether a member of a result is the revision's own, so that what a script
// printed under that name is dropped (M-30).
func (e *Extra) Owns(name string) bool { return has(e.Members, name) }

// OwnsMeta is Owns for a member of _meta: the protocol's own names are the server's to give.
func (e *Extra) OwnsMeta(name string) bool {
	return has(e.Meta, name) || len(e.Meta) > 0 && strings.HasPrefix(name, metaPrefix)
}

// AppendMembers appends the members to a result that is begun.
func (e *Extra) AppendMembers(b *rawjson.Builder) { appendAll(b, e.Members) }

// AppendMeta appends the members to a _meta that is begun.
func (e *Extra) AppendMeta(b *rawjson.Builder) { appendAll(b, e.Meta) }

// AppendOwnMeta appends a _meta of nothing else, unless there is nothing.
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
