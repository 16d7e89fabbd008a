package item

import (
	"bytes"
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
)

// A Candidate is an item that wants a place in a list.
type Candidate struct {
	Item
	ID   string // what it is registered as: its id, else its name
	Path string // of its content file, relative to the content directory; "" without one
	Tree int    // of the kind's: where it was found

	// Claim keeps a value from all others that are found: with JSON the path, which
	// metadata has given to this item; without JSON the name, and there is no
	// item.
	Claim bool
}

// An Item is one entry of a registry.
type Item struct {
	Name string
	JSON json.RawMessage // as stored, compact (R-45, T-68)
}

// SameCandidate reports whether two candidates are the same in all respects.
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
