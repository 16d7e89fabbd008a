// Package access decides which tools a server offers (registry section 20).
//
// A tool declares capabilities, and a project is used at a security [Level], which covers a set of capabilities. A
// level does not sandbox a tool. [Confinement] selects the tools that the kernel confines to their declarations.
package access

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

// A Level is a security level. A project offers the tools whose capabilities its level covers. Each level covers the
// capabilities of the lower levels too.
type Level string

// The levels, the lowest first. The zero value counts as Full.
const (
	Restricted Level = "restricted" // tools that only read project or index data
	Standard   Level = "standard"   // also tools that read, write and edit files
	Elevated   Level = "elevated"   // also tools that talk to other hosts
	Full       Level = "full"       // all tools, also without a declaration
)

// RegistryLogger is the logger of messages about the registry as a whole.
const RegistryLogger = "mcp.registry"

// levels are the levels in ascending order, with the capabilities that each adds.
var levels = []struct {
	level Level
	adds  []Capability
}{
	{Restricted, []Capability{Search}},
	{Standard, []Capability{FileSystem, Edit}},
	{Elevated, []Capability{Network}},
	{Full, []Capability{Process}},
}

// ParseLevel reads the name of a level in upper or lower case.
func ParseLevel(name string) (l Level, ok bool) {
	l = Level(strings.ToLower(name))
	return l, l.rank() >= 0
}

// rank returns the index of a level in levels, or -1 for an unknown level.
func (l Level) rank() int {
	l = cmp.Or(l, Full)
	for i := range levels {
		if levels[i].level == l {
			return i
		}
	}
	return -1
}

// EffectiveLevel returns the level at which a project's tools are offered. It is the lower of the operator's and the
// project's level, so that neither can loosen the other. An unknown level is logged and counts as the lowest. Programs
// call EffectiveLevel once, when they start.
func EffectiveLevel(p *project.Project, log mcp.LogFunc) Level {
	effective := Full
	for _, asked := range []struct{ value, source string }{
		{p.Discovery.SecurityLevel, "MCPBASH_SECURITY_LEVEL"},
		{p.Meta.SecurityLevel, project.Marker},
	} {
		if asked.value == "" {
			continue
		}
		level, ok := ParseLevel(asked.value)
		if !ok {
			level = Restricted
			if log != nil {
				text := fmt.Sprintf("Invalid security level '%s' in %s; using %s", asked.value, asked.source, level)
				log(mcp.Err, RegistryLogger, text)
			}
		}
		if !level.Allows(effective) {
			effective = level
		}
	}
	return effective
}

// LevelOf returns the level that a tool needs, given its registry entry. It is the higher of the tool's securityLevel
// and the lowest level that covers its declaration. Unknown values in the entry need the highest level.
func LevelOf(item json.RawMessage) Level {
	needed := Restricted
	raise := func(l Level) {
		if !needed.Allows(l) {
			needed = l
		}
	}
	declared, confine := rawjson.Get(item, "capabilities"), rawjson.Get(item, "confine")
	switch {
	case !rawjson.Absent(rawjson.Get(item, Unreadable)):
		return Full
	case rawjson.IsStrings(declared):
	case rawjson.KindOf(confine) != rawjson.Object || !rawjson.Absent(declared):
		return Full
	}
	if rawjson.KindOf(confine) == rawjson.Object {
		extras, _ := ParseExtras(confine)
		raise(extras.level())
	}
	for e := range rawjson.Elements(declared) {
		name, _ := rawjson.Text(e)
		raise(levelFor(name))
	}
	if asked := rawjson.Get(item, "securityLevel"); !rawjson.Absent(asked) {
		name, _ := rawjson.Text(asked)
		level, ok := ParseLevel(name)
		if !ok || name == "" {
			level = Full
		}
		raise(level)
	}
	return needed
}

// levelFor returns the lowest level that covers a capability.
func levelFor(name string) Level {
	for _, l := range levels {
		if slices.ContainsFunc(l.adds, func(c Capability) bool { return strings.EqualFold(string(c), name) }) {
			return l.level
		}
	}
	return Full
}

// Allows reports whether a tool that needs the level needed may be used at level l.
func (l Level) Allows(needed Level) bool { return needed.rank() <= l.rank() }

// Refusal returns the error for a call of a tool that needs a higher level, or nil if
// the tool may be used. item is the tool's registry entry (R-213, T-5a).
func (l Level) Refusal(item json.RawMessage) *mcp.Error {
	if l.Allows(Full) {
		return nil
	}
	needed := LevelOf(item)
	if l.Allows(needed) {
		return nil
	}
	name := rawjson.TextOf(item, "name")
	err := mcp.Errorf(mcp.CodeInvalidParams,
		"Tool '%s' requires security level '%s' (current level: '%s')", name, needed, l).Because(mcp.CauseLevel)
	var data rawjson.Builder
	err.Data = data.Object().Name("tool").String(name).Name("requiredLevel").String(string(needed)).
		Name("level").String(string(l)).Name("capabilities").Raw(rawjson.Get(item, "capabilities")).End().Bytes()
	return err
}

// A Confinement selects the tools that the kernel confines to their capabilities. The zero value selects no tool.
type Confinement struct {
	Declared bool // tools that declare capabilities
	All      bool // also tools that declare nothing
	Required bool // a selected tool runs only if the kernel can confine it
}

// String returns a mode as ParseConfinement reads it.
func (c Confinement) String() string {
	mode := "off"
	switch {
	case c.All:
		mode = "all"
	case c.Declared:
		mode = "declared"
	}
	if c.Required {
		mode += ",required"
	}
	return mode
}

// ParseConfinement reads a mode: off, declared or all, with ",required" after it or alone.
func ParseConfinement(text string) (c Confinement, ok bool) {
	mode, more, both := strings.Cut(strings.ToLower(text), ",")
	switch mode = strings.TrimSpace(mode); mode {
	case "off":
		return c, !both
	case "declared":
		c.Declared = true
	case "all":
		c.Declared, c.All = true, true
	default:
		return c, false
	}
	c.Required = both
	return c, !both || strings.TrimSpace(more) == "required"
}

// EffectiveConfinement returns the stricter of the operator's mode and the project's mode, so that neither can loosen
// the other. An unknown mode is logged and counts as the strictest mode.
func EffectiveConfinement(p *project.Project, log mcp.LogFunc) Confinement {
	effective := Confinement{}
	for _, asked := range []struct{ value, byDefault, source string }{
		{p.Discovery.Confine, "declared", "MCPBASH_CONFINE"}, {p.Meta.Confine, "off", project.Marker},
	} {
		asked.value = cmp.Or(asked.value, asked.byDefault)
		c, ok := ParseConfinement(asked.value)
		if !ok {
			c = Confinement{Declared: true, All: true, Required: true}
			if log != nil {
				log(mcp.Err, RegistryLogger, fmt.Sprintf("Invalid confinement '%s' in %s; using all,required",
					asked.value, asked.source))
			}
		}
		effective.Declared = effective.Declared || c.Declared
		effective.All = effective.All || c.All
		effective.Required = effective.Required || c.Required
	}
	return effective
}
