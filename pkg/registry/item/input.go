package item

import (
	"encoding/json"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

// An Input is what one item is built from: the fields that its author wrote, the
// directory that its file lies in, and the kind and project it belongs to.
type Input struct {
	Fields
	Project     *project.Project // nil: of none; then no icon files are read
	Noun        string           // what the item is, in messages: "tool"
	FaultLevel  mcp.Level        // at which it is logged why an item is left out
	Content     string           // the content directory
	Path        string           // of the content file, relative to the content directory
	Label       Place            // the same for messages, or the place of the entry
	IconDirs    []string         // where relative icon paths are looked for
	KeepUnknown bool             // unknown fields of the first source are kept
	Unreadable  []Fault          // why metadata of it cannot be read
	Buffer      []byte           // where the item may be written
}

// LeaveOut logs why the item is left out. It returns false.
func (s *Input) LeaveOut(fault string) bool {
	s.Log(Message{Level: s.FaultLevel, Topic: LeftOut, At: s.Label, Text: fault + "; left out"})
	return false
}

// A Dir is the directory that an item's file lies in. It learns what the item
// depends on, so that the item can be used again until that changes.
type Dir interface {
	// Log logs something about the item.
	Log(Message)
	// Observed is told what else the item depends on.
	Observed(folder.Observation)
	// Recheck has the item built again the next time, whatever it depends on.
	Recheck()
	// HasFileIn reports whether there is a regular file of a name in a directory
	// beside the item's file.
	HasFileIn(dir, name string) bool
}

// Icons returns the icons of the item, those in files as data URIs; nil when it
// has none.
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
			s.Recheck() // nothing tells when it can be read after all
		})
}

// NoDir is the directory of an item whose file is not looked at.
type NoDir struct{}

func (NoDir) Log(Message)                   {}
func (NoDir) Observed(folder.Observation)   {}
func (NoDir) Recheck()                      {}
func (NoDir) HasFileIn(string, string) bool { return false }
