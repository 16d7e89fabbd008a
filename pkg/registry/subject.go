package registry

import (
	"encoding/json"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// A subject is what one item is made of: the fields somebody wrote down, the
// directory that its file lies in, and what it belongs to.
type subject struct {
	fields
	project  *project.Project // nil: of none; then no icon files are read
	noun     string           // what the item is, in messages: "tool"
	faults   mcp.Level        // at which it is logged why an item is left out
	content  string           // the content directory
	path     string           // of the content file, relative to the content directory
	shown    string           // the same for messages, or what stands for it
	iconDirs []string         // where relative icon paths are looked for
	extras   bool             // unknown fields of the first source are kept
	work     []byte           // where the item may be written
}

// drop leaves the item out, and says why. It returns false.
func (s *subject) drop(fault string) bool {
	s.say(s.faults, s.shown+": "+fault+"; left out")
	return false
}

// A place is where an item's file lies. What is asked of it is noted, so that
// the answer can be used until it changes.
type place interface {
	say(level mcp.Level, text string)
	noted(n note)
	// doubt has everything looked at again the next time.
	doubt()
	// isFile reports whether there is a regular file of a name in a directory
	// beside the item's file.
	isFile(dir, name string) bool
}

// icons returns the icons an item was given, with their files taken in; nil
// when it has none.
func (s *subject) icons() json.RawMessage {
	given := s.ofKind("icons", rawjson.Array)
	if given == nil {
		return nil
	}
	given = s.checked("icons", given, func(c *check) json.RawMessage { return c.icons(given) })
	if s.project == nil {
		return given
	}
	return s.project.InlineIcons(given, s.iconDirs,
		func(path string) { s.noted(noteOf(path)) },
		func(text string) {
			s.say(mcp.Warning, s.shown+": "+text)
			s.doubt() // nothing tells when it can be read after all
		})
}

// nowhere is the place of an item whose file nobody looks at.
type nowhere struct{}

func (nowhere) say(mcp.Level, string)      {}
func (nowhere) noted(note)                 {}
func (nowhere) doubt()                     {}
func (nowhere) isFile(string, string) bool { return false }
