package registration

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// A Parameter is one argument of a tool.
type Parameter struct {
	Name, Description string
	Type              string // one of [item.ParameterTypes]
	Required          bool
}

// ToolParameters are the required and the optional arguments of a tool.
type ToolParameters struct{ Required, Optional []Parameter }

// A ToolRegistration describes a tool of the registry.
type ToolRegistration struct {
	ID, Name, Description, Version string              // ID defaults to Name, Version to "0.0.0"
	Capabilities                   []access.Capability // nil: undeclared, which differs from an empty list
	Confine                        *access.Extras      // beyond the capabilities; nil: undeclared
	Parameters                     ToolParameters
	Path                           string       // of the script, relative to tools/
	SecurityLevel                  access.Level // the minimum level in the metadata; "": none
}

// defaultVersion is the version of a tool that declares no version.
const defaultVersion = "0.0.0"

// MaxPayload is the maximum length of the JSON of a registration, in bytes.
const MaxPayload = 1 << 20

// A registration is a checked payload of [Project.Register].
type registration struct {
	entry json.RawMessage // the entry for register.json
	item.Candidate
}

// readRegistration reads a payload and checks everything that does not depend on a project: the JSON, the fields and
// the declaration. It returns all faults. With faults, the registration contains the valid fields.
func readRegistration(payload []byte) (reg registration, faults faultList) {
	if len(payload) > MaxPayload {
		faults.add("", fmt.Sprintf("larger than %d bytes", MaxPayload))
		return reg, faults
	}
	object, _, err := item.ParseMetadata(payload)
	if err != nil {
		faults.add("", err.Error())
		return reg, faults
	}
	object = withoutComputed(object, &faults)
	reject := faults.add
	schemas := 0
	for _, m := range rawjson.Members(object) {
		switch {
		case !slices.Contains(kinds.ToolFields, m.Name):
			reject(m.Name, fmt.Sprintf("%s: unknown field%s", m.Name, cli.DidYouMean(m.Name, kinds.ToolFields)))
		case rawjson.Absent(m.Value):
		case m.Name == "inputSchema", m.Name == "arguments", m.Name == "parameters":
			if schemas++; schemas > 1 {
				reject(m.Name, m.Name+": one of inputSchema, arguments and parameters is enough")
			}
		}
	}
	if rawjson.Absent(rawjson.Get(object, "name")) {
		reject("name", "name: missing")
	}
	if v := rawjson.Get(object, "path"); !rawjson.Absent(v) && rawjson.KindOf(v) != rawjson.String {
		reject("path", "path: not a string")
	}
	s := &item.Input{
		Noun: kinds.Tools.Noun, Path: rawjson.TextOf(object, "path"),
		Fields: item.Fields{
			Sources: []item.Source{item.NewSource(item.Location{}, object)}, Dir: item.NoDir{}, Reject: reject,
		},
	}
	reg.Candidate, _ = kinds.BuildTool(s)
	if name, ok := rawjson.Text(rawjson.Get(object, "name")); ok && strings.ContainsFunc(name, refusedByAll) {
		reject("name", "name: not of letters, digits, _, - and dots, which clients require")
	}
	reg.ID = cmp.Or(reg.ID, rawjson.TextOf(object, "id"), rawjson.TextOf(object, "name"))
	reg.entry = registered(object, reg.Candidate)
	return reg, faults
}

// computed are the members that the output of get adds to a registration.
var computed = []string{"source", "requiredLevel", "allowed", "unreadable"}

// withoutComputed removes the members that "get" computes, if a payload has a source and so is the output of "get". It
// also removes the parameters, because the inputSchema contains more.
func withoutComputed(object json.RawMessage, faults *faultList) json.RawMessage {
	if rawjson.Absent(rawjson.Get(object, "source")) {
		return object
	}
	if reason := rawjson.TextOf(object, "unreadable"); reason != "" {
		faults.add("", "unreadable: "+reason+"; correct it first")
	}
	except := slices.Clone(computed)
	if rawjson.TextOf(object, "version") == defaultVersion { // the tool may not declare a version
		except = append(except, "version")
	}
	if !rawjson.Absent(rawjson.Get(object, "inputSchema")) {
		except = append(except, "parameters")
	}
	var b rawjson.Builder
	return b.Object().Members(object, except...).End().Bytes()
}

// refusedByAll reports whether all clients refuse or change a tool name that contains the character.
func refusedByAll(r rune) bool { return r > '~' || !item.IsPlainName(string(r)) }

type faultList struct {
	texts      []string
	name, path bool // the field has a fault
}

// add adds a fault of a field, or of the payload if field is "". Only the first fault of the name and of the path is
// kept, because the others follow from it.
func (l *faultList) add(field, fault string) {
	switch {
	case field == "name" && l.name, field == "path" && l.path:
		return
	case field == "name":
		l.name = true
	case field == "path":
		l.path = true
	}
	if at, known := slices.BinarySearch(l.texts, fault); !known {
		l.texts = slices.Insert(l.texts, at, fault)
	}
}

// registered returns an entry for register.json with the fields of the payload. It converts parameters to a schema, and
// leaves out fields that are null and an id that equals the name.
func registered(object json.RawMessage, f item.Candidate) json.RawMessage {
	var b rawjson.Builder
	b.Object()
	for _, m := range rawjson.Members(object) {
		switch {
		case rawjson.Absent(m.Value), m.Name == "id" && f.ID == f.Name:
		case m.Name == "parameters":
			b.Name("inputSchema").Raw(rawjson.Get(f.JSON, "inputSchema"))
		default:
			b.Name(m.Name).Raw(rawjson.Normal(m.Value))
		}
	}
	return b.End().Bytes()
}

// invalid returns the error for the faults of a registration, or nil.
func (reg *registration) invalid(faults faultList) error {
	if len(faults.texts) == 0 {
		return nil
	}
	of := ""
	if reg.ID != "" {
		of = " of '" + reg.ID + "'"
	}
	e := refuse(ErrInvalidRegistration, reg.ID, "invalid registration%s: %s", of, strings.Join(faults.texts, "; "))
	e.Details = faults.texts
	return e
}

func registrationOf(item json.RawMessage) ToolRegistration {
	r := ToolRegistration{
		ID: rawjson.TextOf(item, "id"), Name: rawjson.TextOf(item, "name"), Description: rawjson.TextOf(item, "description"),
		Version: rawjson.TextOf(item, "version"), Path: rawjson.TextOf(item, "path"),
		Parameters:    parametersOf(rawjson.Get(item, "inputSchema")),
		SecurityLevel: access.Level(rawjson.TextOf(item, "securityLevel")),
	}
	r.ID = cmp.Or(r.ID, r.Name)
	r.Version = cmp.Or(r.Version, defaultVersion)
	if declared := rawjson.Get(item, "capabilities"); rawjson.IsStrings(declared) {
		r.Capabilities = []access.Capability{}
		names, _ := rawjson.Strings(declared)
		for _, name := range names {
			r.Capabilities = append(r.Capabilities, access.Capability(name))
		}
	}
	if confine := rawjson.Get(item, "confine"); rawjson.KindOf(confine) == rawjson.Object {
		extras, _ := access.ParseExtras(confine)
		r.Confine = &extras
	}
	return r
}

func parametersOf(schema json.RawMessage) (p ToolParameters) {
	required, _ := rawjson.Strings(rawjson.Get(schema, "required"))
	for _, m := range rawjson.Members(rawjson.Get(schema, "properties")) {
		one := Parameter{
			Name: m.Name, Description: rawjson.TextOf(m.Value, "description"), Type: "object",
			Required: slices.Contains(required, m.Name),
		}
		if t := rawjson.TextOf(m.Value, "type"); slices.Contains(item.ParameterTypes, t) {
			one.Type = t
		}
		if one.Required {
			p.Required = append(p.Required, one)
		} else {
			p.Optional = append(p.Optional, one)
		}
	}
	return p
}

// The types of errors. An [Error] unwraps to one of them.
var (
	ErrDuplicateTool       = errors.New("DuplicateTool")
	ErrToolNotFound        = errors.New("ToolNotFound")
	ErrInvalidRegistration = errors.New("InvalidRegistration")
	ErrPermissionDenied    = errors.New("PermissionDenied")
)

// An Error is the reason why a tool is not registered, removed or found.
type Error struct {
	Type    string // "DuplicateTool", "ToolNotFound", "InvalidRegistration", "PermissionDenied"
	ID      string // of the tool, or "" if unknown
	Message string
	Details []string // all faults of a registration

	kind error // one of the errors above, as Type names it
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the type of the error as one of the errors above.
func (e *Error) Unwrap() error { return e.kind }

// refuse returns an error of one of the types above about a tool.
func refuse(kind error, id, format string, args ...any) *Error {
	return &Error{kind: kind, Type: kind.Error(), ID: id, Message: fmt.Sprintf(format, args...)}
}

// lookUp returns the index of a tool, given its id or else its name, or -1.
func lookUp(tools []registry.SourcedTool, id string) int {
	at := slices.IndexFunc(tools, func(t registry.SourcedTool) bool { return t.ID == id })
	if at < 0 {
		at = slices.IndexFunc(tools, func(t registry.SourcedTool) bool { return t.Name == id })
	}
	return at
}

func (reg *registration) collides(f item.Candidate) bool { return f.ID == reg.ID || f.Name == reg.Name }

// duplicateOf returns the error for a registration whose id or name belongs to the tool f.
// where is the file of f, or "".
func (reg *registration) duplicateOf(f item.Candidate, where string) error {
	taken := reg.Name
	if f.ID == reg.ID {
		taken = reg.ID
	}
	if where != "" {
		where = " (" + where + ")"
	}
	return refuse(ErrDuplicateTool, reg.ID, "tool '%s' is already registered%s", taken, where)
}

// notFound returns the error for an unknown tool, with a similar name or id if there is one.
func notFound(id string, tools []registry.SourcedTool) error {
	var known []string
	for _, t := range tools {
		known = append(known, t.Name, t.ID)
	}
	return refuse(ErrToolNotFound, id, "tool '%s' is not registered%s", id, cli.DidYouMean(id, known))
}
