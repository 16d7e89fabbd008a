package item

import (
	"bytes"
	"encoding/json"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

// An Input contains everything that one item is built from: its metadata, the directory
// of its file, its kind and its project.
type Input struct {
	Fields
	Project     *project.Project // nil: there is no project, and icon files are not read
	Noun        string           // the kind in messages: "tool"
	FaultLevel  mcp.Level        // of the message that the item is left out
	Content     string           // the content directory
	Path        string           // of the content file, relative to the content directory
	Label       Place            // of the content file or the entry, for messages
	IconDirs    []string         // the directories for relative icon paths
	KeepUnknown bool             // keep unknown fields of the first source
	Unreadable  []Fault          // why some of the metadata cannot be read
	Buffer      []byte           // memory that the item may be written to
}

// LeaveOut logs the reason why the item is left out. It returns false.
func (s *Input) LeaveOut(fault string) bool {
	s.Log(Message{Level: s.FaultLevel, Topic: LeftOut, At: s.Label, Text: fault + "; left out"})
	return false
}

// A Dir is the directory of an item's file. It records the files that the item depends
// on, so that the item is built again only if one of them changes.
type Dir interface {
	// Log logs a message about the item.
	Log(Message)
	// Observed records another file that the item depends on.
	Observed(folder.Observation)
	// Recheck makes the next check build the item again in any case.
	Recheck()
	// HasFileIn reports whether a subdirectory contains a regular file with this name.
	HasFileIn(dir, name string) bool
}

// Icons returns the icons of the item, or nil. Icons in files become data URIs (R-101 to
//
func (s *Input) Icons() json.RawMessage {
	given := s.ofKind(BadIcons, "icons", rawjson.Array)
	if given == nil {
		return nil
	}
	at := s.Label
	for i := range s.Sources {
		if source := &s.Sources[i]; sameBytes(source.get("icons"), given) {
			at = source.At(given)
		}
	}
	given = s.checked(LeftOut, "icons", given, func(c *checker) json.RawMessage { return c.icons(given) })
	if s.Project == nil {
		return given
	}
	return s.Project.InlineIcons(given, s.IconDirs,
		func(path string) { s.Observed(folder.Observe(path)) },
		func(text string) {
			s.Log(Message{Level: mcp.Warning, Topic: UnreadableIcon, At: at, Text: text,
				Logged: s.Label.String() + ": " + text})
			s.Recheck() // it may become readable without a change that a stamp shows
		})
}

// NoDir is the directory of an item whose file is not read.
type NoDir struct{}

func (NoDir) Log(Message)                   {}
func (NoDir) Observed(folder.Observation)   {}
func (NoDir) Recheck()                      {}
func (NoDir) HasFileIn(string, string) bool { return false }

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
