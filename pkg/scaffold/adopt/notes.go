package adopt

import (
	"fmt"
	"strings"

	"mcp-bash/pkg/scaffold/source"
)

// A Note is a point about a script that a person should check.
type Note struct {
	Line int    `json:"line"` // of the script, or 0
	Text string `json:"text"`
}

// meanings explains the doubts of the reader.
var meanings = map[source.DoubtKind]string{
	source.DoubtName:     "%s: the script gives it no name; rename it in tool.meta.json and tool.sh",
	source.DoubtRequired: "%s: probably required, because of the usage or of a check in another file",
	source.DoubtPassedOn: "%s: the words reach the script as they are, because it does not explain them",
	source.DoubtValue:    "%s: the script takes a value and does not use it",
	source.DoubtOptions:  "options are read in a way that was not understood: %s",
	source.DoubtPrograms: "starts programs that are known only when it runs, so the tool has the capability Process%s",
	source.DoubtShared: "writes in %s, which a confined tool cannot: use mktemp -t NAME.XXXXXX, or " +
		`"${TMPDIR:-/tmp}/NAME"`,
	source.DoubtPurpose: "has no comment about its purpose: write the description in tool.meta.json%s",
	source.DoubtUsage:   "%s: the usage text has it, and the code does not",
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
