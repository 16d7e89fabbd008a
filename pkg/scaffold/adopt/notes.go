package adopt

import (
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/pkg/shellscript"
)

// A Note is a point about a script that a person should check.
type Note struct {
	Line int    `json:"line"` // of the script, or 0
	Text string `json:"text"`
}

// meanings explains the doubts of the reader.
var meanings = map[shellscript.DoubtKind]string{
	shellscript.DoubtName:     "%s: the script gives it no name; rename it in tool.meta.json and tool.sh",
	shellscript.DoubtRequired: "%s: probably required, because of the usage or of a check in another file",
	shellscript.DoubtPassedOn: "%s: the words reach the script as they are, because it does not explain them",
	shellscript.DoubtValue:    "%s: the script takes a value and does not use it",
	shellscript.DoubtOptions:  "options are read in a way that was not understood: %s",
	shellscript.DoubtPrograms: "starts programs that are known only when it runs, so the tool has the capability " +
		"Process%s",
	shellscript.DoubtShared: "writes in %s, which a confined tool cannot: use mktemp -t NAME.XXXXXX, or " +
		`"${TMPDIR:-/tmp}/NAME"`,
	shellscript.DoubtPurpose: "has no comment about its purpose: write the description in tool.meta.json%s",
	shellscript.DoubtUsage:   "%s: the usage text has it, and the code does not",
}

// Notes returns what a person should check about a script. If asked, the user of the client answers its questions.
func (f *Found) Notes(asked bool) (notes []Note) {
	s := f.Says
	for _, d := range s.Doubts {
		if text := meanings[d.Kind]; text != "" {
			notes = append(notes, Note{d.Line, fmt.Sprintf(text, d.What)})
		}
	}
	for _, q := range s.Questions {
		if asked {
			break
		}
		notes = append(notes, Note{q.Line, fmt.Sprintf("asks %q; with --ask, the user of the client answers", q.Text)})
	}
	for _, v := range s.Variables {
		if v.Required {
			notes = append(notes, Note{v.Line, v.Name + ": set it where the server starts"})
		}
	}
	add := func(is bool, text string) {
		if is {
			notes = append(notes, Note{0, text})
		}
	}
	add(s.Effects.Root, "needs the superuser (sudo), which a confined tool cannot become")
	add(s.Effects.Endless, "does not end by itself, so a call ends with its time limit")
	add(s.Effects.Terminal, "needs a terminal, which a tool does not have")
	add(s.Effects.WritesThere, "writes into its own folder, which has code: let it write to another one, and name that in"+
		" confine.write of tool.meta.json")
	if list := s.Effects.Secrets; len(list) > 0 {
		notes = append(notes, Note{0, fmt.Sprintf("its programs read %s, which can contain secrets: if calls need that, "+
			"add it to confine.read in tool.meta.json", strings.Join(list, ", "))})
	}
	if s.Effects.Destroys {
		notes = append(notes, Note{s.Effects.Line, "deletes or publishes something, so the tool is marked as destructive"})
	}
	return notes
}

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
	dry := slices.IndexFunc(s.Arguments, func(a *shellscript.Argument) bool {
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
		!slices.ContainsFunc(s.Arguments, func(a *shellscript.Argument) bool { return a.Required })
}
