package shellscript

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Marks at the beginning of the text of a word: the folder of the script, and a file that it made with mktemp.
const (
	here      = "\x00"
	temporary = "\x01"
)

// maxValue limits the text of a variable, in bytes: variables can refer to each other.
const maxValue = 4096

// evaluate returns the text of a word, and whether it is known before the script runs.
func (r *reader) evaluate(w *syntax.Word) (string, bool) { return textOf(w.Parts, false, r.expansion) }

// shown returns the text of a word for people.
func (r *reader) shown(w *syntax.Word) string {
	text, _ := r.evaluate(w)
	return strings.NewReplacer(here, "", temporary, "").Replace(text)
}

// fileOf returns the path that a word names. It is relative to the folder of the script if it is in there.
func (r *reader) fileOf(w *syntax.Word) (name string, own, known bool) {
	name, known = r.evaluate(w)
	if name, own = strings.CutPrefix(name, here); own {
		r.script.Effects.OwnFolder = true
		name = strings.TrimPrefix(name, "/")
	}
	return path.Clean(name), own, known && !strings.ContainsAny(name, here+temporary)
}

// expansion returns the text of an expansion: the folder of the script, a default, or the one value of a variable.
func (r *reader) expansion(part syntax.WordPart) (string, bool) {
	switch p := part.(type) {
	case *syntax.CmdSubst:
		return r.output(p)
	case *syntax.ParamExp:
		switch {
		case p.Param == nil || p.Excl || p.Length || p.Slice != nil || p.Repl != nil:
		case isOwnName(p.Param.Value):
			if p.Exp != nil && p.Exp.Op == syntax.RemSmallSuffix { // ${0%/*}
				return here, true
			}
			return "SCRIPT", false
		case p.Index != nil:
		case p.Param.Value == "HOME":
			return "~", true
		default:
			text, known := r.value(p.Param.Value)
			if !known && p.Exp != nil {
				if _, hasDefault := defaultOf(p); hasDefault && p.Exp.Word != nil {
					return r.evaluate(p.Exp.Word)
				}
			}
			return text, known
		}
	}
	return "", false
}

// isOwnName reports whether a parameter has the path of the script.
func isOwnName(name string) bool { return name == "0" || name == "BASH_SOURCE" }

// output returns what the output of a command is as far as it matters: $(dirname "$0"), $(mktemp).
func (r *reader) output(c *syntax.CmdSubst) (text string, known bool) {
	text = "SCRIPT"
	syntax.Walk(c, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if programOf(n) == "mktemp" {
				text, known = temporary, true
			} else if programOf(n) == "basename" {
				return false
			}
		case *syntax.ParamExp:
			if !known && n.Param != nil && isOwnName(n.Param.Value) {
				text, known = here, true
			}
		}
		return true
	})
	return text, known
}

// value returns the text of a variable: the only value that it gets. The folder of the script, or a file that it made,
// can be one of several values.
func (r *reader) value(name string) (string, bool) {
	found, done := r.known[name]
	if !done {
		r.known[name] = nil // for variables that refer to each other
		for _, s := range r.values[name] {
			if s.Value == nil {
				continue
			}
			text, known := r.evaluate(s.Value)
			marked := strings.HasPrefix(text, here) || strings.HasPrefix(text, temporary)
			if known && len(text) <= maxValue && (len(r.values[name]) == 1 || marked) {
				found = &text
			}
		}
		r.known[name] = found
	}
	if found == nil {
		return "", false
	}
	return *found, true
}

// isAssigned reports whether a variable gets a value that is not its own, as in X=${X:-1}.
func (r *reader) isAssigned(name string) bool {
	own := func(p place) bool {
		w, ok := p.node.(*syntax.Word)
		return ok && refersTo(w, name)
	}
	isOther := func(s *syntax.Assign) bool { return s.Value == nil }
	return slices.ContainsFunc(r.values[name], isOther) ||
		slices.ContainsFunc(r.texts[name], func(p place) bool { return !own(p) })
}

// readSources reads the files next to the script that it sources, and those that they source.
func (r *reader) readSources() {
	for i := 0; i < len(r.calls["source"]) && len(r.sources) < 16; i++ {
		c := r.calls["source"][i].node.(*syntax.CallExpr)
		if len(c.Args) < 2 {
			continue
		}
		name, _, known := r.fileOf(c.Args[1])
		if slices.Contains(r.script.Sources, name) {
			continue
		}
		var text []byte
		if known && r.nextTo != nil && name[0] != '/' && name[0] != '~' {
			text = r.nextTo(name)
		}
		if file, err := parse(text); text == nil || len(text) > MaxSize || err != nil {
			r.unread = true
		} else {
			r.script.Sources = append(r.script.Sources, name)
			r.sources = append(r.sources, file)
			clear(r.known)
			r.collect("", file)
		}
	}
}
