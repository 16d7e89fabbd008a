// Package bash32 parses scripts. It finds features that Bash 3.2, the Bash of macOS, lacks. It also
// finds the functions that a script defines and calls.
//
// The package uses a parser, so comments, strings and here documents do not count as code. It
// reports no newer features for scripts that check the version of Bash.
package bash32

import (
	"bytes"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A Use is one use of a newer feature.
type Use struct {
	Line    int
	What    string // "mapfile"
	Since   string // version of Bash with the feature: "4.0"
	Instead string // alternative for 3.2
}

const maxUses = 20

// Newer returns features of a script that Bash 3.2 lacks. It returns nothing for a script that
// cannot be parsed, because Bash reports its errors better.
func Newer(text []byte) []Use {
	if bytes.Contains(text, []byte("BASH_VERSION")) || bytes.Contains(text, []byte("BASH_VERSINFO")) {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(text), "")
	if err != nil {
		return nil
	}
	s := &search{}
	syntax.Walk(file, s.visit)
	return s.found
}

type search struct{ found []Use }

func (s *search) add(at syntax.Node, what, since, instead string) {
	if len(s.found) < maxUses {
		s.found = append(s.found, Use{int(at.Pos().Line()), what, since, instead})
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
			s.add(n, "|&", "4.0", "write 2>&1 |")
		}
	case *syntax.CoprocClause:
		s.add(n, "coproc", "4.0", "use a named pipe (mkfifo), or a file")
	case *syntax.UnaryTest:
		switch n.Op {
		case syntax.TsVarSet:
			s.add(n, "[[ -v ]]", "4.2", "write [[ -n ${name+set} ]]")
		case syntax.TsRefVar:
			s.add(n, "[[ -R ]]", "4.3", "there are no references in 3.2; hand over the value")
		}
	case *syntax.CaseItem:
		switch n.Op {
		case syntax.Fallthrough, syntax.Resume, syntax.ResumeKorn:
			s.add(n, n.Op.String()+" in case", "4.0", "repeat the commands, or put them into a function")
		}
	case *syntax.SglQuoted:
		if n.Dollar && hasUnicodeEscape(n.Value) {
			s.add(n, `$'\u...'`, "4.2", "write the character itself, or its bytes: $'\\xc3\\xa9'")
		}
	}
	return true
}

// option describes a newer option of declare, local and typeset.
func option(letter rune) (what, since, instead string) {
	switch letter {
	case 'A':
		return "an associative array", "4.0", "use two arrays, a case statement, or JSON and jq"
	case 'n':
		return "a reference (declare -n)", "4.3", "hand over the value, or use ${!name} and printf -v"
	case 'g':
		return "declare -g", "4.2", "assign without declare, which is global"
	case 'l':
		return "declare -l", "4.0", "use tr '[:upper:]' '[:lower:]'"
	case 'u':
		return "declare -u", "4.0", "use tr '[:lower:]' '[:upper:]'"
	}
	return "", "", ""
}

func (s *search) declaration(n *syntax.DeclClause) {
	if n.Variant.Value == "export" || n.Variant.Value == "nameref" {
		return // export -n exists in 3.2, with another meaning
	}
	for _, a := range n.Args {
		if a.Name != nil || a.Value == nil {
			continue
		}
		word := a.Value.Lit()
		if !strings.HasPrefix(word, "-") {
			continue
		}
		for _, letter := range word[1:] {
			if what, since, instead := option(letter); what != "" {
				s.add(n, what, since, instead)
			}
		}
	}
}

func (s *search) call(n *syntax.CallExpr) {
	for _, a := range n.Assigns {
		if a.Index != nil && isNegative(a.Index) {
			s.add(a, "a negative index", "4.3", "count from the front: ${#name[@]}-1")
		}
	}
	if len(n.Args) == 0 {
		return
	}
	command := n.Args[0].Lit()
	words := make([]string, 0, len(n.Args)-1)
	for _, w := range n.Args[1:] {
		words = append(words, literal(w))
	}
	switch command {
	case "mapfile", "readarray":
		s.add(n, command, "4.0", `read the lines in a loop: while IFS= read -r line; do list+=("$line"); done`)
	case "wait":
		if slices.Contains(words, "-n") || slices.Contains(words, "-p") {
			s.add(n, "wait -n", "4.3", "wait for each process by its id")
		}
	case "test", "[":
		if len(words) > 1 && words[0] == "-v" {
			s.add(n, "test -v", "4.2", "write [ -n \"${name+set}\" ]")
		}
	case "printf":
		if slices.ContainsFunc(words[:min(1, len(words))], func(w string) bool { return hasTimeFormat(w) }) {
			s.add(n, "printf %(...)T", "4.2", "use date +FORMAT")
		}
	case "read":
		s.read(n, words)
	case "shopt":
		for _, w := range words {
			if since := shopt(w); since != "" {
				s.add(n, "shopt "+w, since, "remove it, or set it only if Bash supports it: shopt -s "+w+" 2>/dev/null")
			}
		}
	}
}

// shopt returns the version that introduced an option of shopt, or "" for options of 3.2.
func shopt(option string) (since string) {
	switch option {
	case "globstar", "autocd", "dirspell", "checkjobs":
		return "4.0"
	case "lastpipe", "direxpand":
		return "4.2"
	case "globasciiranges":
		return "4.3"
	case "inherit_errexit":
		return "4.4"
	case "localvar_inherit", "assoc_expand_once":
		return "5.0"
	case "patsub_replacement":
		return "5.2"
	}
	return ""
}

func (s *search) read(n *syntax.CallExpr, words []string) {
	for i, w := range words {
		switch {
		case w == "-N":
			s.add(n, "read -N", "4.1", "use read -n, or head -c")
		case w == "-i":
			s.add(n, "read -i", "4.0", "show the default in the prompt")
		case w == "-t" && i+1 < len(words) && strings.Contains(words[i+1], "."):
			s.add(n, "read -t with a fraction", "4.0", "give whole seconds")
		}
	}
}

func (s *search) parameter(n *syntax.ParamExp) {
	if since := variable(n.Param.Value); since != "" {
		s.add(n, "$"+n.Param.Value, since, "use what every Bash has: $$ or date")
	}
	if n.Slice != nil && isNegative(n.Slice.Length) {
		s.add(n, "a negative length", "4.2", "give the length: ${name:0:${#name}-1}, or use ${name%?}")
	}
	if n.Index != nil && isNegative(n.Index) {
		s.add(n, "a negative index", "4.3", "count from the front: ${name[${#name[@]}-1]}")
	}
	if n.Exp == nil {
		return
	}
	switch n.Exp.Op {
	case syntax.UpperFirst, syntax.UpperAll:
		s.add(n, "${"+n.Param.Value+n.Exp.Op.String()+"}", "4.0", "use tr '[:lower:]' '[:upper:]'")
	case syntax.LowerFirst, syntax.LowerAll:
		s.add(n, "${"+n.Param.Value+n.Exp.Op.String()+"}", "4.0", "use tr '[:upper:]' '[:lower:]'")
	case syntax.OtherParamOps:
		s.add(n, "${"+n.Param.Value+"@...}", "4.4", "use printf %q")
	}
}

// quotedReplacement is the name of a replacement whose quotes 3.2 keeps.
const quotedReplacement = `a quoted replacement in quotes, "${x/a/"b"}"`

// replacements finds quoted replacements in a quoted text. 3.2 removes their quotes only outside of quotes.
func (s *search) replacements(parts []syntax.WordPart) {
	for _, part := range parts {
		if n, ok := part.(*syntax.ParamExp); ok && n.Repl != nil && n.Repl.With != nil && hasQuotes(n.Repl.With) {
			s.add(n, quotedReplacement, "4.3", `assign it without quotes first: y=${x/a/"$b"}`)
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

// variable returns the version that introduced a variable, or "" for variables of 3.2.
func variable(name string) (since string) {
	switch name {
	case "BASHPID":
		return "4.0"
	case "BASH_XTRACEFD":
		return "4.1"
	case "EPOCHSECONDS", "EPOCHREALTIME":
		return "5.0"
	case "SRANDOM":
		return "5.1"
	}
	return ""
}

func (s *search) redirect(n *syntax.Redirect) {
	if n.Hdoc != nil {
		s.replacements(n.Hdoc.Parts)
	}
	if n.Op == syntax.AppAll {
		s.add(n, "&>>", "4.0", "write >>FILE 2>&1")
	}
	if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
		s.add(n, n.N.Value+n.Op.String(), "4.1", "give the number of the descriptor: 3>FILE")
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

// literal returns the quoted and plain text of a word, or "" if it contains expansions.
func literal(w *syntax.Word) string {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, inner := range p.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					b.WriteString(lit.Value)
				}
			}
		default:
			return ""
		}
	}
	return b.String()
}

func hasTimeFormat(format string) bool {
	for {
		_, rest, found := strings.Cut(format, "%")
		switch {
		case !found:
			return false
		case strings.HasPrefix(rest, "%"):
			rest = rest[1:]
		case strings.HasPrefix(strings.TrimLeft(rest, "-0123456789."), "("):
			return true
		}
		format = rest
	}
}

func hasUnicodeEscape(text string) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\\' {
			if text[i+1] == 'u' || text[i+1] == 'U' {
				return true
			}
			i++
		}
	}
	return false
}
