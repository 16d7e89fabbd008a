package adopt

import (
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/source"
	"mcp-bash/pkg/scaffold/wrap"
)

// dryRuns are the names of options that make a script show what it would do.
var dryRuns = []string{"dry_run", "dryrun", "dry", "no_act", "noop", "simulate"}

// Trial returns a call that changes nothing, or why there is no such call (ADD-50).
func (f *Found) Trial() (call *wrap.Trial, lacks string) {
	s := f.Says
	switch {
	case s.Trial != nil:
		return &wrap.Trial{Words: []string{s.Trial.Word}, ExitCode: s.Trial.Status}, ""
	case f.asked != nil:
		return f.asked, ""
	}
	dry := slices.IndexFunc(s.Arguments, func(a *source.Argument) bool {
		return !a.Value && slices.Contains(dryRuns, a.Name)
	})
	var needed []string
	for _, a := range s.Arguments {
		if a.Required {
			needed = append(needed, a.Name)
		}
	}
	switch {
	case dry < 0 && s.NoTrial > 0:
		return nil, fmt.Sprintf("line %d may change something before the script understands --help", s.NoTrial)
	case dry < 0:
		return nil, "no --help, --version or dry run that is sure to change nothing"
	case len(needed) > 0:
		return nil, "its dry run needs " + strings.Join(needed, ", ")
	case s.Effects.Network:
		return nil, "its dry run may use the network"
	}
	return &wrap.Trial{Arguments: map[string]any{s.Arguments[dry].Name: true}}, ""
}

// Harmless reports whether a call without arguments changes nothing, as far as the text shows it.
func (f *Found) Harmless() bool {
	s := f.Says
	return f.Parsed() && !s.Effects.Writes && !s.Effects.Network && !s.Effects.Destroys && !s.Unknown &&
		!s.Effects.Endless && len(s.Questions) == 0 &&
		!slices.ContainsFunc(s.Arguments, func(a *source.Argument) bool { return a.Required })
}
