package media

import "testing"

// RES-44: types by extension.
func TestByName(t *testing.T) {
	for name, want := range map[string]string{
		"a.txt": Text, "A.MD": "text/markdown", "x/y.tar.gz": "application/gzip", "dir.md/file": "",
		".json": "application/json",
		"a.svg": "image/svg+xml", "none": "", "a.unknown": "", "a.": "",
	} {
		if got := ByName(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// RES-45: types by content.
func TestSniff(t *testing.T) {
	for data, want := range map[string]string{
		"": Text, "héllo\n": Text, "a\x00b": Binary, "\xff\xfe": Binary, "\x89PNG\r\n\x1a\n\x00": "image/png",
		"RIFF\x00\x00\x00\x00WEBP": "image/webp",
		"RIFF\x00":                 Binary,
		"RIFF\x00\x00\x00\x00WAVE": "audio/wav", "RIFF\x00\x00\x00\x00WAV": Binary, "ID3\x04\x00": "audio/mpeg",
		"\xff\xfb\x90": "audio/mpeg", "OggS\x00": "audio/ogg", "fLaC\x00": "audio/flac",
		"\x00\x00\x00\x20ftypM4A ": "audio/mp4", "\x00\x00\x00\x20ftypavif": "image/avif",
		"\x00\x00\x00\x20ftypisom": Binary,
		"\x1f\x8b\x08":             "application/gzip", "%PDF-1.7": "application/pdf",
		"%PDF-1.7\n\xff": "application/pdf", " %PDF-": Text,
		"PK\x03\x04\x00": "application/zip",
	} {
		if got := Sniff([]byte(data)); got != want {
			t.Errorf("%q: %s", data, got)
		}
	}
}

// RES-41: text and binary types.
func TestIsBinary(t *testing.T) {
	for mimeType, want := range map[string]bool{
		"image/png": true, "IMAGE/PNG": true, "audio/x": true, "video/mp4": true, "application/octet-stream": true,
		"application/pdf": true, "application/zip ; x=y": true,
		"application/gzip": true, "application/x-xz": true, "application/x-executable": true,
		"text/plain; charset=binary": true, "image/svg+xml;charset=binary": true,
		"image/svg+xml": false, "image/svg+xml; charset=utf-8": false, "text/plain": false, "application/json": false,
		"application/x-unknown": false, "": false, "imagepng": false,
	} {
		if IsBinary(mimeType) != want {
			t.Errorf("%q: not %v", mimeType, want)
		}
	}
}

// RES-40: the name determines the type, unless the content contradicts it.
func TestDetect(t *testing.T) {
	for _, tc := range []struct{ name, data, want string }{
		{"a.md", "# a", "text/markdown"}, {"a.md", "\x00", "text/markdown"}, {"a", "x", Text}, {"a", "\x00", Binary},
		{"a.png", "\x89PNG\r\n\x1a\n\x00", "image/png"}, {"a.png", "text", Text}, {"a.png", "", Text},
		{"a.svg", "<svg/>", "image/svg+xml"}, {"a.pdf", "%PDF-1.4", "application/pdf"}, {"a", "%PDF-1.4", "application/pdf"},
		{"a.gz", "\xff", "application/gzip"},
	} {
		if got := Detect(tc.name, []byte(tc.data)); got != tc.want {
			t.Errorf("%s %q: %s, want %s", tc.name, tc.data, got, tc.want)
		}
	}
}
