package tool

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/known"
)

// replacePictures replaces pictures that are larger than the client accepts by a sentence and a link (T-239).
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
	var l rawjson.Builder
	return append(items, l.Object().Name("type").String("resource_link").Name("uri").String(link).
		Name("name").String(c.entry.name+" picture").Name("mimeType").String(mimeType).
		Name("description").String("The whole picture. Add ?unit=bytes&offset=N for a part.").
		Name("size").Int(size).End().Bytes())
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
