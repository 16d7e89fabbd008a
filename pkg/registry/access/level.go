package access

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// A Level is a security level: how much a tool may be able to do and still be
// offered. Each allows what the ones before allow. They gate
// what is offered, and are no sandbox.
type Level string

// The levels, the lowest first. The zero value counts as Full.
const (
	Restricted Level = "restricted" // tools that only look things up
	Standard   Level = "standard"   // and that read, write and edit files
	Elevated   Level = "elevated"   // and that talk to other hosts
	Full       Level = "full"       // all, also those that declare nothing
)

// registryLogger is the logger of messages about the registry as a whole.
const RegistryLogger = "mcp.registry"

// levels are the levels in order, with the capabilities that each adds.
var levels = []struct {
	level Level
	adds  []Capability
}{
	{Restricted, []Capability{Search}},
	{Standard, []Capability{FileSystem, Edit}},
	{Elevated, []Capability{Network}},
	{Full, []Capability{Process}},
}

// ParseLevel reads the name of a level, whatever its case.
func ParseLevel(name string) (l Level, ok bool) {
	l = Level(strings.ToLower(name))
	return l, l.rank() >= 0
}

// rank is a level's place among the levels, negative for one nobody knows.
func (l Level) rank() int {
	if l == "" {
		l = Full
	}
	for i := range levels {
		if levels[i].level == l {
			return i
		}
	}
	return -1
}

// EffectiveLevel returns the level at which a project's tools are offered: the
// lower of what the operator and what the project asks for, so that neither can
// loosen the other. A level nobody knows is logged and taken for the
// lowest. Programs ask once, at their start.
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
				log(mcp.Err, RegistryLogger, fmt.Sprintf("Invalid security level '%s' in %s; using %s", asked.value, asked.source, level))
			}
		}
		if !level.Allows(effective) {
			effective = level
		}
	}
	return effective
}

// LevelOf returns the level that a tool needs: the higher of what it asks for
// and the lowest that covers all it declares. item is its registry
// entry. What nobody knows in it needs the highest level, for it may come from
// a file that others wrote.
func LevelOf(item json.RawMessage) Level {
	needed := Restricted
	raise := func(l Level) {
		if !needed.Allows(l) {
			needed = l
		}
	}
	declared := rawjson.Get(item, "capabilities")
	if !rawjson.IsStrings(declared) {
		return Full
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

// Allows reports whether a tool that needs a level may be used at this one.
func (l Level) Allows(needed Level) bool { return needed.rank() <= l.rank() }

// Refusal returns what the caller of a tool above the level is told, nil when
// the tool may be used (R-213, T-5a). item is its registry entry.
func (l Level) Refusal(item json.RawMessage) *mcp.Error {
	if l.Allows(Full) {
		return nil
	}
	needed := LevelOf(item)
	if l.Allows(needed) {
		return nil
	}
	name := rawjson.TextOf(item, "name")
	err := mcp.Errorf(mcp.CodeInvalidParams, "Tool '%s' requires security level '%s' (current level: '%s')", name, needed, l)
	var data rawjson.Builder
	err.Data = data.Object().Name("tool").String(name).Name("requiredLevel").String(string(needed)).
		Name("level").String(string(l)).Name("capabilities").Raw(rawjson.Get(item, "capabilities")).End().Bytes()
	return err
}
