package item

import (
	"bytes"
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
)

// A Candidate is an item that may become part of a list.
type Candidate struct {
	Item
	ID   string // the id, or the name if there is no id
	Path string // of the content file, relative to the content directory; "" for none
	Tree int    // the index of the kind's tree in which the item was found

	// Claim reserves a value, which no other found item may use. With JSON, the value is
	// the path, which metadata has assigned to this item. Without JSON, the value
	// is the name, and there is no item.
	Claim bool
}

// An Item is one entry of a registry.
type Item struct {
	Name string
	JSON json.RawMessage // as stored, compact (R-45, T-68)
}

// SameCandidate reports whether two candidates are equal.
func SameCandidate(a, b Candidate) bool {
	return a.Name == b.Name && a.ID == b.ID && a.Path == b.Path && a.Tree == b.Tree && a.Claim == b.Claim &&
		bytes.Equal(a.JSON, b.JSON)
}

// CandidateOf returns an item of a registry file as a candidate.
func CandidateOf(item json.RawMessage) Candidate {
	f := Candidate{Item: Item{Name: rawjson.TextOf(item, "name"), JSON: item}, Path: rawjson.TextOf(item, "path")}
	if f.ID = rawjson.TextOf(item, "id"); f.ID == "" {
		f.ID = f.Name
	}
	return f
}
