package product

import (
	"cmp"
	"fmt"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/lazyregexp"
)

// An About is the description of a product in its document. Its texts are untrusted.
type About struct {
	Name, Version      string
	Title, Description string
	Servers            []string // that it names for the MCP registry
}

// ServerLabel is the label of an image with the name of its server.
const ServerLabel = "io.modelcontextprotocol.server.name"

// serverMark is how the description of a wheel names a server. The registry takes the name up to the first character
// that no name has, or up to the end of a comment.
var serverMark = lazyregexp.New(`mcp-name: ([A-Za-z0-9._/-]+?)(?:-->|--!>|[^A-Za-z0-9._/-]|$)`)

// About reads the document of the product.
func (p *Product) About() (a About, err error) {
	if p.Kind == Wheel {
		return readWheel(p.Document), nil
	}
	doc, err := rawjson.Check(p.Document)
	if err != nil {
		return a, fmt.Errorf("the document of the %s: %w", p.Kind, err)
	}
	member := "mcpName"
	text := func(name string) string { return rawjson.TextOf(doc, name) }
	if p.Kind == Image {
		doc = rawjson.Get(rawjson.Get(doc, "config"), "Labels")
		text = func(name string) string { return rawjson.TextOf(doc, "org.opencontainers.image."+name) }
		member = ServerLabel
	}
	a = About{Name: text("name"), Version: text("version"), Description: text("description"),
		Title: cmp.Or(text("title"), text("display_name"), text("displayName"))}
	if server := rawjson.TextOf(doc, member); server != "" {
		a.Servers = []string{server}
	}
	return a, nil
}

// readWheel reads the METADATA of a wheel: lines of the form "Name: value", and the description after an empty line.
func readWheel(text []byte) (a About) {
	head, description, _ := strings.Cut(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n\n")
	for line := range strings.SplitSeq(head, "\n") {
		switch key, value, _ := strings.Cut(line, ": "); key {
		case "Name":
			a.Name = value
		case "Version":
			a.Version = value
		case "Summary":
			a.Description = value
		}
	}
	for _, m := range serverMark.FindAllStringSubmatch(description, -1) {
		a.Servers = append(a.Servers, m[1])
	}
	return a
}
