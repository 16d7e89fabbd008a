package bundle

import (
	"encoding/json"
	"path"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/lazyregexp"
)

var iconSize = lazyregexp.New(`^\d+x\d+$`)

// addPictures adds the icons and screenshots, at their place relative to the project (CLI-1419).
func (b *maker) addPictures() (err error) {
	if b.icon, err = b.AddIcon(); err != nil {
		return err
	}
	for v := range rawjson.Elements(rawjson.Get(b.Config.Meta, "icons")) {
		if err := b.addIcon(v); err != nil {
			return err
		}
	}
	for v := range rawjson.Elements(rawjson.Get(b.Config.Meta, "screenshots")) {
		src, _ := rawjson.Text(v)
		place, err := b.addPicture(src, "screenshot not found: %s (referenced in server.meta.json)")
		if err != nil {
			return err
		}
		if place != "" {
			b.Detail("Copied screenshot: %s", place)
			b.screenshots = append(b.screenshots, place)
		}
	}
	return nil
}

// addIcon adds one of the icons as MCP knows them, or as bundles do.
func (b *maker) addIcon(icon json.RawMessage) error {
	src, size := rawjson.TextOf(icon, "src"), rawjson.TextOf(icon, "size")
	for v := range rawjson.Elements(rawjson.Get(icon, "sizes")) {
		if text, _ := rawjson.Text(v); size == "" {
			size = text
		}
	}
	if strings.HasSuffix(strings.ToLower(src), ".svg") || !iconSize.MatchString(size) {
		b.Warn("icon %q is not in the manifest: clients take pictures with a size such as 48x48", src)
		return nil
	}
	place, err := b.addPicture(src, "icons src not found: %s (referenced in server.meta.json icons array)")
	if err != nil || place == "" {
		return err
	}
	b.Detail("Copied icon variant: %s", place)
	var out rawjson.Builder
	out.Object().Name("src").String(place).Name("size").String(size)
	out.Optional("theme", rawjson.TextOf(icon, "theme"))
	b.icons = append(b.icons, out.End().Bytes())
	return nil
}

// addPicture adds a picture and returns its place in the bundle, "" for one that is left
// out; a picture on the web stays there. missing is the warning for a file that does not
// exist.
func (b *maker) addPicture(src, missing string) (place string, err error) {
	if strings.HasPrefix(src, "https://") || strings.HasPrefix(src, "http://") || strings.HasPrefix(src, "data:") {
		return src, nil
	}
	for _, dir := range []string{b.Project.Root, b.Project.Server} {
		file := filepath.Join(dir, filepath.FromSlash(src))
		_, err := b.Project.ReadFile(file, stage.MaxPicture)
		if src == "" || err != nil {
			continue
		}
		rel, err := filepath.Rel(b.Project.Root, file)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		place = path.Clean(filepath.ToSlash(rel))
		name := place
		if strings.HasPrefix(place, "server/") || place == mcpb.ManifestName {
			place = "assets/" + place // the server has its place there
		}
		if ok, err := b.AddNamed(name, place); err != nil || !ok {
			return "", err
		}
		return place, nil
	}
	b.Warn(missing, src)
	return "", nil
}
