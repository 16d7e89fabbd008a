package tool

import (
	"bytes"
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
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/text/ansi"
	"mcp-bash/pkg/wire/known"
	"mcp-bash/pkg/wire/mcp"
)

// A Result is the result of a call, which AppendJSON writes as a CallToolResult.
type Result struct {
	IsError bool
	// Failure is the error that the Bash edition would send. It is set if the exit status is not 0 and the tool
	// reported no error itself.
	Failure *mcp.Error
	// Status is the exit status of the tool, or 124 after a timeout.
	Status int

	cause      mcp.Cause        // of the error, unless the tool reported the error
	name       string           // "" omits the member
	own        []rawjson.Member // members of a CallToolResult that the tool printed
	texts      [][]byte         // the text items, if own is nil
	embedded   []json.RawMessage
	structured json.RawMessage // nil if absent
	noMeta     bool            // nothing ran, so there is no _meta
	stderr     string          // end of standard error, or ""
	keepColors bool            // of the texts that the tool printed in its own result
	left       bool            // a process of the script still runs
	adjusted   []schema.Adjustment
	cleanup    func() // releases the files of the call; may be nil
}

// Done releases the files of the call. The result stays valid. Done is separate so that the client
// gets the response first.
func (r *Result) Done() {
	if r.cleanup != nil {
		r.cleanup()
	}
}

// Size returns the approximate number of bytes that AppendJSON writes.
func (r *Result) Size() int {
	n := 1024 + len(r.structured) + len(r.stderr)
	for _, t := range r.texts {
		n += len(t) + len(t)/16
	}
	for _, e := range r.embedded {
		n += len(e)
	}
	for _, m := range r.own {
		n += len(m.Value)
	}
	return n
}

// AppendJSON appends the result.
func (r *Result) AppendJSON(dst []byte, extra mcp.Extra) []byte {
	b := rawjson.Over(dst)
	b.Object()
	extra.AppendMembers(b)
	b.Optional("name", r.name)
	for _, m := range r.own {
		switch m.Name {
		case "_meta", "name", "content", "isError", "structuredContent":
		default:
			if !extra.Owns(m.Name) {
				b.Name(m.Name).Raw(rawjson.Normal(m.Value))
			}
		}
	}
	r.appendContent(b.Name("content").Array())
	b.End().Name("isError").Bool(r.IsError)
	b.OptionalRaw("structuredContent", r.structured)
	if !r.noMeta || len(extra.Meta) > 0 {
		b.Name("_meta").Object()
		r.appendMeta(b, member(r.own, "_meta"), &extra)
		b.End()
	}
	return b.End().Bytes()
}

func (r *Result) appendContent(b *rawjson.Builder) {
	for item := range rawjson.Elements(member(r.own, "content")) {
		b.Raw(r.ownItem(rawjson.Normal(item)))
	}
	for _, text := range r.texts {
		b.Object().Name("type").String("text").Name("text").Text(text).End()
	}
	for _, item := range r.embedded {
		b.Raw(item)
	}
}

// ownItem returns an item that the tool printed, without colors in its text.
func (r *Result) ownItem(item json.RawMessage) json.RawMessage {
	if r.keepColors || !bytes.Contains(bytes.ToLower(item), []byte(`\u001b`)) || rawjson.TextOf(item, "type") != "text" {
		return item
	}
	text := ansi.Strip([]byte(rawjson.TextOf(item, "text")))
	return rawjson.With(item, "text", rawjson.AppendString(nil, text))
}

// hasFiles reports whether the content has items other than texts.
func (r *Result) hasFiles() bool {
	for item := range rawjson.Elements(member(r.own, "content")) {
		if rawjson.TextOf(item, "type") != "text" {
			return true
		}
	}
	return len(r.embedded) > 0
}

// member returns the value of a member, or nil.
func member(list []rawjson.Member, name string) json.RawMessage {
	for _, m := range list {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}

// legacyUI is the deprecated name of _meta.ui.resourceUri.
const legacyUI = "ui/resourceUri"

func (r *Result) appendMeta(b *rawjson.Builder, own json.RawMessage, extra *mcp.Extra) {
	extra.AppendMeta(b)
	link := rawjson.Get(own, legacyUI)
	linked := false
	for _, m := range rawjson.Members(own) {
		switch {
		case m.Name == "exitCode" || m.Name == "stderr" || m.Name == legacyUI || r.left && m.Name == leftRunning ||
			m.Name == adjustedArguments ||
			extra.OwnsMeta(m.Name):
		case m.Name == "ui" && link != nil && rawjson.KindOf(m.Value) == rawjson.Object:
			linked = true
			b.Name("ui").Object().Members(rawjson.Normal(m.Value), "resourceUri").Name("resourceUri").Raw(link).End()
		case m.Name == "ui" && link != nil:
		default:
			b.Name(m.Name).Raw(rawjson.Normal(m.Value))
		}
	}
	if link != nil && !linked {
		b.Name("ui").Object().Name("resourceUri").Raw(link).End()
	}
	if r.noMeta {
		return
	}
	b.Name("exitCode").Int(r.Status)
	b.Optional("stderr", r.stderr)
	if r.left {
		b.Name(leftRunning).Bool(true)
	}
	if r.adjusted != nil {
		b.Name(adjustedArguments).Array()
		for _, a := range r.adjusted {
			b.Object().Name("path").String(a.Path).Name("to").String(a.To).End()
		}
		b.End()
	}
}

// adjustedArguments is the member of _meta with the arguments that were converted for the schema.
const adjustedArguments = "mcpbash/adjustedArguments"

// leftRunning is the member of _meta that reports a process of the tool that still runs (T-48a).
const leftRunning = "leftRunning"

// failure returns an error result, as text and as structured content
// {"success":false,"error":{"type":…,"message":…}}. more adds members to the error.
func failure(kind, message string, more func(b *rawjson.Builder)) *Result {
	var b rawjson.Builder
	b.Object().Name("success").Bool(false).Name("error").Object().Name("type").String(kind).Name("message").String(message)
	if more != nil {
		more(&b)
	}
	return &Result{IsError: true, texts: [][]byte{[]byte(message)}, structured: b.End().End().Bytes()}
}

// replacePictures replaces pictures that are larger than the client accepts by a sentence and a link.
func (c *call) replacePictures(r *Result) {
	client := known.Find(c.request.Client.Name)
	if client.MaxPicture == 0 {
		return
	}
	replaced := func(item json.RawMessage) []json.RawMessage {
		if len(item) <= client.MaxPicture {
			return []json.RawMessage{item}
		}
		mimeType, data := picture(item)
		if len(data) <= client.MaxPicture {
			return []json.RawMessage{item}
		}
		return c.pictureLink(client, mimeType, data)
	}
	for i, m := range r.own {
		if m.Name != "content" {
			continue
		}
		var b rawjson.Builder
		b.Array()
		for item := range rawjson.Elements(m.Value) {
			for _, one := range replaced(item) {
				b.Raw(one)
			}
		}
		r.own = slices.Clone(r.own)
		r.own[i].Value = b.End().Bytes()
	}
	var embedded []json.RawMessage
	for _, item := range r.embedded {
		embedded = append(embedded, replaced(item)...)
	}
	r.embedded = embedded
}

// picture returns the type and the base64 text of a content item that is a picture, or "".
func picture(item json.RawMessage) (mimeType, data string) {
	switch rawjson.TextOf(item, "type") {
	case "image":
		mimeType, data = rawjson.TextOf(item, "mimeType"), rawjson.TextOf(item, "data")
	case "resource":
		resource := rawjson.Get(item, "resource")
		mimeType, data = rawjson.TextOf(resource, "mimeType"), rawjson.TextOf(resource, "blob")
	}
	if !strings.HasPrefix(strings.ToLower(mimeType), "image/") || !media.IsBinary(mimeType) {
		return "", ""
	}
	return mimeType, data
}

// pictureLink stores a picture, and returns the content items that replace it.
func (c *call) pictureLink(client known.Client, mimeType, data string) []json.RawMessage {
	size := base64.StdEncoding.DecodedLen(len(data)) - strings.Count(data[len(data)-2:], "=")
	sentence := fmt.Sprintf("A picture of %d bytes (%s) is left out, because %s accepts %d at most. Make a smaller one.",
		size, mimeType, client.Title, base64.StdEncoding.DecodedLen(client.MaxPicture))
	link := c.storePicture(mimeType, data)
	var b rawjson.Builder
	if link != "" {
		sentence += fmt.Sprintf(" Read it with resources/read, in parts: %s?unit=bytes&offset=0", link)
	}
	items := []json.RawMessage{b.Object().Name("type").String("text").Name("text").String(sentence).End().Bytes()}
	if link == "" || !c.request.Links {
		return items
	}
	return append(items, linkItem(link, c.entry.name+" picture", mimeType,
		"The whole picture. Add ?unit=bytes&offset=N for a part.", size))
}

// linkItem returns a content item that leads to a stored result.
func linkItem(uri, name, mimeType, description string, size int) json.RawMessage {
	var b rawjson.Builder
	return b.Object().Name("type").String("resource_link").Name("uri").String(uri).Name("name").String(name).
		Name("mimeType").String(mimeType).Name("description").String(description).Name("size").Int(size).End().Bytes()
}

// storePicture returns the URI of a stored picture, or "" if it cannot be stored.
func (c *call) storePicture(mimeType, data string) (uri string) {
	if c.tools.Results == nil {
		return ""
	}
	content, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return ""
	}
	file, err := c.tools.Results.NewFile()
	if err != nil {
		return ""
	}
	if _, err = file.Write(content); err == nil {
		uri, err = c.tools.Results.Add(file, mimeType)
	}
	if err != nil {
		file.Close()
		return ""
	}
	return uri
}

// An embed is a file that a tool adds to its result.
type embed struct{ path, mimeType, uri string }

// addEmbeds adds the files that the tool listed to a result. An error of a tool with an outputSchema gets no files.
func (c *call) addEmbeds(r *Result) {
	if !r.IsError || c.entry.outputSchema == nil {
		r.embedded = append(r.embedded, c.embeds()...)
	}
}

// embeds returns the content items of the files that the tool listed, in order. It logs a warning for files that it
// cannot add.
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
	case c.confinement != nil && errors.Is(err, fs.ErrPermission):
		return warn("Embedded resource skipped (tool '%s' may not read it): %s", c.entry.name, e.path)
	case err != nil:
		return warn("Embedded resource unreadable: %s", e.path)
	}
	return resourceItem(e, physical, data)
}

// readEmbed reads a file below a root. For a confined tool, it reads with the permissions of the script.
func (c *call) readEmbed(root, path string) ([]byte, error) {
	open := boundedfile.OpenBelow
	if c.confinement != nil {
		open = func(_, path string) (*os.File, error) { return c.confinement.Confined.OpenRegular(path) }
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
