package registry

import (
	"bytes"
	"encoding/json"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
)

// A found is an item on its way to a list.
type found struct {
	Item
	id   string // what it is registered as: its id, else its name
	path string // of its content file, relative to the content directory; "" without one
	tree int    // of the kind's: where it was found

	// claim: others found cannot have what is claimed. With JSON that is the path,
	// which metadata has given to this item; without, it is the name, and
	// there is no item.
	claim bool
}

// An Item is one entry of a [List].
type Item struct {
	Name string
	JSON json.RawMessage // as stored, compact (R-45, T-68)
}

func sameFound(a, b found) bool {
	return a.Name == b.Name && a.id == b.id && a.path == b.path && a.tree == b.tree && a.claim == b.claim && bytes.Equal(a.JSON, b.JSON)
}

// A message waits to be logged.
type message struct {
	level mcp.Level
	text  string
}

// foundOf reads what an item is known by.
func foundOf(item json.RawMessage) found {
	f := found{Item: Item{Name: rawjson.TextOf(item, "name"), JSON: item}, path: rawjson.TextOf(item, "path")}
	if f.id = rawjson.TextOf(item, "id"); f.id == "" {
		f.id = f.Name
	}
	return f
}
