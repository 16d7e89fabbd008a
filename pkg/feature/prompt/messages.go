package prompt

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/filecache"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

// setMessages parses a template that is a JSON array of messages. Values are inserted after parsing, so they cannot
// break the JSON.
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
	var filled rawjson.Builder
	if err = f.appendFilled(&filled, c); err != nil {
		return nil, nil, err
	}
	c = filled.Bytes()
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

type filler struct {
	values map[string]string // arguments that can be inserted
	files  *files
	room   budget
}

// A budget is the number of bytes that may still be inserted into a response. It limits the memory
// for templates with many placeholders or files.
type budget struct{ left int }

// take subtracts n bytes. A budget that was exceeded once stays exceeded.
func (r *budget) take(n int) error {
	if r.left -= min(n, r.left+1); r.left < 0 {
		return errTooLarge
	}
	return nil
}

var errTooLarge = errors.New("larger than a response may be; see MCPBASH_MAX_TOOL_OUTPUT_SIZE")

func valuesOf(arguments json.RawMessage) map[string]string {
	v := map[string]string{}
	for name, value := range rawjson.All(arguments) {
		switch rawjson.KindOf(value) {
		case rawjson.String:
			v[name], _ = rawjson.Text(value)
		case rawjson.Number, rawjson.Bool:
			v[name] = string(value)
		default:
			delete(v, name)
		}
	}
	return v
}

// fill replaces each {{name}} of a known argument by its value, in one pass and literally. The error is errTooLarge.
func (f *filler) fill(template string) (string, error) {
	var b strings.Builder
	for {
		open := strings.Index(template, "{{")
		if open < 0 {
			break
		}
		name := nameAt(template[open+2:])
		rest, closed := strings.CutPrefix(template[open+2+len(name):], "}}")
		value, known := f.values[name]
		if !closed || !known || name == "" { // a name may begin at the second brace
			b.WriteString(template[:open+1])
			template = template[open+1:]
			continue
		}
		if err := f.room.take(len(value)); err != nil {
			return "", err
		}
		b.Grow(len(template) + len(value))
		b.WriteString(template[:open])
		b.WriteString(value)
		template = rest
	}
	if b.Len() == 0 {
		return template, nil
	}
	b.WriteString(template)
	return b.String(), nil
}

// nameAt returns the name at the beginning of a text, or "".
func nameAt(s string) string {
	for i, c := range []byte(s) {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return s[:i]
		}
	}
	return s
}

// files reads files below the prompts directory, and refuses paths that lead out of it.
type files struct {
	dir  string
	root *os.Root // of dir, or nil before it is needed
	max  int      // maximum size of a file, which is the limit of a response
	kept *filecache.Cache
}

func (f *filler) embedded(path string) ([]byte, error) {
	data, err := f.files.bytes(path)
	if err == nil {
		err = f.room.take(len(data))
	}
	return data, err
}

func (f *files) close() {
	if f.root != nil {
		f.root.Close()
	}
}

func (f *files) bytes(path string) ([]byte, error) {
	path = filepath.FromSlash(path)
	if !filepath.IsLocal(path) {
		return nil, fmt.Errorf("%s leads out of the prompts directory", path)
	}
	if filepath.Clean(path) == path { // "file/" is not a file
		if data, ok := f.kept.Read(filepath.Join(f.dir, path), f.max); ok {
			return data, nil
		}
	}
	if f.root == nil {
		root, err := os.OpenRoot(f.dir)
		if err != nil {
			return nil, err
		}
		f.root = root
	}
	data, err := boundedfile.ReadIn(f.root, path, f.max)
	if _, large := errors.AsType[*boundedfile.TooLargeError](err); large {
		err = errTooLarge
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// text reads a template, without NUL bytes and final line breaks.
func (f *files) text(path string) (string, error) {
	data, err := f.bytes(path)
	if err != nil {
		return "", err
	}
	data = bytes.TrimPrefix(data, rawjson.ByteOrderMark)
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
	}
	if bytes.IndexByte(data, 0) >= 0 {
		data = bytes.ReplaceAll(data, []byte{0}, nil)
	}
	return string(bytes.TrimRight(data, "\r\n")), nil
}

// A Misplaced is a placeholder that is not replaced: it contains spaces, or no argument has its name.
type Misplaced struct {
	Line  int    // from 1
	Fault string // the cause, and a remedy if one is known
}

// FindMisplaced returns the placeholders in a template that are not replaced, each text once. The arguments are those
// that metadata declares.
func FindMisplaced(template string, arguments json.RawMessage) []Misplaced {
	return findMisplaced(template, declaredNames(arguments), nil)
}

// findMisplaced is [FindMisplaced] with the names of declared arguments, and with more arguments.
func findMisplaced(template string, declared []string, given map[string]string) (list []Misplaced) {
	seen := map[string]bool{}
	for at := 0; ; {
		next := strings.Index(template[at:], "{{")
		if next < 0 {
			return list
		}
		at += next
		whole, name := placeholderAt(template[at:])
		fault := ""
		switch _, known := given[name]; {
		case whole == "":
			at++ // a placeholder may begin at the second brace
			continue
		case len(whole) != len("{{}}")+len(name):
			fault = fmt.Sprintf("%s is not replaced; write {{%s}}", whole, name)
		case !known && !slices.Contains(declared, name):
			fault = fmt.Sprintf("%s is not a declared argument%s", whole, cli.DidYouMean(name, declared))
		}
		if fault != "" && !seen[whole] {
			seen[whole] = true
			list = append(list, Misplaced{strings.Count(template[:at], "\n") + 1, fault})
		}
		at += len(whole)
	}
}

// placeholderAt returns the placeholder that a text with two opening braces begins with, and its name. Spaces and tabs
// may surround the name. Both are "" if there is no placeholder.
func placeholderAt(s string) (whole, name string) {
	rest := strings.TrimLeft(s[len("{{"):], " \t")
	name = nameAt(rest)
	rest, closed := strings.CutPrefix(strings.TrimLeft(rest[len(name):], " \t"), "}}")
	if name == "" || !closed {
		return "", ""
	}
	return s[:len(s)-len(rest)], name
}

func declaredNames(arguments json.RawMessage) (names []string) {
	for e := range rawjson.Elements(arguments) {
		names = append(names, rawjson.TextOf(e, "name"))
	}
	for name := range rawjson.All(rawjson.Get(arguments, "properties")) {
		names = append(names, name)
	}
	return names
}
