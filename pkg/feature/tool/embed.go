package tool

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/wire/mcp"
)

// An embed is a file that a tool adds to its result (T-95).
type embed struct{ path, mimeType, uri string }

// addEmbeds adds the files that the tool listed to a result. An error of a tool with an outputSchema gets no files
// (T-218).
func (c *call) addEmbeds(r *Result) {
	if !r.IsError || c.entry.outputSchema == nil {
		r.embedded = append(r.embedded, c.embeds()...)
	}
}

// embeds returns the content items of the files that the tool listed, in order. It logs a warning
// for files that it cannot add (T-230, T-231).
func (c *call) embeds() []json.RawMessage {
	list, err := c.files.ReadResources(c.tools.project.Calls.MaxStdout)
	if err != nil {
		c.warn("list of embedded resources: " + err.Error())
		return nil
	}
	var items []json.RawMessage
	entries := parseEmbeds(list)
	for _, e := range entries {
		if item := c.embed(e); item != nil {
			items = append(items, item)
		}
	}
	if len(entries) > 0 && len(items) == 0 {
		c.logf(mcp.Debug, "Tool '%s' listed %d embedded resources, none could be added", c.entry.name, len(entries))
	}
	return items
}

// parseEmbeds parses the list: JSON values, or lines of path, type and URI that are separated by tabs.
func parseEmbeds(list []byte) (found []embed) {
	values := jsonValues(list)
	if values == nil {
		return parseEmbedLines(list)
	}
	for _, v := range values {
		if rawjson.KindOf(v) != rawjson.Array {
			found = appendEmbed(found, v)
		}
		for e := range rawjson.Elements(v) {
			found = appendEmbed(found, e)
		}
	}
	return found
}

func appendEmbed(list []embed, v json.RawMessage) []embed {
	e := embed{}
	if path, ok := rawjson.Text(v); ok {
		e.path = path
	} else {
		e = embed{rawjson.TextOf(v, "path"), rawjson.TextOf(v, "mimeType"), rawjson.TextOf(v, "uri")}
	}
	if e.path == "" {
		return list
	}
	return append(list, e)
}

func parseEmbedLines(list []byte) []embed {
	var found []embed
	for line := range strings.Lines(string(list)) {
		var e embed
		e.path, line, _ = strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
		e.mimeType, e.uri, _ = strings.Cut(line, "\t")
		if strings.TrimSpace(e.path) != "" {
			found = append(found, e)
		}
	}
	return found
}

func (c *call) embed(e embed) json.RawMessage {
	warn := func(format string, args ...any) json.RawMessage {
		c.logf(mcp.Warning, format, args...)
		return nil
	}
	path, err := fsys.Named(e.path, c.tools.project.ToolBase(c.inherits)["HOME"])
	if err != nil {
		return warn("Embedded resource skipped: %s", err)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.tools.project.Root, path)
	}
	physical, err := filepath.EvalSymlinks(path)
	if err != nil {
		if inside := c.request.Roots.Contains(filepath.Clean(path)); inside {
			return warn("Embedded resource unreadable: %s", e.path)
		}
		physical = filepath.Clean(path)
	}
	list := c.request.Roots.List
	at := slices.IndexFunc(list, func(r roots.Root) bool { return fsys.Within(r.Path, physical) })
	if at < 0 {
		var names strings.Builder
		for _, r := range list {
			fmt.Fprintf(&names, "[%s] ", r.Path)
		}
		return warn("Embedded resource skipped (outside allowed roots): path=%s roots=%s", e.path, names.String())
	}
	data, err := c.readEmbed(list[at].Path, physical)
	switch {
	case errors.Is(err, handoff.ErrTooLarge):
		return warn("Embedded resource too large: %s", e.path)
	case c.hold != nil && errors.Is(err, fs.ErrPermission):
		return warn("Embedded resource skipped (tool '%s' may not read it): %s", c.entry.name, e.path)
	case err != nil:
		return warn("Embedded resource unreadable: %s", e.path)
	}
	return resourceItem(e, physical, data)
}

// readEmbed reads a file below a root. For a confined tool, it reads with the permissions of the script (CF-62).
func (c *call) readEmbed(root, path string) ([]byte, error) {
	open := boundedfile.OpenBelow
	if c.hold != nil {
		open = func(_, path string) (*os.File, error) { return c.hold.Confined.OpenRegular(path) }
	}
	f, err := open(root, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	limit := c.tools.project.MaxResource
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = handoff.ErrTooLarge
	}
	return data, err
}

func resourceItem(e embed, physical string, data []byte) json.RawMessage {
	mimeType := e.mimeType // T-233, T-234
	if mimeType == "" {
		mimeType = media.Detect(physical, data)
	}
	return embeddedItem(cmp.Or(e.uri, project.FileURI(physical)), mimeType, data, media.IsText(data))
}

// embeddedItem returns a content item with a resource.
func embeddedItem(uri, mimeType string, data []byte, isText bool) json.RawMessage {
	var b rawjson.Builder
	b.Object().Name("type").String("resource").Name("resource").Object().
		Name("uri").String(uri).Name("mimeType").String(mimeType)
	if isText {
		b.Name("text").Text(data)
	} else {
		b.Name("blob").String(base64.StdEncoding.EncodeToString(data))
	}
	return b.End().End().Bytes()
}
