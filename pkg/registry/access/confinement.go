package access

import (
	"cmp"
	"fmt"
	"strings"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

// A Confinement selects the tools that the kernel confines to their capabilities (CF-1).
// The zero value selects no tool.
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

// EffectiveConfinement returns the stricter of the operator's mode and the project's mode,
// so that neither can loosen the other. An unknown mode is logged and counts as the
// strictest mode (CF-2).
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
