package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// formatVersion is the layout of the file, schemaVersion that of the items
//
const (
	formatVersion = "1"
	schemaVersion = "1"
)

// envelopeNesting is the maximum depth of a registry file. Items are some levels deeper in
// it than in metadata.
const envelopeNesting = item.MaxNesting + 10

// writeEnvelope returns the text of a registry file, or nil if it would be
// longer than limit bytes.
func writeEnvelope(items []json.RawMessage, hash string, generated time.Time, limit int) []byte {
	size := 1024
	for _, item := range items {
		size += 2 * len(item)
	}
	dst := make([]byte, 0, min(size, limit))
	dst = append(dst, "{\n  \"format_version\": "+formatVersion+",\n  \"version\": "+schemaVersion+",\n"...)
	dst = append(dst, "  \"generatedAt\": \""...)
	dst = generated.UTC().AppendFormat(dst, "2006-01-02T15:04:05Z")
	dst = append(dst, "\",\n  \"items\": ["...)
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendIndent(append(dst, "\n    "...), item, 2)
		if len(dst) > limit {
			return nil
		}
	}
	if len(items) > 0 {
		dst = append(dst, "\n  "...)
	}
	dst = append(dst, "],\n  \"hash\": "...)
	dst = rawjson.AppendString(dst, hash)
	dst = append(dst, ",\n  \"total\": "...)
	dst = strconv.AppendInt(dst, int64(len(items)), 10)
	dst = append(dst, "\n}\n"...)
	if len(dst) > limit {
		return nil
	}
	return dst
}

type envelope struct {
	hash  string
	items []json.RawMessage // as written
}

// parseEnvelope reads the text of a registry file. The error is the reason why the text is
// invalid.
func parseEnvelope(text []byte) (*envelope, error) {
	doc, err := item.CheckJSON(text, envelopeNesting)
	if err != nil {
		return nil, err
	}
	if rawjson.KindOf(doc) != rawjson.Object {
		return nil, item.ErrNoObject
	}
	if string(rawjson.Get(doc, "format_version")) != formatVersion {
		return nil, errors.New("format_version is not " + formatVersion)
	}
	items := rawjson.Get(doc, "items")
	if rawjson.KindOf(items) != rawjson.Array {
		return nil, errors.New("items is not an array")
	}
	e := &envelope{hash: rawjson.TextOf(doc, "hash")}
	if e.hash == "" {
		return nil, errors.New("missing hash")
	}
	for item := range rawjson.Elements(items) {
		if rawjson.KindOf(item) != rawjson.Object {
			return nil, errors.New("an item is not an object")
		}
		e.items = append(e.items, item)
	}
	return e, nil
}

// compact returns the items without white space.
func (e *envelope) compact() []json.RawMessage {
	size := 0
	for _, item := range e.items {
		size += len(item)
	}
	arena := make([]byte, 0, size)
	list := make([]json.RawMessage, len(e.items))
	for i, item := range e.items {
		start := len(arena)
		arena = rawjson.AppendCompact(arena, item)
		list[i] = arena[start:len(arena):len(arena)]
	}
	return list
}

func (e *envelope) list(kind *kinds.Kind) *List {
	l := &List{Kind: kind, Hash: e.hash, Items: make([]item.Item, len(e.items))}
	for i, entry := range e.compact() {
		l.Items[i] = item.Item{Name: rawjson.TextOf(entry, "name"), JSON: entry}
	}
	return l
}

func (e *envelope) found() []item.Candidate {
	list := make([]item.Candidate, len(e.items))
	for i, entry := range e.compact() {
		list[i] = item.CandidateOf(entry)
	}
	return list
}

// hashOf returns the SHA-256 of the canonical form of a registry's items. It leaves out
// derived URIs, which depend on the path of the project.
func hashOf(items []json.RawMessage) string {
	h := sha256.New()
	h.Write([]byte{'['})
	var text []byte
	for i, item := range items {
		if text = text[:0]; i > 0 {
			text = append(text, ',')
		}
		text = rawjson.AppendCanonical(text, portable(item))
		h.Write(text)
	}
	h.Write([]byte{']'})
	return hex.EncodeToString(h.Sum(nil))
}

// portable returns an item without a derived URI.
func portable(item json.RawMessage) json.RawMessage {
	if !rawjson.True(rawjson.Get(item, "uriAuto")) {
		return item
	}
	var b rawjson.Builder
	return b.Object().Members(item, "uri").End().Bytes()
}
