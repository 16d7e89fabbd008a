package sdk_test

import (
	"encoding/base64"
	"path/filepath"
	"strings"
	"testing"
)

// SDK-77: images and sounds.
func TestMedia(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	medium := func(kind, data, mimeType string) outcome {
		data = base64.StdEncoding.EncodeToString([]byte(data))
		return out(`{"content":[{"type":"` + kind + `","data":"` + data + `","mimeType":"` + mimeType +
			`"}],"isError":false}` +
			"\n")
	}
	var rows []row
	for name, c := range map[string]struct{ kind, data, mimeType string }{
		"shot":       {"image", "\x89PNG\r\n\x1a\n" + string(all), "image/png"},
		"shot.jpg":   {"image", "\xff\xd8\xff\xe0\x00\x10JFIF\x00", "image/jpeg"},
		"misnamed":   {"image", "GIF89a\x01\x00", "image/gif"},
		"a.png":      {"image", "RIFF\x10\x00\x00\x00WEBPVP8 ", "image/webp"}, // the content decides
		"-n":         {"image", "\x00\x00\x00\x20ftypavif", "image/avif"},
		"pic.SVG":    {"image", "<svg xmlns='http://www.w3.org/2000/svg'/>\n", "image/svg+xml"},
		"beep":       {"audio", "RIFF\x10\x00\x00\x00WAVEfmt ", "audio/wav"},
		"a b'c\"d":   {"audio", "ID3\x04\x00", "audio/mpeg"},
		"frames":     {"audio", "\xff\xfb\x90\x00", "audio/mpeg"},
		"x.ogg":      {"audio", "OggS\x00\x02", "audio/ogg"},
		"x.flac":     {"audio", "fLaC\x00", "audio/flac"},
		"voice.m4a":  {"audio", "\x00\x00\x00\x20ftypM4A \x00", "audio/mp4"},
		"sub/é.flac": {"audio", "fLaC", "audio/flac"},
	} {
		write(t, filepath.Join(dir, name), c.data)
		script := "mcp_result_" + c.kind + " " + quoted(name)
		rows = append(rows, row{"SDK-77", tool{dir: dir, script: script}, medium(c.kind, c.data, c.mimeType), ""})
	}
	const page = "<html>not found</html>"
	write(t, filepath.Join(dir, "page.png"), page)
	write(t, filepath.Join(dir, "empty.png"), "")
	write(t, filepath.Join(dir, "large"), strings.Repeat("x", 3073))
	write(t, filepath.Join(dir, "fits"), strings.Repeat("x", 3072))
	wrong := func(text string) outcome { return internal("mcp_result_" + text) }
	const unknown = ": neither name nor content show its type, give it as well "
	for script, want := range map[string]outcome{
		`mcp_result_image page.png image/png`: medium("image", page, "image/png"),
		`mcp_result_image page.png`:           wrong("image" + unknown + "(image/...): page.png"),
		`mcp_result_audio shot`:               wrong("audio" + unknown + "(audio/...): shot"),
		`mcp_result_image shot audio/wav`:     wrong("image: not a MIME type image/...: audio/wav"),
		`mcp_result_image shot 'image/"'`:     wrong(`image: not a MIME type image/...: image/"`),
		`mcp_result_image none`:               wrong("image: not a readable file: none"),
		`mcp_result_image`:                    wrong("image: not a readable file: "),
		`mcp_result_image sub`:                wrong("image: not a readable file: sub"),
		`mcp_result_image empty.png`:          wrong("image: the file is empty: empty.png"),
		`mcp_result_audio fits audio/wav`:     medium("audio", strings.Repeat("x", 3072), "audio/wav"),
		`mcp_result_audio large audio/wav`: wrong("audio: too large for a result of 5120 bytes " +
			"(MCPBASH_MAX_TOOL_OUTPUT_SIZE): large"),
		`MCPBASH_MODE=minimal; mcp_result_image misnamed`: medium("image", "GIF89a\x01\x00", "image/gif"),
	} {
		env := []string{"MCPBASH_MAX_TOOL_OUTPUT_SIZE=5120"}
		rows = append(rows, row{"SDK-77", tool{dir: dir, env: env, script: script}, want, ""})
	}
	check(t, ways, rows)
}
