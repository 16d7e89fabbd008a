// Package uitemplate renders the built-in views of MCP Apps. From a template's name and a
// configuration, it creates one HTML document (resources section 20). Documents load no
// other files, so they work under the policy of hosts for views without declared domains
// (RES-381, RES-402).
//
// page/ has the parts of the documents. page.css and view.js are in every document; the
// other files belong to the template of the same name. view.js communicates with the host
// (RES-401) and reads its results (RES-383). The script of a template has its configuration
// as `config`.
package uitemplate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mcp-bash/pkg/json/rawjson"
)

// names are the templates in the order in which they are listed.
var names = []string{"form", "data-table", "progress", "diff-viewer", "tree-view", "kanban"}

// Names returns the names of all templates.
func Names() []string { return slices.Clone(names) }

// An UnknownError is the error for an unknown template name (RES-380).
type UnknownError string

func (e UnknownError) Error() string { return "Unknown template: " + string(e) }

var errNotJSON = errors.New("the configuration must be one JSON object")

// Render returns the document of a template. The same configuration produces the same bytes
// (RES-388). The error is an [UnknownError], [errNotJSON], or names the faulty part of the
// configuration.
func Render(name string, config []byte) ([]byte, error) {
	draw := drawer(name)
	if draw == nil {
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
	p := draw(object{value, "config", &fault})
	if fault != nil {
		return nil, fault
	}
	return p.document(name), nil
}

// drawer returns the function of a template, or nil. A table instead of a function would
// slow the start of a program.
func drawer(name string) func(object) page {
	switch name {
	case "form":
		return form
	case "data-table":
		return dataTable
	case "progress":
		return progress
	case "diff-viewer":
		return diffViewer
	case "tree-view":
		return treeView
	case "kanban":
		return kanban
	}
	return nil
}

// marshal returns a value for the script. encoding/json escapes its text so that it cannot
// end the <script> element or begin another one (RES-382).
func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // impossible: v has only texts, booleans, numbers and checked JSON
	}
	return text
}
