// Package media tells MIME types by name and by content, from tables of its
// own, so that answers are the same on every machine (resources RES-44, RES-45).
package media

import (
	"bytes"
	"path"
	"strings"
	"unicode/utf8"
)

// The types content has when nothing better is known.
const (
	Text   = "text/plain"
	Binary = "application/octet-stream"
)

var byExtension = map[string]string{
	"txt": Text, "log": Text, "md": "text/markdown", "markdown": "text/markdown",
	"json": "application/json", "jsonl": "application/x-ndjson", "ndjson": "application/x-ndjson",
	"yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml", "csv": "text/csv",
	"html": "text/html", "htm": "text/html", "css": "text/css", "js": "text/javascript", "mjs": "text/javascript",
	"ts": "text/x-typescript", "xml": "application/xml", "svg": "image/svg+xml",
	"sh": "text/x-shellscript", "bash": "text/x-shellscript", "py": "text/x-python", "go": "text/x-go",
	"rs": "text/x-rust", "c": "text/x-c", "h": "text/x-c",
	"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
	"ico": "image/x-icon", "pdf": "application/pdf", "zip": "application/zip", "gz": "application/gzip",
	"mp3": "audio/mpeg", "wav": "audio/wav", "mp4": "video/mp4", "wasm": "application/wasm",
}

// ByName returns the type that a file's extension stands for, in any case; ""
// when it stands for none.
func ByName(name string) string {
	return byExtension[strings.ToLower(strings.TrimPrefix(path.Ext(path.Base(name)), "."))]
}

var magic = []struct{ prefix, at8, mime string }{
	{"\x89PNG\r\n\x1a\n", "", "image/png"},
	{"\xff\xd8\xff", "", "image/jpeg"},
	{"GIF87a", "", "image/gif"},
	{"GIF89a", "", "image/gif"},
	{"RIFF", "WEBP", "image/webp"},
	{"%PDF-", "", "application/pdf"},
	{"PK\x03\x04", "", "application/zip"},
	{"\x1f\x8b", "", "application/gzip"},
}

// Sniff returns the type of content that has no telling name.
func Sniff(data []byte) string {
	if IsText(data) {
		return Text
	}
	for _, m := range magic {
		if bytes.HasPrefix(data, []byte(m.prefix)) && (m.at8 == "" || len(data) >= 12 && string(data[8:12]) == m.at8) {
			return m.mime
		}
	}
	return Binary
}

// IsText reports whether content is UTF-8 without NUL.
func IsText(data []byte) bool {
	return bytes.IndexByte(data, 0) < 0 && utf8.Valid(data)
}

// IsBinary reports whether a type stands for content that is no text whatever
// its bytes (resources RES-41). SVG is text.
func IsBinary(mimeType string) bool {
	mimeType = strings.ToLower(mimeType)
	essence, _, _ := strings.Cut(mimeType, ";")
	switch essence = strings.TrimSpace(essence); essence {
	case "image/svg+xml":
		return strings.Contains(mimeType, "charset=binary")
	case Binary, "application/x-executable", "application/pdf", "application/zip", "application/gzip",
		"application/x-gzip", "application/x-bzip2", "application/x-xz":
		return true
	}
	class, _, _ := strings.Cut(essence, "/")
	return class == "image" || class == "audio" || class == "video" || strings.Contains(mimeType, "charset=binary")
}
