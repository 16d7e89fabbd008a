package shellscript

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mcp-bash/pkg/text/lazyregexp"
)

func (a *Argument) setKind(k Kind) {
	if a.Kind == Text {
		a.Kind = k
	}
}

// require records that the script fails without an argument. tested is the parameter that it tests, or nil if it counts
// the arguments. The branch of an option does not make that option required.
func (r *reader) require(a *Argument, tested *syntax.ParamExp, end outcome) {
	isVariable := tested != nil && number(tested.Param.Value) == 0
	guards := len(a.Options) > 0 || isVariable && !a.certain // ${ROOT:?}
	if a == r.frame.option || guards && r.hasText(a.variable, a.Line) {
		return
	}
	a.Required = true
	if end == probablyFails {
		a.doubt(DoubtRequired)
	}
}

// nounset matches set -u, set -o nounset, #!/bin/sh -eu, and their opposites.
var nounset = lazyregexp.New(`^(?:set|#!).*? ([-+])[a-zA-Z]*(?:u|o nounset)`)

func (r *reader) readNounset(line string) {
	if m := nounset.FindStringSubmatch(line); m != nil {
		r.nounset = m[1] == "-"
	}
}

// requireSet requires the operands that a command expands, because set -u ends the script without them.
func (r *reader) requireSet(n syntax.Node, certain bool) {
	if f := r.frame; !certain || !r.nounset || f.positional != nil || f.option != nil || f.operand != nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ProcSubst:
			return false
		case *syntax.CmdSubst:
			return len(n.Stmts) == 1 && commandName(n.Stmts[0].Cmd) != ""
		case *syntax.ParamExp: // ${1-} and ${1+x} need no value
			isPosition := n.Param != nil && number(n.Param.Value) > 0
			if isPosition && (n.Exp == nil || n.Exp.Op >= syntax.RemSmallSuffix) {
				if a := r.resolveExpansion(n); a != nil {
					r.require(a, n, fails)
				}
			}
			return false
		}
		return true
	})
}

func (a *Argument) doubt(kind DoubtKind) {
	if !slices.Contains(a.Doubts, kind) {
		a.Doubts = append(a.Doubts, kind)
	}
}

// resolve returns the argument whose value an expansion has at this point of the script, or nil. It records the result.
func (r *reader) resolve(p *syntax.ParamExp) *Argument {
	a := r.resolveExpansion(p)
	if a != nil {
		r.resolved[p] = append(r.resolved[p], a)
	}
	return a
}

func (r *reader) resolveExpansion(p *syntax.ParamExp) *Argument {
	if p == nil || p.Param == nil {
		return nil
	}
	name, at, n := p.Param.Value, p.Pos(), number(p.Param.Value)
	switch {
	case r.isCurrentWord(name):
		r.ofCurrentWord[p] = true
		cut := p.Exp != nil && (p.Exp.Op == syntax.RemSmallPrefix || p.Exp.Op == syntax.RemLargePrefix)
		if r.frame.option != nil && (r.frame.equalsForm || cut || p.Repl != nil || p.Slice != nil) { // ${1#*=}
			r.frame.readsJoined = true
			return r.frame.option
		}
		return r.frame.operand
	case n > 0:
		r.ofFrame[p] = r.frame.positional != nil
		return r.resolvePosition(n, at)
	case (name == "@" || name == "*") && !p.Length:
		return r.resolveRest(max(sliceStart(p), 1), "", at)
	case name == r.operandArray && p.Index != nil:
		return r.resolveElement(p)
	}
	return r.byVariable[name]
}

// isCurrentWord reports whether a parameter has the current word of a loop.
func (r *reader) isCurrentWord(name string) bool {
	word, n := r.frame.word, number(name)
	return word.variable != "" && name == word.variable || n > 0 && n+r.frame.shifted == word.position
}

// resolvePosition returns the argument that $1, $2 … has now, or nil if that is not an argument of the script.
func (r *reader) resolvePosition(position int, at syntax.Pos) *Argument {
	f := r.frame
	position += f.shifted
	switch {
	case f.operand != nil:
		return f.operand
	case f.positional != nil && position > len(f.positional):
		return nil
	case f.positional != nil:
		a := f.positional[position-1]
		f.readsNext = f.readsNext || a != nil && a == f.option
		return a
	case r.restOperand != nil && position >= r.restOperand.position:
		return r.restOperand
	case r.operandAt[position] == nil:
		r.operandAt[position] = &Argument{Value: true, position: position, Line: int(at.Line())}
	}
	return r.operandAt[position]
}

// resolveRest returns the argument for all positional parameters from $first on, as in "$@" or "${@:2}", or nil. name
// is the variable that gets them, or "". In a branch for operands, this variable is the array that collects them.
func (r *reader) resolveRest(first int, name string, at syntax.Pos) *Argument {
	f, position := r.frame, r.frame.shifted+first
	switch {
	case f.operand != nil && name != "":
		r.operandArray, position = name, r.nextPosition()
	case f.positional != nil:
		return nil
	}
	if r.restOperand == nil {
		r.restOperand = &Argument{Value: true, Repeat: true, position: position, Line: int(at.Line())}
	}
	if r.restOperand.variable == "" && name != "" {
		r.restOperand.variable = name
		r.byVariable[name] = r.restOperand
	}
	return r.restOperand
}

// resolveElement resolves ${files[0]} and ${files[@]:1} of the array in which a loop collected the operands.
func (r *reader) resolveElement(p *syntax.ParamExp) *Argument {
	w, _ := p.Index.(*syntax.Word)
	index, ok := literal(w)
	if n := number(index); ok && (n > 0 || index == "0") {
		r.dropOperandArray()
		return r.resolvePosition(n+1, p.Pos())
	}
	if n := sliceStart(p); n > 0 {
		r.dropOperandArray()
		return r.resolveRest(n+1, "", p.Pos())
	}
	return r.byVariable[p.Param.Value]
}

// dropOperandArray removes the argument for the collected operands, because the script uses them one by one.
func (r *reader) dropOperandArray() {
	if r.restOperand != nil && r.restOperand.variable == r.operandArray {
		if r.restOperand.Required {
			r.countRules = append(r.countRules, countRule{1, r.optionsRead, fails})
		}
		delete(r.byVariable, r.operandArray)
		r.restOperand = nil
	}
}

// resolveAll resolves all expansions below a node, and returns their arguments.
func (r *reader) resolveAll(n syntax.Node) (used []*Argument) {
	var skipped uint // the end of the words that only getopt uses
	inspect(n, func(n syntax.Node) {
		if commandName(n) == "getopt" {
			skipped = n.End().Offset()
		}
		if n.Pos().Offset() < skipped {
			return
		}
		switch n := n.(type) {
		case *syntax.ParamExp:
			if a := r.resolve(n); a != nil {
				r.readOperator(a, n)
				used = append(used, a)
			}
		case *syntax.CallExpr: // $(double "$1")
			if f := r.functions[commandName(n)]; f != nil && !slices.ContainsFunc(n.Args, isAllArguments) {
				r.callFunction(f, n.Args[1:], false)
			}
		}
	})
	return used
}

// missingMessage matches a message with the name of a missing argument: "file", "file is missing", "FILE required".
var missingMessage = lazyregexp.New(`^(?:missing |no )?([A-Za-z][\w-]*)` +
	`(?: (?:is |was )?(?:missing|required|needed|expected|not given))?$`)

// readOperator reads the default in ${x:-text}, or the message in ${x:?text}.
func (r *reader) readOperator(a *Argument, p *syntax.ParamExp) {
	if text, hasDefault := defaultOf(p); hasDefault {
		if text != "" && a.Default == nil {
			a.Default = &text
		}
		a.optional = true
	} else if isRequired(p) {
		r.require(a, p, fails)
		text, ok := literal(p.Exp.Word)
		if m := missingMessage.FindStringSubmatch(text); m != nil && a.message == "" {
			a.message = m[1]
		} else if ok && a.Text == "" {
			a.Text = text
		}
	}
}

// assignment reads an assignment. certain means that each run of the script makes it.
func (r *reader) assignment(s *syntax.Assign, certain bool) {
	if s.Index != nil {
		r.resolveAll(s.Index)
	}
	if s.Name == nil { // declare "$1"
		r.resolveAll(s.Value)
		return
	}
	if s.Naked {
		return
	}
	name, f := s.Name.Value, r.frame
	text, isLiteral := literal(s.Value)
	p := expansionIn(s.Value)
	switch {
	case s.Array != nil:
		r.assignPart(s, s.Array)
	case isLiteral && f.option != nil && s.Value != nil:
		f.flagVariable = cmp.Or(f.flagVariable, name)
	case isLiteral:
		if r.byVariable[name] == nil && !r.optionsRead && f == r.scriptFrame {
			r.initialValues[name] = text
		}
	case p == nil || p.Length || p.Slice != nil && !r.isCurrentWord(p.Param.Value):
		r.assignPart(s, s.Value)
	case p.Param.Value == "@" || p.Param.Value == "*":
		if a := r.resolveRest(1, name, s.Pos()); a != nil {
			r.bindVariable(a, name, false)
		}
	default:
		switch a := r.resolve(p); {
		case a == nil:
			r.resolveAll(s.Value)
		case a == f.operand && s.Append:
			r.resolveRest(1, name, s.Pos())
		case a == f.operand:
			r.storeOperand(name, s.Pos())
		default:
			r.bindVariable(a, name, s.Append || isAppendedElement(s))
			r.readOperator(a, p)
			a.certain = a.certain || certain && a.position > 0 && p.Exp == nil
		}
	}
}

// assignPart reads an assignment of an array, or of a text that contains an argument.
func (r *reader) assignPart(s *syntax.Assign, value syntax.Node) {
	f, name := r.frame, s.Name.Value
	if assignsAllArguments(s) {
		r.resolveRest(max(sliceStart(expansionIn(s.Array.Elems[0].Value)), 1), name, s.Pos())
		return
	}
	used := r.resolveAll(value)
	switch {
	case f.operand != nil && slices.Contains(used, f.operand) && (s.Append || s.Array != nil):
		r.resolveRest(1, name, s.Pos())
	case s.Array != nil && f.positional == nil && len(used) == 1 && used[0] == r.restOperand: // files=("${args[@]:1}")
		r.bindVariable(r.restOperand, name, false)
	case f.option != nil && slices.Contains(used, f.option): // kv=${1#*=}; list+=("$kv")
		r.bindVariable(f.option, name, s.Append || appendsToItself(s))
		only := s.Array != nil && len(s.Array.Elems) == 1 && r.resolveWord(s.Array.Elems[0].Value) == f.option
		f.option.Repeat = f.option.Repeat || s.Append && only
	}
}

// appendsToItself reports whether an assignment appends to the variable with only separators between: x="$x $OPTARG".
func appendsToItself(s *syntax.Assign) bool {
	if s.Value == nil || !refersTo(s.Value, s.Name.Value) {
		return false
	}
	text, _ := textOf(s.Value.Parts, false, noExpansion)
	return strings.Trim(text, " ,;:|\n\t") == ""
}

// bindVariable records a variable that has the value of an argument.
func (r *reader) bindVariable(a *Argument, name string, appends bool) {
	if a.variable == "" && (a.position > 0 || r.frame.shadowed == nil) {
		a.variable = name
	}
	if old := r.byVariable[name]; old != nil && r.frame.shadowed != nil && r.frame.shadowed[name] == nil {
		r.frame.shadowed[name] = old
	}
	a.Repeat = a.Repeat || appends && a == r.frame.option && a.variable == name
	r.byVariable[name] = a
}

// storeOperand records that a branch for operands stores the current word in a variable. It becomes the next operand.
func (r *reader) storeOperand(name string, at syntax.Pos) {
	if r.byVariable[name] != nil {
		return
	}
	a := r.restOperand
	if a == nil {
		a = &Argument{Value: true, position: r.nextPosition(), Line: int(at.Line()), Kind: r.frame.operand.Kind}
		r.operandAt[a.position] = a
	}
	r.bindVariable(a, name, false)
	r.frame.storedOperand = a
}

// nextPosition returns the position of the next operand that a loop stores.
func (r *reader) nextPosition() int { return max(len(r.operandAt), r.scriptFrame.shifted) + 1 }

// hasArgument reports whether a word contains an argument.
func (r *reader) hasArgument(w *syntax.Word) bool {
	return expandsAny(w, func(name string) bool {
		return number(name) > 0 || name == "@" || name == "*" || r.byVariable[name] != nil
	})
}

// resolveWord returns the argument if a word is only its expansion, as in "$1", or nil.
func (r *reader) resolveWord(w *syntax.Word) *Argument {
	if p := expansionIn(w); p != nil && !p.Length && !isAllArguments(w) {
		return r.resolve(p)
	}
	return nil
}
