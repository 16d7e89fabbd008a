package prompt

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// setMessages parses a template that is a JSON array of messages (T-830). Values are inserted after
// parsing, so they cannot break the JSON.
func (r *Result) setMessages(template string, f *filler) error {
	doc, err := rawjson.Check([]byte(template))
	if err != nil {
		return err
	}
	if rawjson.KindOf(doc) != rawjson.Array {
		return errors.New("not an array of messages")
	}
	var texts []string
	n := 0
	for m := range rawjson.Elements(doc) {
		n++
		role := rawjson.TextOf(m, "role")
		if role != "user" && role != "assistant" {
			return fmt.Errorf("message %d: role must be user or assistant", n)
		}
		content, text, err := f.content(rawjson.Get(m, "content"))
		if err != nil {
			return fmt.Errorf("message %d: %w", n, err)
		}
		if text != nil {
			texts = append(texts, *text)
		}
		var b rawjson.Builder
		r.messages = append(r.messages, b.Object().Name("role").String(role).Name("content").Raw(content).End().Bytes())
	}
	r.text = rawjson.Quote(strings.Join(texts, "\n\n"))
	return nil
}

// content returns the content of a message. text is set for text content.
func (f *filler) content(c json.RawMessage) (content json.RawMessage, text *string, err error) {
	if s, ok := rawjson.Text(c); ok {
		if s, err = f.fill(s); err != nil {
			return nil, nil, err
		}
		var b rawjson.Builder
		return b.Object().Name("type").String("text").Name("text").String(s).End().Bytes(), &s, nil
	}
	if rawjson.KindOf(c) != rawjson.Object {
		return nil, nil, errors.New("content must be a string or an object")
	}
	if c, err = f.fillAll(c); err != nil {
		return nil, nil, err
	}
	switch kind := rawjson.TextOf(c, "type"); kind {
	case "text":
		s, ok := rawjson.Text(rawjson.Get(c, "text"))
		if !ok {
			return nil, nil, errors.New("text content needs a text")
		}
		return c, &s, nil
	case "image", "audio":
		content, err = f.withData(c)
	case "resource":
		content, err = f.withResource(c)
	case "resource_link":
		if content = c; rawjson.TextOf(c, "uri") == "" || rawjson.TextOf(c, "name") == "" {
			err = errors.New("a resource_link needs a uri and a name")
		}
	default:
		err = fmt.Errorf("unknown content type %q", kind)
	}
	return content, nil, err
}

func (f *filler) fillAll(value json.RawMessage) (json.RawMessage, error) {
	var b rawjson.Builder
	err := f.appendFilled(&b, value)
	return b.Bytes(), err
}

func (f *filler) appendFilled(b *rawjson.Builder, value json.RawMessage) error {
	switch rawjson.KindOf(value) {
	case rawjson.String:
		s, _ := rawjson.Text(value)
		s, err := f.fill(s)
		b.String(s)
		return err
	case rawjson.Array:
		b.Array()
		for e := range rawjson.Elements(value) {
			if err := f.appendFilled(b, e); err != nil {
				return err
			}
		}
		b.End()
	case rawjson.Object:
		b.Object()
		for _, m := range rawjson.Members(value) {
			b.Name(m.Name)
			if err := f.appendFilled(b, m.Value); err != nil {
				return err
			}
		}
		b.End()
	default:
		b.Raw(value)
	}
	return nil
}

func (f *filler) withData(c json.RawMessage) (json.RawMessage, error) {
	path, ok := rawjson.Text(rawjson.Get(c, "path"))
	var data []byte
	var err error
	if ok {
		data, err = f.embedded(path)
	} else if text, given := rawjson.Text(rawjson.Get(c, "data")); given {
		data, err = base64.StdEncoding.DecodeString(text)
	} else {
		err = errors.New("needs data or a path")
	}
	if err != nil {
		return nil, err
	}
	return replaceMembers(c, []rawjson.Member{
		{Name: "data", Value: rawjson.Quote(base64.StdEncoding.EncodeToString(data))},
		{Name: "mimeType", Value: rawjson.Quote(typeOf(c, path, data))},
	}), nil
}

func (f *filler) withResource(c json.RawMessage) (json.RawMessage, error) {
	inner := rawjson.Get(c, "resource")
	if rawjson.KindOf(inner) != rawjson.Object {
		return nil, errors.New("needs a resource")
	}
	path, ok := rawjson.Text(rawjson.Get(inner, "path"))
	if !ok {
		_, isText := rawjson.Text(rawjson.Get(inner, "text"))
		_, isBlob := rawjson.Text(rawjson.Get(inner, "blob"))
		if rawjson.TextOf(inner, "uri") == "" || isText == isBlob {
			return nil, errors.New("the resource needs a path, or a uri with text or blob")
		}
		return c, nil
	}
	data, err := f.embedded(path)
	if err != nil {
		return nil, err
	}
	members := []rawjson.Member{{Name: "mimeType", Value: rawjson.Quote(typeOf(inner, path, data))}}
	if rawjson.TextOf(inner, "uri") == "" {
		members = append(members, rawjson.Member{Name: "uri",
			Value: rawjson.Quote(project.FileURI(f.files.root.Name() + "/" + path))})
	}
	if media.IsText(data) {
		members = append(members, rawjson.Member{Name: "text", Value: rawjson.AppendString(nil, data)})
	} else {
		members = append(members, rawjson.Member{Name: "blob",
			Value: rawjson.Quote(base64.StdEncoding.EncodeToString(data))})
	}
	return replaceMembers(c, []rawjson.Member{{Name: "resource", Value: replaceMembers(inner, members)}}), nil
}

// typeOf returns the MIME type: as declared, else by file name, else by content.
func typeOf(item json.RawMessage, path string, data []byte) string {
	if given := rawjson.TextOf(item, "mimeType"); given != "" {
		return given
	}
	return media.Detect(path, data)
}

// replaceMembers returns an object without its path and with these members.
func replaceMembers(object json.RawMessage, members []rawjson.Member) json.RawMessage {
	except := []string{"path"}
	for _, m := range members {
		except = append(except, m.Name)
	}
	var b rawjson.Builder
	b.Object().Members(object, except...)
	for _, m := range members {
		b.Name(m.Name).Raw(m.Value)
	}
	return b.End().Bytes()
}
