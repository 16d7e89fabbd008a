package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
)

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
