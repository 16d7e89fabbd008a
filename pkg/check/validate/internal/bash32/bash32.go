// Package bash32 parses scripts. It finds features that Bash 3.2, the Bash of macOS, lacks. It also
// finds the functions that a script defines and calls.
//
// The package uses a parser, so comments, strings and here documents do not count as code. It
// reports no newer features for scripts that check the version of Bash.
package bash32

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"mcp-bash/pkg/text/lazyregexp"
)

// newer lists the features that Bash 3.2 lacks. A row has a key, the version of Bash with the feature, its name in
// messages, and the alternative. An option of shopt has only the version.
//
//go:embed newer.txt
var newer string

var features = sync.OnceValue(func() map[string]Use {
	all := map[string]Use{}
	for row := range strings.Lines(newer) {
		cells := strings.SplitN(strings.TrimSuffix(row, "\n"), " | ", 4)
		u := Use{What: cells[0], Since: cells[1]}
		if option, ok := strings.CutPrefix(cells[0], "shopt "); ok {
			u.Instead = "remove it, or set it only if Bash supports it: shopt -s " + option + " 2>/dev/null"
		} else {
			u.What, u.Instead = cells[2], cells[3]
		}
		all[cells[0]] = u
	}
	return all
})

// A Use is one use of a newer feature.
type Use struct {
	Line    int
	What    string // "mapfile"
	Since   string // version of Bash with the feature: "4.0"
	Instead string // alternative for 3.2
}

const maxUses = 20

// Newer returns features of the script that Bash 3.2 lacks.
func (s *Script) Newer() []Use {
	if s.checksVersion {
		return nil
	}
	found := &search{}
	syntax.Walk(s.file, found.visit)
	return found.found
}

type search struct{ found []Use }

// add adds the use of a feature, if 3.2 lacks it. name replaces NAME in its message.
func (s *search) add(at syntax.Node, key, name string) {
	if u, ok := features()[key]; ok && len(s.found) < maxUses {
		u.Line, u.What = int(at.Pos().Line()), strings.ReplaceAll(u.What, "NAME", name)
		s.found = append(s.found, u)
	}
}

func (s *search) visit(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.DeclClause:
		s.declaration(n)
	case *syntax.CallExpr:
		s.call(n)
	case *syntax.ParamExp:
		s.parameter(n)
	case *syntax.DblQuoted:
		s.replacements(n.Parts)
	case *syntax.Redirect:
		s.redirect(n)
	case *syntax.BinaryCmd:
		if n.Op == syntax.PipeAll {
			s.add(n, "|&", "")
		}
	case *syntax.CoprocClause:
		s.add(n, "coproc", "")
	case *syntax.UnaryTest:
		switch n.Op {
		case syntax.TsVarSet:
			s.add(n, "[[ -v ]]", "")
		case syntax.TsRefVar:
			s.add(n, "[[ -R ]]", "")
		}
	case *syntax.CaseItem:
		s.add(n, n.Op.String(), "")
	case *syntax.SglQuoted:
		if n.Dollar && hasUnicodeEscape.MatchString(n.Value) {
			s.add(n, `$'\u'`, "")
		}
	}
	return true
}

func (s *search) declaration(n *syntax.DeclClause) {
	if n.Variant.Value == "export" || n.Variant.Value == "nameref" {
		return // export -n exists in 3.2, with another meaning
	}
	for _, a := range n.Args {
		if a.Name == nil && a.Value != nil && strings.HasPrefix(a.Value.Lit(), "-") {
			for _, letter := range a.Value.Lit()[1:] {
				s.add(n, "declare -"+string(letter), "")
			}
		}
	}
}

func (s *search) call(n *syntax.CallExpr) {
	for _, a := range n.Assigns {
		if a.Index != nil && isNegative(a.Index) {
			s.add(a, "x[-1]=", "")
		}
	}
	if len(n.Args) == 0 {
		return
	}
	command, words := n.Args[0].Lit(), writtenAll(n.Args)[1:]
	switch command {
	case "mapfile", "readarray":
		s.add(n, command, "")
	case "wait":
		if slices.Contains(words, "-n") || slices.Contains(words, "-p") {
			s.add(n, "wait -n", "")
		}
	case "test", "[":
		if len(words) > 1 && words[0] == "-v" {
			s.add(n, "test -v", "")
		}
	case "printf":
		if len(words) > 0 && hasTimeFormat.MatchString(words[0]) {
			s.add(n, "printf %(...)T", "")
		}
	case "read":
		s.read(n, words)
	case "shopt":
		for _, w := range words {
			s.add(n, "shopt "+w, "")
		}
	}
}

func (s *search) read(n *syntax.CallExpr, words []string) {
	for i, w := range words {
		if w == "-N" || w == "-i" || w == "-t" && i+1 < len(words) && strings.Contains(words[i+1], ".") {
			s.add(n, "read "+w, "")
		}
	}
}

func (s *search) parameter(n *syntax.ParamExp) {
	s.add(n, "$"+n.Param.Value, "")
	if n.Slice != nil && isNegative(n.Slice.Length) {
		s.add(n, "${x:0:-1}", "")
	}
	if n.Index != nil && isNegative(n.Index) {
		s.add(n, "${x[-1]}", "")
	}
	if n.Exp != nil {
		s.add(n, "${x"+n.Exp.Op.String()+"}", n.Param.Value)
	}
}

// replacements finds quoted replacements in a quoted text. 3.2 removes their quotes only outside of quotes.
func (s *search) replacements(parts []syntax.WordPart) {
	for _, part := range parts {
		if n, ok := part.(*syntax.ParamExp); ok && n.Repl != nil && n.Repl.With != nil && hasQuotes(n.Repl.With) {
			s.add(n, `${x/"y"}`, "")
		}
	}
}

// hasQuotes reports whether a replacement has quotes, or an escaped letter, in a quoted text.
func hasQuotes(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.DblQuoted:
			return true
		case *syntax.SglQuoted:
			return !p.Dollar
		case *syntax.Lit:
			if strings.Count(p.Value, "'") > 1 {
				return true
			}
			for i := 0; i+1 < len(p.Value); i++ {
				if p.Value[i] == '\\' {
					if i++; !strings.ContainsRune("$`\"\\\n}/", rune(p.Value[i])) {
						return true
					}
				}
			}
		}
	}
	return false
}

func (s *search) redirect(n *syntax.Redirect) {
	if n.Hdoc != nil {
		s.replacements(n.Hdoc.Parts)
	}
	if n.Op == syntax.AppAll {
		s.add(n, "&>>", "")
	}
	if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
		s.add(n, "{fd}>", n.N.Value+n.Op.String())
	}
}

func isNegative(e syntax.ArithmExpr) bool {
	switch e := e.(type) {
	case *syntax.UnaryArithm:
		return e.Op == syntax.Minus && !e.Post
	case *syntax.Word:
		return strings.HasPrefix(strings.TrimSpace(e.Lit()), "-")
	}
	return false
}

var (
	hasTimeFormat    = lazyregexp.New(`(?s)^(?:[^%]|%%|%[^%(])*%[-.0-9]*\(`)
	hasUnicodeEscape = lazyregexp.New(`(?s)^(?:[^\\]|\\.)*?\\[uU]`)
)
