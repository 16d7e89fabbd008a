// Package media determines MIME types by name and by content. Its tables are built in, so the results are the same on
// every machine.
package media

import (
	"bytes"
	"cmp"
	"path"
	"strings"
	"unicode/utf8"
)

// The default types of content.
const (
	Text   = "text/plain"
	Binary = "application/octet-stream"
)

var byExtension = [...][2]string{
	{"txt", Text}, {"log", Text}, {"md", "text/markdown"}, {"markdown", "text/markdown"},
	{"json", "application/json"}, {"jsonl", "application/x-ndjson"}, {"ndjson", "application/x-ndjson"},
	{"yaml", "application/yaml"}, {"yml", "application/yaml"}, {"toml", "application/toml"}, {"csv", "text/csv"},
	{"html", "text/html"}, {"htm", "text/html"}, {"css", "text/css"}, {"js", "text/javascript"},
	{"mjs", "text/javascript"}, {"ts", "text/x-typescript"}, {"xml", "application/xml"}, {"svg", "image/svg+xml"},
	{"sh", "text/x-shellscript"}, {"bash", "text/x-shellscript"}, {"py", "text/x-python"}, {"go", "text/x-go"},
	{"rs", "text/x-rust"}, {"c", "text/x-c"}, {"h", "text/x-c"},
	{"png", "image/png"}, {"jpg", "image/jpeg"}, {"jpeg", "image/jpeg"}, {"gif", "image/gif"}, {"webp", "image/webp"},
	{"ico", "image/x-icon"}, {"pdf", "application/pdf"}, {"zip", "application/zip"}, {"gz", "application/gzip"},
	{"avif", "image/avif"}, {"mp3", "audio/mpeg"}, {"wav", "audio/wav"}, {"ogg", "audio/ogg"}, {"flac", "audio/flac"},
	{"m4a", "audio/mp4"}, {"mp4", "video/mp4"}, {"wasm", "application/wasm"},
}

// ByName returns the type for a file's extension, in any case, or "".
func ByName(name string) string {
	extension := strings.ToLower(strings.TrimPrefix(path.Ext(path.Base(name)), "."))
	for _, known := range byExtension {
		if known[0] == extension {
			return known[1]
		}
	}
	return ""
}

var magic = []struct {
	prefix string
	at     int // the offset at which more bytes must match
	more   string
	mime   string
}{
	{"\x89PNG\r\n\x1a\n", 0, "", "image/png"},
	{"\xff\xd8\xff", 0, "", "image/jpeg"},
	{"GIF87a", 0, "", "image/gif"},
	{"GIF89a", 0, "", "image/gif"},
	{"RIFF", 8, "WEBP", "image/webp"},
	{"", 4, "ftypavif", "image/avif"},
	{"RIFF", 8, "WAVE", "audio/wav"},
	{"ID3", 0, "", "audio/mpeg"},
	{"\xff\xfb", 0, "", "audio/mpeg"},
	{"\xff\xf3", 0, "", "audio/mpeg"},
	{"\xff\xf2", 0, "", "audio/mpeg"},
	{"OggS", 0, "", "audio/ogg"},
	{"fLaC", 0, "", "audio/flac"},
	{"", 4, "ftypM4A ", "audio/mp4"},
	{pdf, 0, "", "application/pdf"},
	{"PK\x03\x04", 0, "", "application/zip"},
	{"\x1f\x8b", 0, "", "application/gzip"},
}

// ByMagic returns the type that the first bytes of content indicate, or "".
func ByMagic(data []byte) string {
	for _, m := range magic {
		if bytes.HasPrefix(data, []byte(m.prefix)) && len(data) > m.at && bytes.HasPrefix(data[m.at:], []byte(m.more)) {
			return m.mime
		}
	}
	return ""
}

// Detect returns the type of content whose type is not declared. It uses the name, unless the name indicates a binary
// type and the content is text. Otherwise it uses the content.
func Detect(name string, data []byte) string {
	if byName := ByName(name); byName != "" && !(IsBinary(byName) && IsText(data)) {
		return byName
	}
	return Sniff(data)
}

// Sniff returns the type of content whose name indicates no type.
func Sniff(data []byte) string {
	if IsText(data) {
		return Text
	}
	return cmp.Or(ByMagic(data), Binary)
}

// IsText reports whether content is text: UTF-8 without NUL. A PDF is never text, even if it is valid UTF-8.
func IsText(data []byte) bool {
	return bytes.IndexByte(data, 0) < 0 && utf8.Valid(data) && !bytes.HasPrefix(data, []byte(pdf))
}

// WholeRunes removes an incomplete character at the end of a text.
func WholeRunes(text []byte) []byte {
	for end := len(text) - 1; end >= max(0, len(text)-utf8.UTFMax+1); end-- {
		if utf8.RuneStart(text[end]) {
			if !utf8.FullRune(text[end:]) {
				return text[:end]
			}
			break
		}
	}
	return text
}

const pdf = "%PDF-"

// IsBinary reports whether a type is for content that is not text. SVG is text.
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
