package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"mcp-bash/pkg/mcpb"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// images are the pictures that a manifest names.
type images struct {
	icon        string
	icons       []json.RawMessage
	screenshots []string
}

const (
	pngSignature = "\x89PNG\r\n\x1a\n"
	maxImage     = 16 << 20
)

var iconSize = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d+x\d+$`) })

// addImages puts them into the bundle, at their place relative to the project
// (CLI-1419).
func (b *builder) addImages() (i images, err error) {
	for _, name := range []string{"icon.png", "icon.svg"} {
		content, err := b.p.ReadFile(filepath.Join(b.p.Root, name), maxImage)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				b.say.warn("%s: %s; left out", name, project.PlainError(err))
			}
			continue
		}
		if err := b.putImage(name, content); err != nil {
			return i, err
		}
		b.say.done("Included icon: %s", name)
		switch {
		case name == "icon.svg":
			b.say.warn("icon.svg is not named in the manifest: clients take PNG; add icon.png (512x512)")
		case !strings.HasPrefix(string(content), pngSignature):
			b.say.fault("icon.png is not a PNG picture")
		default:
			i.icon = name
		}
		break
	}
	for v := range rawjson.Elements(rawjson.Get(b.config.meta, "icons")) {
		if err := b.addIcon(&i, v); err != nil {
			return i, err
		}
	}
	for v := range rawjson.Elements(rawjson.Get(b.config.meta, "screenshots")) {
		src, _ := rawjson.Text(v)
		place, err := b.addImage(src, "screenshot not found: %s (referenced in server.meta.json)")
		if err != nil {
			return i, err
		}
		if place != "" {
			b.say.verbose("Copied screenshot: %s", place)
			i.screenshots = append(i.screenshots, place)
		}
	}
	return i, nil
}

// addIcon takes in one of the icons as MCP knows them, or as bundles do.
func (b *builder) addIcon(i *images, icon json.RawMessage) error {
	src, size := rawjson.TextOf(icon, "src"), rawjson.TextOf(icon, "size")
	for v := range rawjson.Elements(rawjson.Get(icon, "sizes")) {
		if text, _ := rawjson.Text(v); size == "" {
			size = text
		}
	}
	if strings.HasSuffix(strings.ToLower(src), ".svg") || !iconSize().MatchString(size) {
		b.say.warn("icon %q is not in the manifest: clients take pictures with a size such as 48x48", src)
		return nil
	}
	place, err := b.addImage(src, "icons src not found: %s (referenced in server.meta.json icons array)")
	if err != nil || place == "" {
		return err
	}
	b.say.verbose("Copied icon variant: %s", place)
	var out rawjson.Builder
	out.Object().Name("src").String(place).Name("size").String(size)
	if theme := rawjson.TextOf(icon, "theme"); theme != "" {
		out.Name("theme").String(theme)
	}
	i.icons = append(i.icons, out.End().Bytes())
	return nil
}

// addImage puts a picture into the bundle and returns its place there; what is on
// the web stays there. missing is the warning for one that is not there.
func (b *builder) addImage(src, missing string) (place string, err error) {
	if strings.HasPrefix(src, "https://") || strings.HasPrefix(src, "http://") || strings.HasPrefix(src, "data:") {
		return src, nil
	}
	for _, dir := range []string{b.p.Root, b.p.Server} {
		file := filepath.Join(dir, filepath.FromSlash(src))
		content, err := b.p.ReadFile(file, maxImage)
		if src == "" || err != nil {
			continue
		}
		rel, err := filepath.Rel(b.p.Root, file)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		place = path.Clean(filepath.ToSlash(rel))
		if strings.HasPrefix(place, "server/") || place == mcpb.ManifestName {
			place = "assets/" + place // the server has its place there
		}
		return place, b.putImage(place, content)
	}
	b.say.warn(missing, src)
	return "", nil
}

func (b *builder) putImage(place string, content []byte) error {
	if ok, _ := b.content.names.Has(place); ok {
		return nil // named twice
	}
	if err := b.content.names.Add(place); err != nil {
		return fmt.Errorf("cannot be in a bundle: %w", err)
	}
	_, err := b.content.put(place, false, io.LimitReader(strings.NewReader(string(content)), maxImage))
	return err
}
