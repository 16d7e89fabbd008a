package project

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// maxIcon limits icon files, in bytes.
const maxIcon = 1 << 20

func iconType(extension string) string {
	switch extension {
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".gif":
		return "image/gif"
	case ".webp":
		return "image/webp"
	case ".ico":
		return "image/x-icon"
	}
	return "application/octet-stream"
}

// InlineIcons returns an icons array whose files are replaced by data URIs, so that a client can show them (R-101 to
// Relative paths are relative to one of dirs. The files must be in the project. InlineIcons reports unusable
// icons to warn, and omits them. If no icon is left, the result is nil. If observe is not nil, it gets every path
// that was tried.
func (p *Project) InlineIcons(icons json.RawMessage, dirs []string, observe func(path string),
	warn func(string)) json.RawMessage {
	var b rawjson.Builder
	b.Array()
	n := 0
	for icon := range rawjson.Elements(icons) {
		src, ok := rawjson.Text(rawjson.Get(icon, "src"))
		if !ok || src == "" {
			continue
		}
		if hasScheme(src) {
			b.Raw(rawjson.Normal(icon))
			n++
			continue
		}
		inlined, err := p.inlineIcon(icon, src, dirs, observe)
		if err != nil {
			warn(fmt.Sprintf("icon %s: %s", p.iconLabel(src), err))
			continue
		}
		b.Raw(inlined)
		n++
	}
	if n == 0 {
		return nil
	}
	return b.End().Bytes()
}

// iconLabel returns an absolute path in the project relative to it. Any other path is as the metadata has it.
func (p *Project) iconLabel(src string) string {
	path := filepath.FromSlash(src)
	if rel, err := filepath.Rel(p.Root, path); err == nil && filepath.IsAbs(path) && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return src
}

// hasScheme reports whether a text begins with the scheme of a URI. A single letter is a drive of Windows.
func hasScheme(src string) bool {
	scheme, _, found := strings.Cut(src, ":")
	if !found || len(scheme) < 2 {
		return false
	}
	for i, c := range []byte(scheme) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return true
}

func (p *Project) inlineIcon(icon json.RawMessage, src string, dirs []string,
	observe func(string)) (json.RawMessage, error) {
	candidates := []string{src}
	if !filepath.IsAbs(src) {
		candidates = candidates[:0]
		for _, dir := range dirs {
			candidates = append(candidates, filepath.Join(dir, filepath.FromSlash(src)))
		}
	}
	var data []byte
	err := errors.New("no such file")
	for _, path := range candidates {
		if observe != nil {
			observe(path)
		}
		text, errRead := p.ReadFile(path, maxIcon)
		if errors.Is(errRead, fs.ErrNotExist) {
			continue
		}
		data, err = text, errRead
		break
	}
	if err != nil {
		return nil, err
	}
	mime := rawjson.TextOf(icon, "mimeType")
	given := mime != ""
	if !given {
		mime = iconType(strings.ToLower(filepath.Ext(src)))
	}
	uri := "data:" + mime + ";base64," + base64.StdEncoding.EncodeToString(data)
	icon = rawjson.With(rawjson.Normal(icon), "src", rawjson.Quote(uri))
	if !given {
		icon = rawjson.With(icon, "mimeType", rawjson.Quote(mime))
	}
	return icon, nil
}
