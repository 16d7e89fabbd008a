// Package uitemplate renders the built-in views of MCP Apps. Each view is one HTML document, made from a template's
// name and a configuration (resources section 20). Documents load no other files, so they work under the policy of
// hosts for views without declared domains.
//
// page/ has the parts of the documents. page.css and view.js are in every document; the other files belong to the
// template of the same name. view.js communicates with the host and reads its results. The script of a template has its
// configuration as `config`.
package uitemplate

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/provider/internal/recent"
)

// views are the templates in the order in which they are listed, with the functions that draw them.
var views = [...]struct {
	name string
	draw func(object) page
}{
	{"form", form}, {"data-table", dataTable}, {"progress", progress}, {"diff-viewer", diffViewer},
	{"tree-view", treeView}, {"kanban", kanban},
}

// Names returns the names of all templates.
func Names() (names []string) {
	for _, v := range views {
		names = append(names, v.name)
	}
	return names
}

// An UnknownError is the error for an unknown template name.
type UnknownError string

func (e UnknownError) Error() string { return "Unknown template: " + string(e) }

var errNotJSON = errors.New("the configuration must be one JSON object")

// Render returns the document of a template. The same configuration produces the same bytes. The error is an
// [UnknownError], [errNotJSON], or names the faulty part of the configuration.
func Render(name string, config []byte) ([]byte, error) {
	at := slices.Index(Names(), name)
	if at < 0 {
		return nil, UnknownError(name)
	}
	value, err := rawjson.Check(config)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errNotJSON, err)
	}
	if rawjson.KindOf(value) != rawjson.Object {
		return nil, errNotJSON
	}
	var fault error
	p := views[at].draw(object{value, "config", &fault})
	if fault != nil {
		return nil, fault
	}
	return p.document(name), nil
}

// marshal returns a value for the script. encoding/json escapes its text so that it cannot end the <script> element or
// begin another one.
func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: v has only texts, booleans, numbers and checked JSON
	}
	return text
}

// files are the parts of the documents.
//
//go:embed page/*.css page/*.js
var files embed.FS

type page struct {
	title  string
	wide   bool   // uses the full width
	body   markup // the content below the title
	consts string // JavaScript constants, without any configured text
	config any    // the configuration for the script
}

func (p page) document(name string) []byte {
	var m markup
	m.raw("<!DOCTYPE html>\n",
		"<!-- MCP Apps view; protocol of @modelcontextprotocol/ext-apps 2026-01-26 -->\n",
		`<html lang="en">`, "\n<head>\n", `<meta charset="utf-8">`, "\n",
		`<meta name="viewport" content="width=device-width, initial-scale=1">`, "\n<title>").text(p.title).
		raw("</title>\n<style>\n", part("page.css"), part(name+".css"), "</style>\n</head>\n<body>\n<main")
	if p.wide {
		m.raw(` class="wide"`)
	}
	m.raw(">\n<h2>").text(p.title).raw("</h2>\n", p.body.String(), "</main>\n",
		`<script type="application/json">`, string(marshal(p.config)), "</script>\n",
		"<script>\n\"use strict\";\n{\n",
		"const view = ", string(marshal(name)), ";\n", p.consts, part("view.js"), part(name+".js"),
		"host.connect();\n}\n</script>\n</body>\n</html>\n")
	return []byte(m.String())
}

func part(name string) string {
	text, err := files.ReadFile("page/" + name)
	if err != nil {
		panic(err) // not embedded
	}
	return string(text)
}

// A markup is HTML under construction.
type markup struct{ strings.Builder }

func (m *markup) raw(pieces ...string) *markup {
	for _, s := range pieces {
		m.WriteString(s)
	}
	return m
}

// text adds escaped text as content or in a quoted attribute.
func (m *markup) text(s string) *markup {
	m.WriteString(html.EscapeString(strings.ReplaceAll(s, "\x00", "\uFFFD")))
	return m
}

func (m *markup) attr(name, value string) *markup {
	return m.raw(" ", name, `="`).text(value).raw(`"`)
}

// message is the element in which a view shows the result of a request.
const message = `<p id="message" class="message" role="status" aria-live="polite" data-part="message"></p>` + "\n"

func constant(name string, value any) string {
	return "const " + name + " = " + string(marshal(value)) + ";\n"
}

// A Cache keeps the documents that were used most recently. It is safe for concurrent use.
type Cache struct{ documents recent.Cache[key, []byte] }

type key struct {
	name   string
	config [sha256.Size]byte
}

// NewCache returns a cache for at most limit documents. With 0, it keeps no documents.
func NewCache(limit int) *Cache { return &Cache{recent.Cache[key, []byte]{Max: limit}} }

// Render is [Render] with a cache. The caller must not change the document, which is shared.
func (c *Cache) Render(name string, config []byte) ([]byte, error) {
	k := key{name, sha256.Sum256(config)}
	if document, ok := c.documents.Get(k); ok {
		return document, nil
	}
	document, err := Render(name, config)
	if err == nil {
		c.documents.Put(k, document)
	}
	return document, err
}

// An object is a part of a configuration. A member that is absent or null has its default
// value. The first fault is stored in fault.
type object struct {
	value json.RawMessage
	path  string // for messages: config.fields[2]
	fault *error
}

func (o object) wrong(key, want string) {
	if *o.fault == nil {
		*o.fault = fmt.Errorf("%s.%s must be %s", o.path, key, want)
	}
}

func (o object) has(key string) bool { return !rawjson.Absent(rawjson.Get(o.value, key)) }

// text returns a string. A number or a boolean is returned as written.
func (o object) text(key, fallback string) string {
	v := rawjson.Get(o.value, key)
	if rawjson.Absent(v) {
		return fallback
	}
	s, ok := scalar(v)
	if !ok {
		o.wrong(key, "text")
	}
	return s
}

func scalar(v json.RawMessage) (string, bool) {
	switch rawjson.KindOf(v) {
	case rawjson.String:
		return rawjson.Text(v)
	case rawjson.Number, rawjson.Bool:
		return string(v), true
	}
	return "", false
}

func (o object) needed(key string) string {
	s := o.text(key, "")
	if s == "" {
		o.wrong(key, "given, and not empty")
	}
	return s
}

// flag returns a boolean, which can also be written as a string.
func (o object) flag(key string, fallback bool) bool {
	switch o.text(key, strconv.FormatBool(fallback)) {
	case "true":
		return true
	case "false":
		return false
	}
	o.wrong(key, "true or false")
	return false
}

func (o object) count(key string, fallback int) int {
	n, err := strconv.Atoi(o.text(key, strconv.Itoa(fallback)))
	if err != nil || n < 0 {
		o.wrong(key, "a whole number from 0")
	}
	return n
}

// oneOf returns one of several words, the first by default.
func (o object) oneOf(key string, words ...string) string {
	s := o.text(key, words[0])
	if !slices.Contains(words, s) {
		o.wrong(key, fmt.Sprintf("one of %q", words))
	}
	return s
}

// object returns a JSON object as written, or {} by default.
func (o object) object(key string) json.RawMessage {
	v := rawjson.Get(o.value, key)
	if rawjson.Absent(v) {
		return json.RawMessage("{}")
	}
	if rawjson.KindOf(v) != rawjson.Object {
		o.wrong(key, "an object")
	}
	return v
}

func (o object) list(key string) (values []json.RawMessage, paths []string) {
	v := rawjson.Get(o.value, key)
	if rawjson.Absent(v) {
		return nil, nil
	}
	if rawjson.KindOf(v) != rawjson.Array {
		o.wrong(key, "an array")
		return nil, nil
	}
	for item := range rawjson.Elements(v) {
		paths = append(paths, fmt.Sprintf("%s[%d]", key, len(values)))
		values = append(values, item)
	}
	return values, paths
}

func (o object) objects(key string) []object {
	values, paths := o.list(key)
	var list []object
	for i, v := range values {
		if rawjson.KindOf(v) != rawjson.Object {
			o.wrong(paths[i], "an object")
			break
		}
		list = append(list, object{v, o.path + "." + paths[i], o.fault})
	}
	return list
}
