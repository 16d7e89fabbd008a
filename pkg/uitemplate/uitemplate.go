package uitemplate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"mcp-bash/pkg/rawjson"
)

// names are the templates, in the order they are told in.
var names = []string{"form", "data-table", "progress", "diff-viewer", "tree-view", "kanban"}

// Names returns the names of all templates.
func Names() []string { return slices.Clone(names) }

// An UnknownError is a name that no template has (RES-380).
type UnknownError string

func (e UnknownError) Error() string { return "Unknown template: " + string(e) }

// errNotJSON is a configuration that is not a JSON object.
var errNotJSON = errors.New("the configuration must be one JSON object")

// Render returns the document of a template. The same configuration gives the
// same bytes (RES-388). The error is an [UnknownError], [errNotJSON], or tells
// which part of the configuration is wrong.
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

// drawer finds a template. It is a function, not a table, so that a binary's
// start does not pay for it.
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

// marshal is a value for the script: within a <script> no text of it can end
// the element or begin another (RES-382), which encoding/json sees to.
func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts, booleans, numbers, and JSON that was checked
	}
	return text
}
