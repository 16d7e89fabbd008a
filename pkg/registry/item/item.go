// Package item builds one item of a registry, such as a tool or a prompt, from its
// metadata.
//
// A [Source] is one object of metadata: a metadata file, an inline header of a script, or an entry of a declared list.
// [Fields] are the sources of an item in order of precedence. An [Input] adds the project and the directory of the
// item, and a [Writer] writes the item's JSON key by key.
//
// The package checks every field that clients read. If a client would refuse a part of a schema, an annotation or an
// icon, that part is left out with a warning. Valid values are copied byte for byte.
package item

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

// A Source is one object of metadata: a metadata file, an inline header, or an entry of a
// declared list.
type Source struct {
	Location
	members []member
}

type member struct{ name, value json.RawMessage } // the name as written, quoted

func (m member) isOneOf(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return rawjson.NameIs(m.name, name) })
}

// NewSource returns the source of a JSON object at a location.
func NewSource(w Location, object json.RawMessage) Source {
	s := Source{Location: w, members: make([]member, 0, 8)}
	rawjson.Each(object, func(name, value json.RawMessage) {
		s.members = append(s.members, member{name, value})
	})
	return s
}

// get returns the value of a member, or nil if it is missing or null.
func (s *Source) get(name string) json.RawMessage {
	if v := s.Last(name); !rawjson.Absent(v) {
		return v
	}
	return nil
}

// Last returns the value of a member, or nil. If the member is repeated, the last value
// counts.
func (s *Source) Last(name string) json.RawMessage {
	for i := len(s.members) - 1; i >= 0; i-- {
		if m := &s.members[i]; rawjson.NameIs(m.name, name) {
			return m.value
		}
	}
	return nil
}

// Fields are the sources of one item in order of precedence. A field comes from the first source that has it in the
// right form. A value of a wrong form causes a warning and counts as missing.
type Fields struct {
	Sources []Source
	Dir
	// Reject receives each fault and the name of its field; nil: faults are only logged.
	Reject func(field, fault string)
}

// Pick returns the first value of a field that ok accepts, or nil. It reports the values
// before it; must describes the right form.
func (f *Fields) Pick(name, must string, ok func(json.RawMessage) bool) json.RawMessage {
	return f.pick(Ignored, name, must, ok)
}

// pick is [Fields.Pick] with the topic of the messages.
func (f *Fields) pick(topic Topic, name, must string, ok func(json.RawMessage) bool) json.RawMessage {
	for i := range f.Sources {
		if v := f.Sources[i].get(name); v != nil {
			if ok(v) {
				return v
			}
			f.complain(topic, &f.Sources[i], v, name, must)
		}
	}
	return nil
}

// Complain reports that a value of a wrong form is ignored.
func (f *Fields) Complain(s *Source, value json.RawMessage, name, must string) {
	f.complain(Ignored, s, value, name, must)
}

// complain is [Fields.Complain] with the topic of the message.
func (f *Fields) complain(topic Topic, s *Source, value json.RawMessage, name, must string) {
	f.fault(name, name+": not "+must,
		Message{Topic: topic, At: s.At(value), Text: fmt.Sprintf("%q must be %s; ignored", name, must)})
}

// fault reports a fault of a field. A discovered item loses the field with a warning, and a registration fails.
func (f *Fields) fault(field, fault string, warning Message) {
	if f.Reject != nil {
		f.Reject(field, fault)
		return
	}
	warning.Level = mcp.Warning
	f.Dir.Log(warning)
}

var kindNames = [...]string{
	rawjson.Bool: "true or false", rawjson.String: "a string", rawjson.Array: "an array", rawjson.Object: "an object",
}

// OfKind returns a field whose value is of a JSON kind, or nil.
func (f *Fields) OfKind(name string, kind rawjson.Kind) json.RawMessage {
	return f.ofKind(Ignored, name, kind)
}

// ofKind is [Fields.OfKind] with the topic of the messages.
func (f *Fields) ofKind(topic Topic, name string, kind rawjson.Kind) json.RawMessage {
	return f.pick(topic, name, kindNames[kind], func(v json.RawMessage) bool { return rawjson.KindOf(v) == kind })
}

// Text returns a field that is a string.
func (f *Fields) Text(name string) (text string, given bool) {
	return rawjson.Text(f.OfKind(name, rawjson.String))
}

// Seconds returns a field that is a positive integer, or a string of digits, as a number. It returns nil if there is no
// such field.
func (f *Fields) Seconds(name string) json.RawMessage {
	return f.number(name, "a positive integer", func(v json.RawMessage) bool { return rawjson.PositiveInt(v) > 0 })
}

// Limit is [Fields.Seconds] for a field that may be 0, which means no limit.
func (f *Fields) Limit(name string) json.RawMessage {
	return f.number(name, "a positive integer or 0", func(v json.RawMessage) bool {
		text, _ := rawjson.Text(v)
		return rawjson.PositiveInt(v) > 0 || strings.Trim(cmp.Or(text, string(v)), "0") == ""
	})
}

func (f *Fields) number(name, must string, ok func(json.RawMessage) bool) json.RawMessage {
	v := f.Pick(name, must, ok)
	if v == nil {
		return nil
	}
	return rawjson.Int(rawjson.PositiveInt(v))
}

// putExtras writes the unknown members of the first source, once each and in the order of the source. It leaves out
// "$schema", which only editors use.
func (f *Fields) putExtras(b *rawjson.Builder, known []string) {
	var added []string
	for _, m := range f.Sources[0].members {
		if m.isOneOf(known) || m.isOneOf(added) || rawjson.NameIs(m.name, "$schema") {
			continue
		}
		name, _ := rawjson.Text(m.name)
		added = append(added, name)
		b.Name(name).Raw(rawjson.Normal(f.Sources[0].Last(name)))
	}
}

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

// Icons returns the icons of the item, or nil. Icons in files become data URIs.
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
			s.Recheck() // an unreadable file may become readable without a change of its stamp
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

	// Claim reserves a value, which no other found item may use. With JSON, the value is the path, which metadata has
	// assigned to this item. Without JSON, the value is the name, and there is no item.
	Claim bool
}

// An Item is one entry of a registry.
type Item struct {
	Name string
	JSON json.RawMessage // as stored, compact
}

// SameCandidate reports whether two candidates are equal.
func SameCandidate(a, b Candidate) bool {
	return a.Name == b.Name && a.ID == b.ID && a.Path == b.Path && a.Tree == b.Tree && a.Claim == b.Claim &&
		bytes.Equal(a.JSON, b.JSON)
}

// CandidateOf returns an item of a registry file as a candidate.
func CandidateOf(item json.RawMessage) Candidate {
	name := rawjson.TextOf(item, "name")
	return Candidate{
		Item: Item{name, item}, ID: cmp.Or(rawjson.TextOf(item, "id"), name), Path: rawjson.TextOf(item, "path"),
	}
}

// A Writer writes an item. The keys are in the order of the calls.
type Writer struct {
	s *Input
	b *rawjson.Builder
}

// Begin begins the JSON of the item, with its name.
func (s *Input) Begin(name string) Writer {
	w := Writer{s, rawjson.Over(s.Buffer)}
	w.b.Object().Name("name").String(name)
	return w
}

// Put writes a value, unless it is nil.
func (w Writer) Put(name string, value json.RawMessage) {
	if value != nil {
		w.b.Name(name).Raw(rawjson.Normal(value))
	}
}

// PutOrNull writes a value, or null for nil.
func (w Writer) PutOrNull(name string, value json.RawMessage) {
	if value == nil {
		w.b.Name(name).Null()
		return
	}
	w.Put(name, value)
}

// Copy writes a field if its value is of a JSON kind. It returns the value, or nil.
func (w Writer) Copy(name string, kind rawjson.Kind) json.RawMessage {
	value := w.s.OfKind(name, kind)
	w.Put(name, value)
	return value
}

// Text writes a field that is a string and not empty.
func (w Writer) Text(name string) {
	if value := w.s.OfKind(name, rawjson.String); !IsEmptyText(value) {
		w.Put(name, value)
	}
}

// CopyTrue writes a field that is true.
func (w Writer) CopyTrue(name string) {
	if rawjson.True(w.s.OfKind(name, rawjson.Bool)) {
		w.b.Name(name).Bool(true)
	}
}

// Description writes the description. The default is an empty string.
func (w Writer) Description() {
	if w.Copy("description", rawjson.String) == nil {
		w.b.Name("description").String("")
	}
}

// End returns the item. It adds the unknown fields if the input keeps them.
func (w Writer) End(known []string) json.RawMessage {
	if w.s.KeepUnknown {
		w.s.putExtras(w.b, known)
	}
	return w.b.End().Bytes()
}

const maxName = 128 // bytes

// CheckName reports whether an item may have a name. If not, CheckName logs the reason, and the caller leaves the item
// out.
func (s *Input) CheckName(name string) bool {
	fault := ""
	switch {
	case strings.TrimSpace(name) == "":
		fault = "is empty"
	case len(name) > maxName:
		fault = fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		fault = "contains control characters"
	default:
		return true
	}
	if s.Reject != nil {
		s.Reject("name", "name: "+fault)
		return true // continue, to find all faults
	}
	s.Log(Message{Level: mcp.Err, Topic: UnusableName, At: s.Label, Text: "its name " + fault,
		Logged: fmt.Sprintf("Skipping %s %s: its name %s", s.Noun, s.Label, fault)})
	return false
}

// MaxPlainName is the maximum length of a name that all clients accept.
const MaxPlainName = 64

// IsPlainName reports whether clients accept the name of a tool. The protocol allows dots. Some clients do not, which
// "validate" reports.
func IsPlainName(name string) bool {
	return name != "" && len(name) <= MaxPlainName && strings.Trim(name, plain) == ""
}

// plain are the characters of ids and of names that all clients accept.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."

// TypeDeclared is the member of a resource whose author gave its MIME type. Only registry files have it
// (R-54a).
const TypeDeclared = "mimeTypeDeclared"

// ProviderOf returns the name of the provider for the scheme of a URI. A provider with this name need not exist.
func ProviderOf(uri string) string {
	scheme, _, found := strings.Cut(uri, "://")
	if !found {
		return "file"
	}
	switch known := strings.ToLower(scheme); known {
	case "file", "https", "git", "echo", "ui":
		return known
	case "git+https":
		return "git"
	}
	return scheme // the script's file name has the same case
}

// URI returns the URI of a resource in this project, or "". A URI that was derived from the
// path of the project is derived again. The names of two directories are expanded (R-18,
// R-52, RES-15a).
func URI(p *project.Project, item json.RawMessage) string {
	if rawjson.True(rawjson.Get(item, "uriAuto")) {
		return FileURI(p.Resources, rawjson.TextOf(item, "path"))
	}
	uri := rawjson.TextOf(item, "uri")
	if !strings.Contains(uri, "${") {
		return uri
	}
	return strings.NewReplacer(
		"${MCPBASH_PROJECT_ROOT}", strings.TrimPrefix(project.FileURI(p.Root), "file://"),
		"${MCPBASH_RESOURCES_DIR}", strings.TrimPrefix(project.FileURI(p.Resources), "file://"),
	).Replace(uri)
}

// FileURI returns the URI of a file at a path below a directory.
func FileURI(dir, path string) string {
	return project.FileURI(filepath.Join(dir, filepath.FromSlash(path)))
}

// PathOf returns the path in a URI, or the whole URI without query and fragment if it has no scheme.
func PathOf(uri string) string {
	uri, _, _ = strings.Cut(uri, "#")
	uri, _, _ = strings.Cut(uri, "?")
	_, rest, absolute := strings.Cut(uri, "://")
	if !absolute {
		return uri
	}
	_, path, _ := strings.Cut(rest, "/")
	return path
}

// PageURI returns the URI of a page of a server. Everything but letters, digits and ".~_-" is encoded.
func PageURI(server, name string) string {
	escape := func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
	return "ui://" + escape(server) + "/" + escape(name)
}
