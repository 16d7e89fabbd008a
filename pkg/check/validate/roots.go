package validate

import (
	"errors"
	"fmt"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/schemas"
)

// findRoots finds the roots of the project, and checks whether the server can use them (P-2101).
func (c *check) findRoots() {
	c.ownFields(abs(c.p.Root, roots.File), schemas.Roots)
	scope, err := roots.Fallback(c.p)
	if unusable, ok := errors.AsType[*roots.UnusableError](err); ok {
		f := finding.Finding{ID: "roots.unusable", Message: err.Error(), Fix: unusable.Remedy()}
		if unusable.Source == roots.File {
			f.Path, f.Message = roots.File, unusable.Reason()
		}
		c.add(f)
	}
	c.roots, c.noRoots = scope, err == nil && !scope.Given
}

// takesPath matches SDK functions that check a path of the client, outside comments.
var takesPath = lazyregexp.New(`(?m)^[^#\n]*\b(mcp_require_path\b|mcp_argv_(option|operand)\b[^#\n]* --path\b)`)

// pathsWithoutRoots warns about tools that take paths in a project without roots.
func (c *check) pathsWithoutRoots() {
	if !c.noRoots {
		return
	}
	first, more := "", 0
	for _, s := range c.scripts {
		switch {
		case !takesPath.Match(s.text):
		case first == "":
			first = s.label
		default:
			more++
		}
	}
	if first == "" {
		return
	}
	if more > 0 {
		first += fmt.Sprintf(" and %d more", more)
	}
	c.at("roots.none", roots.File, "missing, but tools take paths: "+first)
}
