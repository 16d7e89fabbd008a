package access

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
)

// A Declaration lists the capabilities of a tool, and single files, programs and ports that it needs beyond them.
type Declaration struct {
	Given        bool // the tool has a declaration, which may be empty
	Capabilities []Capability
	Extras
}

// Extras are single paths, programs and ports that a tool may use without the whole capability. Paths are as written.
type Extras struct {
	Read, Write []string // files, or directories with everything below them
	Exec        []string // programs: a path, or a name to be found on PATH
	Connect     []uint16 // TCP ports
}

// maxExtras is the maximum number of values in a list of Extras.
const maxExtras = 64

// The members of "confine".
const (
	extraRead    = "read"
	extraWrite   = "write"
	extraExec    = "exec"
	extraConnect = "connect"
)

// The members of a tool's metadata that restrict the tool.
const (
	memberCapabilities = "capabilities"
	MemberConfine      = "confine"
	memberLevel        = "securityLevel"
)

// A Member is a member of metadata, and the required form of its value.
type Member struct {
	Name, Form string
	Fits       func(json.RawMessage) bool
}

// Declaring are the members that restrict a tool.
var Declaring = []Member{
	{memberCapabilities, "an array of strings", rawjson.IsStrings},
	{MemberConfine, "an object", func(v json.RawMessage) bool { return rawjson.KindOf(v) == rawjson.Object }},
	{memberLevel, "a string", func(v json.RawMessage) bool { return rawjson.KindOf(v) == rawjson.String }},
}

// Unreadable is the member of a registry entry with the reason why the declaration of the tool cannot be read.
const Unreadable = "unreadable"

// DeclarationOf returns the declaration in a registry entry, without unknown capabilities. The error is the reason why
// the declaration cannot be read; then the tool must not run.
func DeclarationOf(item json.RawMessage) (d Declaration, err error) {
	fault := func(reason string) { err = cmp.Or(err, errors.New(reason)) }
	rawjson.Each(item, func(name, value json.RawMessage) {
		switch {
		case rawjson.Absent(value):
		case rawjson.NameIs(name, Unreadable):
			reason, _ := rawjson.Text(value)
			fault(reason)
		case rawjson.NameIs(name, memberCapabilities):
			d.Given = true
			if !rawjson.IsStrings(value) {
				fault(`"capabilities" must be an array of strings`)
			}
			for one := range rawjson.Elements(value) {
				name, _ := rawjson.Text(one)
				if c, known := ParseCapability(name); known && !d.Has(c) {
					d.Capabilities = append(d.Capabilities, c)
				}
			}
		case rawjson.NameIs(name, MemberConfine):
			d.Given = true
			if rawjson.KindOf(value) != rawjson.Object {
				fault(`"confine" must be an object`)
			}
			d.Extras, _ = ParseExtras(value)
		}
	})
	if err != nil {
		return Declaration{Given: true}, err
	}
	return d, nil
}

// Harmless returns the part of a declaration that changes nothing and contacts nobody.
func (d *Declaration) Harmless() Declaration {
	h := Declaration{Given: true, Extras: Extras{Read: slices.Concat(d.Read, d.Write), Exec: d.Exec}}
	if !d.Given || d.Has(Search) || d.Has(Edit) || d.Has(FileSystem) {
		h.Capabilities = append(h.Capabilities, Search)
	}
	if !d.Given || d.Has(Process) {
		h.Capabilities = append(h.Capabilities, Process)
	}
	return h
}

// Has reports whether a capability is declared.
func (d *Declaration) Has(c Capability) bool { return slices.Contains(d.Capabilities, c) }

// Equal reports whether two declarations are equal.
func (d *Declaration) Equal(o *Declaration) bool {
	return d.Given == o.Given && slices.Equal(d.Capabilities, o.Capabilities) && slices.Equal(d.Read, o.Read) &&
		slices.Equal(d.Write, o.Write) && slices.Equal(d.Exec, o.Exec) && slices.Equal(d.Connect, o.Connect)
}

// ParseExtras reads the "confine" member of a tool. It skips each invalid value and
// describes it in faults.
func ParseExtras(doc json.RawMessage) (x Extras, faults []string) {
	fault := func(text string) { faults = append(faults, "confine."+text) }
	for _, m := range rawjson.Members(doc) {
		switch m.Name {
		case extraRead, extraWrite, extraExec, extraConnect:
		default:
			fault(m.Name + " is unknown; known are read, write, exec and connect")
			continue
		}
		if rawjson.KindOf(m.Value) != rawjson.Array {
			fault(m.Name + " is not an array")
			continue
		}
		count := 0
		for one := range rawjson.Elements(m.Value) {
			if count++; count > maxExtras {
				fault(fmt.Sprintf("%s has more than %d values", m.Name, maxExtras))
				break
			}
			if reason := x.add(m.Name, one); reason != "" {
				fault(m.Name + ": " + reason + ": " + string(one))
			}
		}
	}
	return x, faults
}

// add adds one value of a list, or returns the reason why the value is invalid.
func (x *Extras) add(list string, value json.RawMessage) (fault string) {
	if list == extraConnect {
		port := rawjson.PositiveInt(value)
		if port < 1 || port > 65535 {
			return "not a port"
		}
		x.Connect = append(x.Connect, uint16(port))
		return ""
	}
	text, ok := rawjson.Text(value)
	if !ok || text == "" || strings.ContainsRune(text, 0) {
		return "not a path"
	}
	for _, l := range x.lists() {
		if l.name == list {
			*l.values = append(*l.values, text)
		}
	}
	return ""
}

type list struct {
	name   string
	values *[]string
}

// lists returns the lists of texts, by their members.
func (x *Extras) lists() [3]list {
	return [...]list{{extraRead, &x.Read}, {extraWrite, &x.Write}, {extraExec, &x.Exec}}
}

// JSON returns the extras in the form of metadata, without empty lists.
func (x *Extras) JSON() json.RawMessage {
	var b rawjson.Builder
	b.Object()
	for _, l := range x.lists() {
		if len(*l.values) > 0 {
			b.Name(l.name).Strings(*l.values)
		}
	}
	if len(x.Connect) > 0 {
		b.Name(extraConnect).Array()
		for _, port := range x.Connect {
			b.Int(int(port))
		}
		b.End()
	}
	return b.End().Bytes()
}

// level returns the level that the extras need: the level of the capability that covers them.
func (x *Extras) level() Level {
	switch {
	case len(x.Exec) > 0:
		return levelFor(string(Process))
	case len(x.Connect) > 0:
		return levelFor(string(Network))
	case len(x.Read)+len(x.Write) > 0:
		return levelFor(string(FileSystem))
	}
	return Restricted
}

// Spell returns the normal form of an extra: ./scripts/x is scripts/x. The name of a program without a slash is
// looked up on the PATH, so ./x keeps its dot.
func Spell(entry string, program bool) string {
	clean := path.Clean(filepath.ToSlash(entry))
	switch {
	case !strings.HasPrefix(entry, "./"):
	case program && !strings.Contains(clean, "/"), strings.HasPrefix(clean, "~"):
		return "./" + clean
	}
	return clean
}

// Resolve returns the absolute path of an extra, in the form of [fsys.Named]. A relative path is below the project. An
// invalid path also becomes a path below the project, where no such file exists.
func Resolve(path, project, home string) string {
	if named, err := fsys.Named(path, home); err == nil {
		path = named
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(project, filepath.FromSlash(path))
}

// ProgramRemedy returns the declarations that let a tool start a program, the narrower one first.
func ProgramRemedy(program string) string {
	return fmt.Sprintf(`"confine": {"exec": [%q]}, or the capability Process for all programs`, program)
}

// NetworkRemedy is the declaration that lets a tool connect to other hosts.
const NetworkRemedy = `the capability Network, or the port in "confine": {"connect": [...]}`

// FileRemedy returns the declaration that lets a tool use a file that a capability opens.
func FileRemedy(capability string) string {
	return fmt.Sprintf(`the capability %s, or the path in "confine": {"read": [...]} or {"write": [...]}`, capability)
}

// A Capability is a kind of action that a tool declares.
type Capability string

// The capabilities.
const (
	FileSystem Capability = "FileSystem" // reads or writes files
	Process    Capability = "Process"    // starts programs other than its interpreter and its own scripts
	Network    Capability = "Network"    // talks to other hosts
	Search     Capability = "Search"     // only looks things up in project or index data
	Edit       Capability = "Edit"       // changes content the user owns
)

// Capabilities are the known capabilities, in the order in which they are stored.
var Capabilities = []Capability{FileSystem, Process, Network, Search, Edit}

// ParseCapability reads the name of a capability in upper or lower case.
func ParseCapability(name string) (c Capability, ok bool) {
	at := slices.IndexFunc(Capabilities, func(known Capability) bool { return strings.EqualFold(string(known), name) })
	if at < 0 {
		return Capability(name), false
	}
	return Capabilities[at], true
}
