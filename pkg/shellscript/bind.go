package shellscript

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mcp-bash/pkg/text/lazyregexp"
)

func (a *Argument) is(k Kind) {
	if a.Kind == Text {
		a.Kind = k
	}
}

// require records that the script fails without an argument. tested is the parameter that it tests, or nil if it counts
// the arguments. An option is not required in its own branch.
func (r *reader) require(a *Argument, tested *syntax.ParamExp, end outcome) {
	isVariable := tested != nil && position(tested.Param.Value) == 0
	guards := len(a.Options) > 0 || isVariable && !a.certain // ${ROOT:?}
	if a == r.frame.option || guards && r.hasText(r.before(a)) {
		return
	}
	a.Required = true
	if end == probablyFails {
		a.doubt(DoubtRequired)
	}
}

// before returns the values that the variable of an argument gets before the argument is read.
func (r *reader) before(a *Argument) []*syntax.Assign {
	return slices.DeleteFunc(slices.Clone(r.assignments[a.variable]), func(s *syntax.Assign) bool {
		return int(s.Pos().Line()) >= a.Line
	})
}

func (a *Argument) doubt(kind DoubtKind) {
	if !slices.Contains(a.Doubts, kind) {
		a.Doubts = append(a.Doubts, kind)
	}
}

// argument returns the argument that an expansion has, or nil.
func (r *reader) argument(p *syntax.ParamExp) *Argument {
	a := r.argumentAt(p)
	if a != nil {
		r.met[p] = append(r.met[p], a)
	}
	return a
}

func (r *reader) argumentAt(p *syntax.ParamExp) *Argument {
	if p == nil || p.Param == nil {
		return nil
	}
	name, at, n := p.Param.Value, p.Pos(), position(p.Param.Value)
	switch {
	case r.isWord(name):
		r.keys[p] = true
		cut := p.Exp != nil && (p.Exp.Op == syntax.RemSmallPrefix || p.Exp.Op == syntax.RemLargePrefix)
		if r.frame.option != nil && (r.frame.equals || cut || p.Repl != nil || p.Slice != nil) { // ${1#*=}
			r.frame.joined = true
			return r.frame.option
		}
		return r.frame.operand
	case n > 0:
		r.own[p] = r.frame.words != nil
		return r.operand(n, at)
	case (name == "@" || name == "*") && !p.Length:
		return r.allFrom(max(offset(p), 1), "", at)
	case name == r.listed && p.Index != nil:
		return r.element(p)
	}
	return r.byVariable[name]
}

// isWord reports whether a parameter is the word that a loop looks at.
func (r *reader) isWord(name string) bool {
	f := r.frame
	return f.key != "" && name == f.key || f.place > 0 && position(name)+f.shifted == f.place && position(name) > 0
}

// operand returns the argument that is now at a place, from 1. It returns nil if the word there is not an argument of
// the script.
func (r *reader) operand(place int, at syntax.Pos) *Argument {
	f := r.frame
	place += f.shifted
	switch {
	case f.operand != nil:
		return f.operand
	case f.words != nil && place > len(f.words):
		return nil
	case f.words != nil:
		a := f.words[place-1]
		f.reads = f.reads || a != nil && a == f.option
		return a
	case r.rest != nil && place >= r.rest.place:
		return r.rest
	case r.places[place] == nil:
		r.places[place] = &Argument{Value: true, place: place, Line: int(at.Line())}
	}
	return r.places[place]
}

// all returns the argument that takes all words from here on, or nil. name is the variable that has them, or "". In the
// branch of a loop for other words, the variable is a list of them.
func (r *reader) all(name string, at syntax.Pos) *Argument { return r.allFrom(1, name, at) }

// allFrom is all for the words from a place on: "${@:2}".
func (r *reader) allFrom(first int, name string, at syntax.Pos) *Argument {
	f, place := r.frame, r.frame.shifted+first
	switch {
	case f.operand != nil && name != "":
		r.listed, place = name, r.next()
	case f.words != nil:
		return nil
	}
	if r.rest == nil {
		r.rest = &Argument{Value: true, Repeat: true, place: place, Line: int(at.Line())}
	}
	if r.rest.variable == "" && name != "" {
		r.rest.variable = name
		r.byVariable[name] = r.rest
	}
	return r.rest
}

// element handles ${files[0]} and ${files[@]:1} of the array in which a loop collected the operands.
func (r *reader) element(p *syntax.ParamExp) *Argument {
	w, _ := p.Index.(*syntax.Word)
	index, ok := literal(w)
	if n := position(index); ok && (n > 0 || index == "0") {
		r.unlist()
		return r.operand(n+1, p.Pos())
	}
	if n := offset(p); n > 0 {
		r.unlist()
		return r.allFrom(n+1, "", p.Pos())
	}
	return r.byVariable[p.Param.Value]
}

// unlist removes the list of collected operands.
func (r *reader) unlist() {
	if r.rest != nil && r.rest.variable == r.listed {
		if r.rest.Required {
			r.counts = append(r.counts, count{1, r.options, fails})
		}
		delete(r.byVariable, r.listed)
		r.rest = nil
	}
}

// use records and returns the arguments that a node uses.
func (r *reader) use(n syntax.Node) (used []*Argument) {
	var skipped uint // the end of the words that only getopt uses
	each(n, func(n syntax.Node) {
		if programOf(n) == "getopt" {
			skipped = n.End().Offset()
		}
		if n.Pos().Offset() < skipped {
			return
		}
		switch n := n.(type) {
		case *syntax.ParamExp:
			if a := r.argument(n); a != nil {
				r.expanded(a, n)
				used = append(used, a)
			}
		case *syntax.CallExpr: // $(double "$1")
			if f := r.functions[programOf(n)]; f != nil && !slices.ContainsFunc(n.Args, isAll) {
				r.enter(f, n.Args[1:], false)
			}
		}
	})
	return used
}

// missing is a message that names what is missing: "file", "file is missing", "FILE required".
var missing = lazyregexp.New(`^(?:missing |no )?([A-Za-z][\w-]*)` +
	`(?: (?:is |was )?(?:missing|required|needed|expected|not given))?$`)

// expanded reads the default, or the message for a missing value, of an expansion.
func (r *reader) expanded(a *Argument, p *syntax.ParamExp) {
	if a == nil || p.Exp == nil {
		return
	}
	if text, hasDefault := defaultOf(p); hasDefault {
		if text != "" && a.Default == nil {
			a.Default = &text
		}
		a.omitted = true
	} else if isRequired(p) {
		r.require(a, p, fails)
		text, ok := literal(p.Exp.Word)
		if m := missing.FindStringSubmatch(text); m != nil && a.message == "" {
			a.message = m[1]
		} else if ok && a.Text == "" {
			a.Text = text
		}
	}
}

// bind reads an assignment. certain means that each run of the script makes it.
func (r *reader) bind(s *syntax.Assign, certain bool) {
	if s.Index != nil {
		r.use(s.Index)
	}
	if s.Name == nil { // declare "$1"
		r.use(s.Value)
		return
	}
	if s.Naked {
		return
	}
	name, f := s.Name.Value, r.frame
	text, isLiteral := literal(s.Value)
	p := parameter(s.Value)
	switch {
	case s.Array != nil:
		r.bindPart(s, s.Array)
	case isLiteral && f.option != nil && s.Value != nil:
		f.literal = cmp.Or(f.literal, name)
	case isLiteral:
		if r.byVariable[name] == nil && !r.options && f == r.caller {
			r.initial[name] = text
		}
	case p == nil || p.Length || p.Slice != nil && !r.isWord(p.Param.Value):
		r.bindPart(s, s.Value)
	case p.Param.Value == "@" || p.Param.Value == "*":
		if a := r.all(name, s.Pos()); a != nil {
			r.bindTo(a, name, false)
		}
	default:
		switch a := r.argument(p); {
		case a == nil:
			r.use(s.Value)
		case a == f.operand && s.Append:
			r.all(name, s.Pos())
		case a == f.operand:
			r.store(name, s.Pos())
		default:
			r.bindTo(a, name, s.Append || isNext(s))
			r.expanded(a, p)
			a.certain = a.certain || certain && a.place > 0 && p.Exp == nil
		}
	}
}

// bindPart reads an assignment of a list, or of a text that contains an argument.
func (r *reader) bindPart(s *syntax.Assign, value syntax.Node) {
	f, name := r.frame, s.Name.Value
	if isAllIn(s) {
		r.allFrom(max(offset(parameter(s.Array.Elems[0].Value)), 1), name, s.Pos())
		return
	}
	used := r.use(value)
	switch {
	case f.operand != nil && slices.Contains(used, f.operand) && (s.Append || s.Array != nil):
		r.all(name, s.Pos())
	case s.Array != nil && f.words == nil && len(used) == 1 && used[0] == r.rest: // files=("${args[@]:1}")
		r.bindTo(r.rest, name, false)
	case f.option != nil && slices.Contains(used, f.option): // kv=${1#*=}; list+=("$kv")
		r.bindTo(f.option, name, s.Append || collects(s))
		only := s.Array != nil && len(s.Array.Elems) == 1 && r.argumentOf(s.Array.Elems[0].Value) == f.option
		f.option.Repeat = f.option.Repeat || s.Append && only
	}
}

// collects reports whether an assignment adds to the variable, with nothing but separators: x="$x $OPTARG".
func collects(s *syntax.Assign) bool {
	if s.Value == nil || !refersTo(s.Value, s.Name.Value) {
		return false
	}
	text, _ := textOf(s.Value.Parts, false, nothing)
	return strings.Trim(text, " ,;:|\n\t") == ""
}

// bindTo records a variable that has the value of an argument.
func (r *reader) bindTo(a *Argument, name string, appends bool) {
	if a.variable == "" && (a.place > 0 || r.frame.before == nil) {
		a.variable = name
	}
	if old := r.byVariable[name]; old != nil && r.frame.before != nil && r.frame.before[name] == nil {
		r.frame.before[name] = old
	}
	a.Repeat = a.Repeat || appends && a == r.frame.option && a.variable == name
	r.byVariable[name] = a
}

// store records that the branch for other words stores the word in a variable. The word becomes the next operand.
func (r *reader) store(name string, at syntax.Pos) {
	if r.byVariable[name] != nil {
		return
	}
	a := r.rest
	if a == nil {
		a = &Argument{Value: true, place: r.next(), Line: int(at.Line()), Kind: r.frame.operand.Kind}
		r.places[a.place] = a
	}
	r.bindTo(a, name, false)
	r.frame.stored = a
}

// next returns the place of the next operand that a loop stores.
func (r *reader) next() int { return max(len(r.places), r.caller.shifted) + 1 }

// holds reports whether a word contains an argument.
func (r *reader) holds(w *syntax.Word) bool {
	return expands(w, func(name string) bool {
		return position(name) > 0 || name == "@" || name == "*" || r.byVariable[name] != nil
	})
}

// argumentOf returns the argument that a word consists of, or nil.
func (r *reader) argumentOf(w *syntax.Word) *Argument {
	if p := parameter(w); p != nil && !p.Length && !isAll(w) {
		return r.argument(p)
	}
	return nil
}
