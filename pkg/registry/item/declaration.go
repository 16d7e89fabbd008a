package item

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
)

// UnreadableDeclaration returns the first reason why the declaration of a tool cannot be read, with its place, or "".
// It reports all reasons. A tool with an unreadable declaration does not run, because the unreadable part may be a
// restriction.
func (s *Input) UnreadableDeclaration() (first string) {
	report := func(field, short string, f Fault) {
		where := f.String()
		if first == "" {
			first = where
		}
		if short == "" {
			short = where
		}
		s.fault(field, short,
			Message{Topic: Declaration, At: f.At, Text: f.Reason, Logged: where + "; the tool does not run"})
	}
	for _, f := range s.Unreadable {
		report("", "", f)
	}
	for i := range s.Sources {
		source := &s.Sources[i]
		for _, f := range source.declarationFaults() {
			report(f.name, f.name+": "+cmp.Or(f.short, f.what), Fault{source.At(f.piece), fmt.Sprintf("%q %s", f.name, f.what)})
		}
	}
	return first
}

type declarationFault struct {
	name, what string
	short      string          // text for a registration; "": the same as what
	piece      json.RawMessage // the part of the source with the fault
}

func (s *Source) declarationFaults() (faults []declarationFault) {
	given := map[string]bool{}
	for _, m := range s.members {
		name, _ := rawjson.Text(m.name)
		at := slices.IndexFunc(access.Declaring, func(d access.Member) bool { return d.Name == name })
		switch {
		case at < 0:
			for _, d := range access.Declaring {
				if len(name)+1 >= len(d.Name) && cli.Resembles(name, d.Name) { // a shorter name is not similar enough
					faults = append(faults, declarationFault{
						name: name, what: "is not known; did you mean " + d.Name + "?", piece: m.name,
					})
				}
			}
			continue
		case given[name]:
			faults = append(faults, declarationFault{name: name, what: "is given twice", piece: m.name})
		case !rawjson.Absent(m.value) && !access.Declaring[at].Fits(m.value):
			faults = append(faults, declarationFault{
				name: name, what: "must be " + access.Declaring[at].Form, short: "not " + access.Declaring[at].Form,
				piece: m.value,
			})
		case name == access.MemberConfine:
			faults = append(faults, repeated(name, m.value)...)
		}
		given[name] = true
	}
	return faults
}

// repeated returns a fault for each repetition of a member of an object.
func repeated(of string, object json.RawMessage) (faults []declarationFault) {
	var given []json.RawMessage
	rawjson.Each(object, func(quoted, _ json.RawMessage) {
		name, _ := rawjson.Text(quoted)
		if slices.ContainsFunc(given, func(before json.RawMessage) bool { return rawjson.NameIs(before, name) }) {
			faults = append(faults, declarationFault{name: of + "." + name, what: "is given twice", piece: quoted})
		}
		given = append(given, quoted)
	})
	return faults
}

const (
	idForm = "of letters, digits, '_', '.' and '-', at most 128, the first a letter or digit"
	maxID  = 128
)

// IsID reports whether a value can be the id of a tool.
func IsID(v json.RawMessage) bool {
	id, _ := rawjson.Text(v)
	return id != "" && len(id) <= maxID && strings.Trim(id, plain) == "" && strings.IndexByte("_.-", id[0]) < 0
}

// ID returns the id in the metadata of a tool.
func (s *Input) ID() (id string, given bool) { return rawjson.Text(s.Pick("id", idForm, IsID)) }

// Version returns the version in the metadata of a tool, or nil.
func (s *Input) Version() json.RawMessage {
	return s.Pick("version", "a semantic version", func(v json.RawMessage) bool {
		text, _ := rawjson.Text(v)
		return IsSemver(text)
	})
}

// IsSemver reports whether a text is a semantic version, SemVer 2.0.0.
func IsSemver(text string) bool {
	v := "v" + text
	return semver.Canonical(v)+semver.Build(v) == v // Canonical completes 1.2 to 1.2.0
}

// Capabilities returns the capabilities of a tool in the order and the spelling of [access.Capabilities], then the
// unknown ones. It returns nil if the tool declares nothing.
func (s *Input) Capabilities() json.RawMessage {
	given := s.Pick("capabilities", "an array of strings", rawjson.IsStrings)
	if given == nil {
		return nil
	}
	var declared []access.Capability
	var unknown []string
	i := 0
	for e := range rawjson.Elements(given) {
		name, _ := rawjson.Text(e)
		if c, known := access.ParseCapability(name); known {
			declared = append(declared, c)
		} else if !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
			s.fault("capabilities", fmt.Sprintf("capabilities[%d]: unknown capability %q", i, name), Message{Topic: Ignored,
				At: s.Label, Text: fmt.Sprintf("unknown capability %q; only level full covers the tool", name)})
		}
		i++
	}
	list := []string{}
	for _, c := range access.Capabilities {
		if slices.Contains(declared, c) {
			list = append(list, string(c))
		}
	}
	var b rawjson.Builder
	return b.Strings(append(list, unknown...)).Bytes()
}

// Confine returns the "confine" member of a tool without its invalid values, or nil.
func (s *Input) Confine() json.RawMessage {
	given := s.OfKind("confine", rawjson.Object)
	if given == nil {
		return nil
	}
	extras, faults := access.ParseExtras(given)
	for _, fault := range faults {
		s.fault("confine", fault, Message{Topic: LeftOut, At: s.Label, Text: fault + "; left out"})
	}
	return extras.JSON()
}

// contradictions are annotation values that contradict a capability.
var contradictions = []struct {
	capability access.Capability
	annotation string
	value      string
}{
	{access.Edit, "readOnlyHint", "true"},
	{access.Network, "openWorldHint", "false"},
}

// CheckAnnotations reports annotations that contradict the tool's capabilities.
func (s *Input) CheckAnnotations(capabilities, annotations json.RawMessage) {
	for e := range rawjson.Elements(capabilities) {
		name, _ := rawjson.Text(e)
		for _, c := range contradictions {
			if name == string(c.capability) && string(rawjson.Get(annotations, c.annotation)) == c.value {
				text := fmt.Sprintf("capability %s contradicts annotation %s: %s", c.capability, c.annotation, c.value)
				s.fault("capabilities", text, Message{At: s.Label, Text: text})
			}
		}
	}
}

// SecurityLevel returns the lowest level at which the tool may be used, or nil. An
// unknown level counts as the highest, so that a misspelt restriction still restricts
// the tool (R-201a).
func (s *Input) SecurityLevel() json.RawMessage {
	given, ok := s.Text("securityLevel")
	if !ok {
		return nil
	}
	level, ok := access.ParseLevel(given)
	if !ok || given == "" {
		level = access.Full
		s.fault("securityLevel", fmt.Sprintf("securityLevel: unknown security level %q", given),
			Message{At: s.Label, Text: fmt.Sprintf("unknown security level %q; taken for %s", given, level)})
	}
	return rawjson.Quote(string(level))
}
