package item

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
)

// UnreadableDeclaration returns the first reason why the declaration of a tool cannot be read, with its
// place, or "". It reports all reasons. A tool with an unreadable declaration does not run, because the
// unreadable part may be a restriction (CF-63).
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
				if len(name)+1 >= len(d.Name) && cli.Resembles(name, d.Name) { // else too short
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
