package usage

import (
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// A token is a word of a usage line, with what its brackets show. Optional words are in square brackets,
// bars separate alternatives, and dots follow what can be repeated.
type token struct {
	word     string
	depth    int  // the number of brackets around it
	leads    bool // it is the first one in its brackets, or after a bar
	optional bool
	repeat   bool
	either   bool // it is one of several alternatives, of which one is an option
	value    bool // it follows an option in the same brackets
}

func (t token) isOption() bool { return strings.HasPrefix(t.word, "-") && len(t.word) > 1 }

// isMarked reports whether a word is written like a placeholder: <POT> or POT.
func (t token) isMarked() bool {
	return strings.HasPrefix(t.word, "<") || upperWord.MatchString(t.word)
}

// An open is an open bracket.
type open struct {
	depth         int
	optional      bool
	start, branch int // the numbers of the tokens before it, and before its last bar
	bars          int
}

const (
	maxTokens = 2000
	maxDepth  = 30
	maxUsages = 50
)

var tokenPattern = lazyregexp.New(`-\w{1,2}\|--[a-z][\w-]*|<[^<>]*>|[A-Za-z0-9_]+(?:\|[A-Za-z0-9_]+)+|` +
	`\{[^{}|\s]+,[^{}|]+\}|` +
	`\.\.\.|[][(){}|]|[^][(){}|\s]+`)

// plainUsage rewrites "<leaves...>", "--[no-]color", "-[abc]" and "FILE(s)".
var plainUsage = strings.NewReplacer("...>", ">...", "...", "...", "..]", "...]", "-[no-]", "-", "-[", "[-",
	"(s)", "...", "(+|-)", "+")

// split splits a usage line. "--key=VALUE" is one word.
func split(text string) (out []string) {
	for _, m := range tokenPattern.FindAllStringSubmatch(text, maxTokens) {
		if bare, dotted := strings.CutSuffix(m[0], "..."); dotted && bare != "" {
			out = append(out, bare, "...")
		} else {
			out = append(out, m[0])
		}
	}
	return out
}

// tokens parses a usage line. unclear reports that it does not show the operands.
func tokens(text string) (list []token, unclear bool) {
	stack := []open{{}}
	last := 0 // the first token of what dots repeat
	for _, word := range split(text) {
		depth := len(stack) - 1
		top := &stack[depth]
		switch {
		case word == "|" && depth == 0: // "x A | x B": one line for both
			return list, true
		case word == "|":
			top.bars, top.branch = top.bars+1, len(list)
		case strings.Contains("[({", word) && depth < maxDepth:
			stack = append(stack, open{depth + 1, top.optional || word == "[", len(list), len(list), 0})
		case strings.Contains("])}", word) && depth > 0:
			var bad bool
			last = top.start
			list, bad = top.close(list)
			stack, unclear = stack[:depth], unclear || bad
		case word == "...":
			for i := last; i < len(list); i++ {
				list[i].repeat = true
			}
		case len(word) > 1 || !strings.Contains("[({])}", word):
			last = len(list)
			list = append(list, token{word: word, depth: depth, leads: top.branch == last, optional: top.optional,
				value: slices.ContainsFunc(stack[1:], func(o open) bool {
					return o.branch < len(list) && list[o.branch].isOption() && list[o.branch].depth == o.depth
				})})
		}
	}
	return list, unclear || len(stack) > 1 // a bracket is not closed
}

// close changes the tokens in a pair of brackets if they are alternatives or prose.
func (o open) close(list []token) (out []token, unclear bool) {
	group := list[o.start:]
	plain := !slices.ContainsFunc(group, func(t token) bool { return t.repeat || !t.leads })
	switch {
	case len(group) == 0:
	case o.bars > 0 && slices.ContainsFunc(group, func(t token) bool { return strings.HasPrefix(t.word, "-") }):
		out = list[:o.start]
		for _, t := range group {
			if !t.isOption() && !t.value && group[0].isOption() && !(t.leads && t.isMarked()) {
				// "[-A|B|C]" and "[-o a|b]" have no operands. Others are not understood.
				unclear = unclear || strings.ContainsAny(t.word, "/<") || !t.leads
				continue
			}
			t.optional, t.either = true, true
			out = append(out, t)
		}
		return out, unclear
	case o.bars > 0 && plain && len(group) == o.bars+1: // {a|b}: one operand
		for _, t := range group[1:] {
			group[0].word += "|" + strings.Trim(t.word, "<>")
		}
		group[0].word = strings.TrimPrefix(strings.Replace(group[0].word, ">|", "|", 1), "<")
		return list[:o.start+1], false
	case o.bars > 0:
		return list[:o.start], true
	case len(group) > 1 && !slices.ContainsFunc(group, func(t token) bool {
		return !proseWord.MatchString(t.word) || t.repeat || t.depth > group[0].depth
	}): // "[build flags]", "[entry points]"
		return list[:o.start], !anyOptions.MatchString(group[len(group)-1].word)
	}
	return list, false
}

// synopsis parses usage lines (WRAP-24).
func (p *Program) synopsis(lines []string) {
	lines = lines[:min(len(lines), maxUsages)]
	p.Shown += strings.Join(lines, " ")
	var usages []*usageWalk
	literal := false // a line has operands in capitals or angle brackets
	for _, text := range lines {
		if text, _, _ = strings.Cut(text, " # "); helpLine.MatchString(text) {
			continue
		}
		w := &usageWalk{p: p, required: map[*Option]bool{}}
		w.list, w.unclear = tokens(plainUsage.Replace(text))
		w.dropName()
		usages = append(usages, w)
		literal = literal || p.Style != StyleArgparse && slices.ContainsFunc(w.list, func(t token) bool {
			return t.isMarked() && !anyOptions.MatchString(t.word)
		})
	}
	var all [][]*Operand
	// A line that has nothing but a placeholder for all options can leave the operands out.
	loose := !slices.Contains(complete, p.Style) && slices.ContainsFunc(usages, func(w *usageWalk) bool {
		return len(w.list) == 1 && anyOptions.MatchString(w.list[0].word)
	})
	modes := len(usages) > 0
	needs := map[*Option]int{}
	for _, w := range usages {
		w.literal = literal
		w.walk()
		modes = modes && w.mode
		if loose = loose || w.unclear; w.unclear {
			continue
		}
		all = append(all, w.operands)
		for o := range w.required {
			needs[o]++
		}
	}
	for o, n := range needs { // an option is required if every line requires it
		o.Required = o.Required || o.Value != nil && n == len(all)
	}
	operands, ok := p.common(all)
	if p.Loose = loose || modes || !ok; p.Loose {
		operands = nil
	}
	p.Operands = operands
	p.finish()
}

// A usageWalk collects the options and operands of one usage line.
type usageWalk struct {
	p        *Program
	list     []token
	literal  bool // words in lower case are typed as they are
	operands []*Operand
	required map[*Option]bool
	unclear  bool // the line does not show the operands
	mode     bool // a switch is required: this is one mode of the program, and others can have other operands
}

// dropName drops the words that the command line begins with.
func (w *usageWalk) dropName() {
	words := w.p.Words
	if len(w.list) > 0 && (len(words) == 1 || isName(w.list[0].word, words)) {
		w.list = w.list[1:]
	}
	for _, word := range words[1:] {
		at := slices.IndexFunc(w.list, func(t token) bool { return !t.optional }) // options can precede a command
		if at >= 0 && (w.list[at].word == word || slices.Contains(listed(w.list[at].word), word)) {
			w.list = slices.Delete(w.list, at, at+1)
		}
	}
}

// complete are the styles of libraries that print all operands in the usage line. A person writes the line of others.
var complete = []Style{StyleArgparse, StyleClick, StyleClap, StyleNode, StyleGNU, StyleGit}

var (
	// anyOptions matches a placeholder for all options.
	anyOptions = lazyregexp.New(`(?i)^<?(?:\S*[-_])?(?:options?|opts?|flags?|switches)>?s?\.*$`)
	helpLine   = lazyregexp.New(` (?:-h|-\?|-V|--?help|--?version|--?usage)$`)
	anyCommand = lazyregexp.New(`(?i)^<?(?:sub-?)?(?:command|cmd)s?>?$`)
	cluster    = lazyregexp.New(`^-[A-Za-z0-9@%#]{2,}$`)
	proseWord  = lazyregexp.New(`^[a-z][A-Za-z0-9_./:+=-]*$`)
	// several matches names of operands that can be repeated.
	several = lazyregexp.New(`^<?(?i:files|paths|dirs|directories|args|arguments|packages|urls|hosts|pids|` +
		`(?:file)?names)>?$`)
	// operandName matches a name, with letters of any language.
	operandName = lazyregexp.New(`^\p{L}[\p{L}\p{M}0-9_./:=@+-]*$`)
)

// walk reads the options and operands.
func (w *usageWalk) walk() {
	for i := 0; i < len(w.list); i++ {
		switch t := w.list[i]; {
		case t.word == "--":
			w.p.Dashes, w.p.DashesAt = true, len(w.operands)
		case t.isOption():
			if w.option(w.list[i:]) {
				i++
			}
		case t.value: // the text after an option in the same brackets is a part of its value
		case anyCommand.MatchString(t.word) && len(w.p.Subcommands) > 0:
			return // the rest belongs to another command
		default:
			w.word(t)
		}
	}
}

// option reads an option, and reports whether the next token is its value.
func (w *usageWalk) option(list []token) (took bool) {
	t, p := list[0], w.p
	known := p.Find(strings.SplitN(t.word, "=", 2)[0])
	var next token
	if len(list) > 1 && (t.depth == 0 || list[1].value) && !list[1].isOption() && !anyOptions.MatchString(list[1].word) {
		next = list[1]
	}
	switch {
	case !cluster.MatchString(t.word) || known != nil || next.value:
	case t.either: // it can be one option or several
		return false
	case !slices.ContainsFunc(p.Options, func(o *Option) bool { // a single dash begins a long name
		return len(o.Names[0]) > 2 && !strings.HasPrefix(o.Names[0], "--")
	}):
		p.clusters = true
		for _, c := range t.word[1:] {
			p.add(&Option{Names: []string{"-" + string(c)}, Sure: Likely, fromUsage: true})
		}
		return false
	}
	s, rest, ok := parseSpec(t.word, true)
	if !ok || rest != "" {
		return false
	}
	o := &Option{Names: s.names, Negations: s.negations, Value: s.value, Sure: Likely, Repeat: t.repeat, fromUsage: true}
	if next.word != "" && o.Value == nil && (next.value || known == nil && next.isMarked() ||
		known != nil && known.Value != nil) {
		took = true
		o.Value = (&Value{Name: next.word, dots: next.repeat && !t.repeat}).named()
		o.Value.Optional = next.depth > t.depth && next.optional && (len(list) == 2 || !list[2].value)
	}
	help := ""
	if known != nil {
		help = known.Help
	} else if o.Value == nil && len(p.Options) > 0 && p.Style != StyleUsage && p.Style != StyleArgparse {
		// In other styles, the list of options would include a switch.
		w.mode = w.mode || !t.optional
		return false
	}
	if o.Value != nil {
		o.Value.decide(help)
		o.Repeat = o.Repeat || o.Value.dots
	}
	p.add(o)
	if there := p.Find(o.Names[0]); !t.optional && there != nil {
		w.required[there] = true
		w.mode = w.mode || there.Value == nil
	}
	return took
}

// word reads an operand.
func (w *usageWalk) word(t token) {
	name := t.word
	switch {
	case name == "-":
		w.p.DashInput = true
	case anyOptions.MatchString(name):
	case !t.isMarked() && !strings.HasPrefix(name, "{") && !strings.Contains(name, "|") &&
		(w.literal && !t.optional && proseWord.MatchString(name) || strings.EqualFold(name, "expression") ||
			!operandName.MatchString(name)):
		w.unclear = true // a word that is typed as it is, or one that is not understood
	default:
		name = cut(strings.Trim(name, "<>{}[]."), maxName)
		if at := slices.IndexFunc(w.operands, func(o *Operand) bool { return o.Name == name }); at >= 0 {
			w.operands[at].Repeat = true
		} else if name != "" && len(w.operands) < maxOperands {
			w.operands = append(w.operands, &Operand{Value: Value{Name: name, Choices: listed(t.word)}, Required: !t.optional,
				Repeat: t.repeat || several.MatchString(t.word)})
		}
	}
}

// common merges the operands of several usage lines. Lines may only differ in how many they
// have: otherwise it is not known which ones belong together. Operands that a line omits are
// optional.
func (p *Program) common(all [][]*Operand) (longest []*Operand, ok bool) {
	for _, list := range all {
		if len(list) > len(longest) {
			longest = list
		}
	}
	for _, list := range all {
		for i, o := range list {
			if o.Name != longest[i].Name {
				return nil, false
			}
			longest[i].Repeat = longest[i].Repeat || o.Repeat
		}
		for i, o := range longest {
			o.Required = o.Required && i < len(list) && list[i].Required
		}
	}
	for _, o := range longest {
		for _, described := range p.Operands {
			if strings.EqualFold(described.Name, o.Name) {
				o.Help = described.Help
			}
		}
	}
	return longest, len(all) > 0
}

var readsInput = lazyregexp.New(`(?i)\b(?:standard input|stdin)\b`)

// finish draws conclusions from the whole text.
func (p *Program) finish() {
	p.Operands = slices.DeleteFunc(p.Operands, p.isCommands)
	for _, o := range p.Operands {
		o.decide(o.Help)
		o.Sure = min(o.Sure, Likely)
		p.Stdin = p.Stdin || readsInput.MatchString(o.Help)
	}
	switch p.Style {
	case StyleArgparse, StyleClick, StyleCobra, StyleClap, StyleGoFlag, StyleBusybox, StyleNode:
		p.Dashes = true
	case StyleUsage:
		p.Dashes = p.Dashes || p.clusters // as programs with getopt print it
	}
}

// isCommands reports whether an operand chooses a command.
func (p *Program) isCommands(o *Operand) bool {
	return len(p.Subcommands) > 0 && len(o.Choices) > 0 && !slices.ContainsFunc(o.Choices, func(choice string) bool {
		return !slices.ContainsFunc(p.Subcommands, func(s Subcommand) bool { return s.Name == choice })
	})
}
