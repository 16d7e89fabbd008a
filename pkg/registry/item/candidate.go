package item

import (
	"bytes"
	"encoding/json"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
)

// A Candidate is an item on its way to a list.
type Candidate struct {
	Item
	ID   string // what it is registered as: its id, else its name
	Path string // of its content file, relative to the content directory; "" without one
	Tree int    // of the kind's: where it was found

	// claim: others found cannot have what is claimed. With JSON that is the path,
	// which metadata has given to this item; without, it is the name, and
	// there is no item.
	Claim bool
}

// An Item is one entry of a [List].
type Item struct {
	Name string
	JSON json.RawMessage // as stored, compact (R-45, T-68)
}

func SameCandidate(a, b Candidate) bool {
	return a.Name == b.Name && a.ID == b.ID && a.Path == b.Path && a.Tree == b.Tree && a.Claim == b.Claim && bytes.Equal(a.JSON, b.JSON)
}

// A Message waits to be logged.
type Message struct {
	Level mcp.Level
	Text  string
}

// CandidateOf reads what an item is known by.
func CandidateOf(item json.RawMessage) Candidate {
	f := Candidate{Item: Item{Name: rawjson.TextOf(item, "name"), JSON: item}, Path: rawjson.TextOf(item, "path")}
	if f.ID = rawjson.TextOf(item, "id"); f.ID == "" {
		f.ID = f.Name
	}
	return f
}
