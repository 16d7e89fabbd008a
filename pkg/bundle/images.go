package bundle

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/lazyregexp"
)

type images struct {
	icon        string
	icons       []json.RawMessage
	screenshots []string
}

const (
	pngSignature = "\x89PNG\r\n\x1a\n"
	maxImage     = 16 << 20
)

var iconSize = lazyregexp.New(`^\d+x\d+$`)

// addMainIcon adds icon.png, or else icon.svg.
func (b *builder) addMainIcon(root *source, i *images) error {
	for _, name := range []string{"icon.png", "icon.svg"} {
		content, err := b.p.ReadFile(filepath.Join(b.p.Root, name), maxImage)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			b.say.warn("%s: %s; left out", name, fsys.Cause(err))
			continue
		case name == "icon.png" && !strings.HasPrefix(string(content), pngSignature):
			b.say.warn("icon.png is not a PNG picture; left out")
			continue
		}
		if ok, err := b.putImage(root, name, name); err != nil {
			return err
		} else if !ok {
			continue
		}
		b.say.done("Included icon: %s", name)
		if name == "icon.svg" {
			b.say.warn("icon.svg is not named in the manifest: clients take PNG; add icon.png (512x512)")
		} else {
			i.icon = name
		}
		break
	}
	return nil
}

// addImages adds them to the bundle, at their place relative to the project (CLI-1419).
func (b *builder) addImages(root *source) (i images, err error) {
	if err := b.addMainIcon(root, &i); err != nil {
		return i, err
	}
	for v := range rawjson.Elements(rawjson.Get(b.config.meta, "icons")) {
		if err := b.addIcon(root, &i, v); err != nil {
			return i, err
		}
	}
	for v := range rawjson.Elements(rawjson.Get(b.config.meta, "screenshots")) {
		src, _ := rawjson.Text(v)
		place, err := b.addImage(root, src, "screenshot not found: %s (referenced in server.meta.json)")
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

// addIcon adds one of the icons as MCP knows them, or as bundles do.
func (b *builder) addIcon(root *source, i *images, icon json.RawMessage) error {
	src, size := rawjson.TextOf(icon, "src"), rawjson.TextOf(icon, "size")
	for v := range rawjson.Elements(rawjson.Get(icon, "sizes")) {
		if text, _ := rawjson.Text(v); size == "" {
			size = text
		}
	}
	if strings.HasSuffix(strings.ToLower(src), ".svg") || !iconSize.MatchString(size) {
		b.say.warn("icon %q is not in the manifest: clients take pictures with a size such as 48x48", src)
		return nil
	}
	place, err := b.addImage(root, src, "icons src not found: %s (referenced in server.meta.json icons array)")
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

// addImage adds a picture and returns its place in the bundle, "" for one that is left
// out; a picture on the web stays there. missing is the warning for a file that does not
// exist.
func (b *builder) addImage(root *source, src, missing string) (place string, err error) {
	if strings.HasPrefix(src, "https://") || strings.HasPrefix(src, "http://") || strings.HasPrefix(src, "data:") {
		return src, nil
	}
	for _, dir := range []string{b.p.Root, b.p.Server} {
		file := filepath.Join(dir, filepath.FromSlash(src))
		_, err := b.p.ReadFile(file, maxImage)
		if src == "" || err != nil {
			continue
		}
		rel, err := filepath.Rel(b.p.Root, file)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		place = path.Clean(filepath.ToSlash(rel))
		name := place
		if strings.HasPrefix(place, "server/") || place == mcpb.ManifestName {
			place = "assets/" + place // the server has its place there
		}
		if ok, err := b.putImage(root, name, place); err != nil || !ok {
			return "", err
		}
		return place, nil
	}
	b.say.warn(missing, src)
	return "", nil
}

// putImage adds a file of the project, by the rules for all files, and reports whether it
// is in the bundle.
func (b *builder) putImage(root *source, name, place string) (bool, error) {
	if ok, _ := b.content.names.Has(place); ok {
		return true, nil // named twice
	}
	if b.content.selection.isIgnored(name, false) {
		b.say.warn("%s is not in the manifest: %s leaves it out", name, ignoreName)
		return false, nil
	}
	err := b.content.tree(root, name, place)
	ok, _ := b.content.names.Has(place)
	return ok, err
}
