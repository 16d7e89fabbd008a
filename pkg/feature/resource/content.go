package resource

import (
	"encoding/base64"
	"encoding/json"

	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// Content is the content of a resource.
type Content struct {
	uri, mimeType string
	data          []byte
	blob          bool
	meta          json.RawMessage // nil if absent
	local         bool
}

// Local reports whether the content comes from files of this machine, and not from a script or the
// network. Changes of such files can be detected without reading them.
func (c *Content) Local() bool { return c.local }

// content returns the content with its MIME type, as text or blob (RES-40 to RES-45). typed is the
// type that the provider reported, or "".
func (t *target) content(data []byte, typed string) *Content {
	c := &Content{uri: t.uri, data: data, local: t.isLocal()}
	switch {
	case t.provider == uiProvider:
		c.mimeType = mcp.UIMimeType
	case t.declared != "":
		c.mimeType = t.declared
	case typed != "":
		c.mimeType = typed
	default:
		c.mimeType = media.Detect(pathOf(t.uri), data)
	}
	c.blob = !media.IsText(data)
	return c
}

func (t *target) isLocal() bool {
	return t.provider == "file" || t.provider == uiProvider || t.provider == skillProvider
}

// Size returns the approximate number of bytes that AppendJSON writes.
func (c *Content) Size() int {
	n := 256 + len(c.uri) + len(c.mimeType) + len(c.meta)
	if c.blob {
		return n + base64.StdEncoding.EncodedLen(len(c.data))
	}
	return n + len(c.data) + len(c.data)/16
}

// AppendJSON appends the result of a read (RES-34) and the members of the protocol revision.
func (c *Content) AppendJSON(dst []byte, extra mcp.Extra) []byte {
	b := rawjson.Over(dst)
	b.Object()
	extra.AppendMembers(b)
	b.Name("contents").Array().Object().Name("uri").String(c.uri).Name("mimeType").String(c.mimeType)
	if c.blob {
		b.Name("blob").Append(func(dst []byte) []byte {
			dst = append(dst, '"') // base64 needs no escapes
			return append(base64.StdEncoding.AppendEncode(dst, c.data), '"')
		})
	} else {
		b.Name("text").Append(func(dst []byte) []byte { return rawjson.AppendValid(dst, c.data) })
	}
	if len(c.meta) > 0 {
		b.Name("_meta").Raw(c.meta)
	}
	extra.AppendOwnMeta(b.End().End())
	return b.End().Bytes()
}
