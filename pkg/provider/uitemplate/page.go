package uitemplate

import (
	"embed"
	"html"
	"strings"
)

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

// text adds escaped text as content or in a quoted attribute (RES-382).
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
