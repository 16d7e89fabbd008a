package usage

import (
	"cmp"
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// Usage lines consist of options and operands. Optional ones are in brackets, alternatives are
// separated by bars, and dots follow what can be repeated.

// A node is a part of a usage line: a word, or a group in brackets.
type node struct {
	word     string
	parts    []*node
	either   bool // the parts exclude each other
	optional bool
	repeat   bool
}

const (
	maxTokens = 2000
	maxDepth  = 30
	maxUsages = 50
)

var tokenPattern = lazyregexp.New(`<[^<>]*>|[A-Za-z0-9_]+(?:\|[A-Za-z0-9_]+)+|\{[^{}|\s]+,[^{}|]+\}|\[=[^\[\]]*\]|` +
	`\.\.\.|[][(){}|]|[^][(){}|\s]+`)

// tokens splits a usage line into tokens. "--key=VALUE" is one token, and so is a word that a
// bracket follows directly: "--color[=WHEN]".
func tokens(text string) (out []string) {
	end := 0
	for _, m := range tokenPattern.FindAllStringIndex(text, maxTokens) {
		word, last := text[m[0]:m[1]], len(out)-1
		bare, dotted := strings.CutSuffix(word, "...")
		switch {
		case last >= 0 && m[0] == end && strings.HasPrefix(out[last], "-") &&
			(strings.HasPrefix(word, "[=") || strings.HasSuffix(out[last], "=") || strings.HasPrefix(word, "<")):
			out[last] += word
		case strings.HasSuffix(word, "...>"): // "<leaves...>"
			out = append(out, strings.TrimSuffix(word, "...>")+">", "...")
		case dotted && bare != "":
			out = append(out, bare, "...")
		default:
			out = append(out, word)
		}
		end = m[1]
	}
	return out
}

// parseGroup parses tokens up to a closing bracket, and returns the remaining ones.
func parseGroup(tokens []string, depth int) (*node, []string) {
	branches := []*node{{}}
	for len(tokens) > 0 {
		current := branches[len(branches)-1]
		t := tokens[0]
		tokens = tokens[1:]
		switch n := len(current.parts); {
		case t == "]" || t == ")" || t == "}":
			return joined(branches), tokens
		case t == "|":
			branches = append(branches, &node{})
		case t == "..." && n > 0:
			current.parts[n-1].repeat = true
		case t == "...", depth == maxDepth && len(t) == 1 && strings.Contains("[({", t):
		case len(t) == 1 && strings.Contains("[({", t):
			var inner *node
			inner, tokens = parseGroup(tokens, depth+1)
			inner.optional = t == "["
			current.parts = append(current.parts, inner)
		default:
			current.parts = append(current.parts, &node{word: t})
		}
	}
	return joined(branches), nil
}

func joined(branches []*node) *node {
	if len(branches) == 1 {
		return branches[0]
	}
	for i, b := range branches {
		if len(b.parts) == 1 {
			branches[i] = b.parts[0]
		}
	}
	return &node{parts: branches, either: true}
}

// text returns the words of a node.
func (n *node) text() string {
	words := []string{n.word}
	for _, part := range n.parts {
		words = append(words, part.text())
	}
	if n.either {
		return strings.Join(words[1:], "|")
	}
	return strings.TrimSpace(strings.Join(words, " "))
}

func (n *node) isOption() bool { return strings.HasPrefix(n.text(), "-") }

// synopsis parses usage lines (WRAP-24).
func (p *Program) synopsis(lines []string) {
	var usages, own [][]*node // own are those that name the command
	for _, text := range lines[:min(len(lines), maxUsages)] {
		text, _, _ = strings.Cut(text, " # ")
		list := tokens(strings.ReplaceAll(text, "(s)", "..."))
		var parts []*node
		for len(list) > 0 { // a closing bracket can lack its opening one
			var g *node
			if g, list = parseGroup(list, 0); g.either { // "x A | x B": one line for both
				p.Loose = true
				g = &node{parts: []*node{g.parts[0]}}
			}
			parts = append(parts, g.parts...)
		}
		parts, named := p.withoutName(parts)
		if usages = append(usages, parts); named {
			own = append(own, parts)
		}
	}
	if own != nil {
		usages = own
	}
	p.walkAll(usages)
}

// walkAll reads the lines of a synopsis. An option is required if every line requires it.
func (p *Program) walkAll(usages [][]*node) {
	var all [][]*Operand
	literal := p.Style != StyleArgparse && slices.ContainsFunc(usages, hasPlaceholder)
	unclear := p.Loose
	modes := len(usages) > 0
	needs := map[*Option]int{}
	unclear = unclear || p.Style == StyleCobra && p.Subcommands != nil && slices.ContainsFunc(usages, onlyOptions)
	for _, parts := range usages {
		w := &usageWalk{p: p, literal: literal, required: map[*Option]bool{}}
		w.sequence(parts, false, false)
		if w.help {
			continue
		}
		modes = modes && w.mode
		if unclear = unclear || w.unclear; w.unclear {
			continue
		}
		all = append(all, w.operands)
		for o, needed := range w.required {
			if needed {
				needs[o]++
			}
		}
	}
	for o, n := range needs {
		o.Required = o.Required || n == len(all)
	}
	if p.operandsOf(all); unclear || modes {
		p.Operands, p.Loose = nil, true
	}
}

// onlyOptions reports whether a usage line has nothing but a placeholder for all options. In cobra's help of a
// program with commands, such a line shows that it works without a command too, but not with which operands.
func onlyOptions(parts []*node) bool {
	return len(parts) == 1 && anyOptions.MatchString(parts[0].text())
}

// hasPlaceholder reports whether a usage line has operands in capitals or angle brackets. Words in
// lower case are then typed as they are.
func hasPlaceholder(parts []*node) bool {
	for i, n := range parts {
		if n.isOption() || i > 0 && strings.HasPrefix(parts[i-1].word, "-") {
			continue
		}
		if hasPlaceholder(n.parts) || !anyOptions.MatchString(n.word) &&
			(strings.HasPrefix(n.word, "<") || upperWord.MatchString(n.word)) {
			return true
		}
	}
	return false
}

// withoutName drops the words that the command line begins with. named reports whether these are
// all words of a command.
func (p *Program) withoutName(parts []*node) (rest []*node, named bool) {
	if len(parts) > 0 && (len(p.Words) == 1 || isName(parts[0].word, p.Words)) {
		parts = parts[1:]
	}
	named = len(p.Words) > 1
	for _, word := range p.Words[1:] {
		at := slices.IndexFunc(parts, func(n *node) bool { return !n.optional }) // options can precede a command
		if at >= 0 && (parts[at].word == word || slices.Contains(listed(parts[at].word), word)) {
			parts = slices.Delete(slices.Clone(parts), at, at+1)
		} else {
			named = false
		}
	}
	return parts, named
}

// A usageWalk collects the options and operands of one usage line.
type usageWalk struct {
	p        *Program
	literal  bool // words in lower case are typed as they are
	operands []*Operand
	required map[*Option]bool
	ended    bool // the rest belongs to another command
	unclear  bool // the line does not show the operands
	mode     bool // a switch is required: this is one mode of the program, and others can have other operands
	help     bool // the line is about an option for help
	either   bool // inside alternatives, where "-abc" can be one option or several
}

var (
	// anyOptions matches a placeholder for all options.
	anyOptions = lazyregexp.New(`(?i)^<?(?:\S*[-_])?(?:options?|opts?|flags?|switches)>?s?\.*$`)
	helpName   = lazyregexp.New(`^(?:-h|-\?|-V|--?help|--?version|--?usage)$`)
	anyCommand = lazyregexp.New(`(?i)^<?(?:sub-?)?(?:command|cmd)s?>?$`)
	cluster    = lazyregexp.New(`^-[A-Za-z0-9@%#]{2,}$`)
	// several matches names of operands that can be repeated.
	several = lazyregexp.New(`^<?(?i:files|paths|dirs|directories|args|arguments|packages|urls|hosts|pids|` +
		`(?:file)?names)>?$`)
	// operandName matches a name, with letters of any language.
	operandName = lazyregexp.New(`^\p{L}[\p{L}\p{M}0-9_./:=@+-]*$`)
)

func (w *usageWalk) sequence(parts []*node, optional, repeat bool) {
	for i := 0; i < len(parts) && !w.ended; i++ {
		switch n := parts[i]; {
		case n.word == "":
			w.group(n, optional || n.optional, repeat || n.repeat)
		case n.word == "--":
			w.p.Dashes = true
			if w.p.DashesAt < 0 {
				w.p.DashesAt = len(w.operands)
			}
		case strings.HasPrefix(n.word, "-") && len(n.word) > 1:
			if w.option(parts[i:], optional, repeat, optional && i == 0) {
				i++
			}
			o := w.p.Find(nameAt.FindString(n.word))
			for optional && parts[0] == n && o != nil && o.Value != nil && i+1 < len(parts) && !parts[i+1].isOption() &&
				!anyOptions.MatchString(parts[i+1].word) {
				i++ // the text after an option in the same bracket is a part of its value
			}
		case optional && strings.HasPrefix(parts[0].word, "-"): // a value of the option in the same bracket
		default:
			w.word(n, optional, repeat || n.repeat)
		}
	}
}

func (w *usageWalk) group(n *node, optional, repeat bool) {
	if n.either {
		w.alternatives(n, optional, repeat)
		return
	}
	prose := len(n.parts) > 1 && !slices.ContainsFunc(n.parts, func(part *node) bool {
		return !lowerWord.MatchString(part.word) || part.repeat
	})
	switch {
	case prose: // "[build flags]", "[entry points]"
		w.unclear = !anyOptions.MatchString(n.parts[len(n.parts)-1].word)
	default:
		w.sequence(n.parts, optional, repeat)
	}
}

// alternatives reads a group whose parts exclude each other.
func (w *usageWalk) alternatives(n *node, optional, repeat bool) {
	options := slices.ContainsFunc(n.parts, (*node).isOption)
	plain := !slices.ContainsFunc(n.parts, func(part *node) bool { return part.word == "" || part.repeat })
	switch {
	case !options && plain: // {a|b}: one operand
		var list []string
		for _, part := range n.parts {
			list = append(list, strings.Trim(part.word, "<>"))
		}
		name := strings.Join(list, "|")
		w.operand(&Operand{Name: name, Required: !optional, Repeat: repeat, Choices: listed(name)})
		return
	case !options:
		w.unclear = true
		return
	}
	for _, branch := range n.parts {
		parts := branch.parts
		if parts == nil || branch.either {
			parts = []*node{branch}
		}
		if !branch.isOption() && n.parts[0].isOption() && !strings.HasPrefix(branch.text(), "<") &&
			!upperWord.MatchString(branch.text()) {
			// "[-A|B|C]" and "[-o a|b]" have no operands. Others are not understood.
			w.unclear = w.unclear || branch.word == "" || strings.ContainsAny(branch.word, "/<")
			continue
		}
		w.either = true
		w.sequence(parts, true, repeat)
		w.either = false
	}
}

// option reads an option of a usage line, and reports whether the next part is its value. leads is
// true for an option that begins its bracket.
func (w *usageWalk) option(parts []*node, optional, repeat, leads bool) (took bool) {
	n, within := parts[0], len(parts)
	known := w.p.Find(strings.SplitN(n.word, "=", 2)[0])
	var next *node
	if within > 1 && isValue(parts[1], within, known != nil && known.Value != nil || leads) {
		next = parts[1]
	}
	if w.either && cluster.MatchString(n.word) && known == nil {
		return false
	}
	if cluster.MatchString(n.word) && known == nil && (next == nil || within != 2) && w.isCluster(n.word) {
		w.p.clusters = true
		for _, c := range n.word[1:] {
			w.p.add(&Option{Names: []string{"-" + string(c)}, Sure: Likely, fromUsage: true})
			w.p.show("-" + string(c))
		}
		return false
	}
	s, rest, ok := parseSpec(n.word, true)
	if !ok || rest != "" {
		return false
	}
	o := &Option{Names: s.names, Negations: s.negations, Value: s.value, Sure: Likely, Repeat: repeat || n.repeat,
		fromUsage: true}
	if next != nil && o.Value == nil && (known == nil || known.Value != nil || leads && within == 2) {
		took = true
		o.Value = (&Value{Name: next.text(), dots: next.repeat}).named()
		o.Value.Optional = next.optional && within == 2 && !next.either
	}
	help := ""
	if known != nil {
		help = known.Help
	} else if !w.p.trustsUsage() {
		o.Sure = Guessed
	}
	if o.Value != nil {
		o.Value.decide(help)
		o.Repeat = o.Repeat || o.Value.dots
	}
	w.p.add(o)
	w.p.show(o.Names[0])
	if there := w.p.Find(o.Names[0]); !optional && there != nil {
		w.required[there] = there.Value != nil
		w.mode = w.mode || there.Value == nil
		w.help = w.help || anyName(there.Names, helpName.MatchString)
	}
	return took
}

// trustsUsage reports whether options that appear only in usage lines are accepted. In other
// styles, the list of options would include them.
func (p *Program) trustsUsage() bool {
	return slices.Contains([]Style{StyleUsage, StyleArgparse}, p.Style) || len(p.Options) == 0
}

// isCluster reports whether "-abc" represents three options. It is one option if a letter repeats,
// or if single dashes begin long names.
func (w *usageWalk) isCluster(word string) bool {
	for i, c := range word[1:] {
		if strings.ContainsRune(word[1:1+i], c) {
			return false
		}
	}
	return w.p.Style != StyleGoFlag && !slices.ContainsFunc(w.p.Options, func(o *Option) bool {
		return len(o.Names[0]) > 2 && !strings.HasPrefix(o.Names[0], "--") && !o.fromUsage
	})
}

// isValue reports whether a part is the value of the option before it.
func isValue(next *node, within int, known bool) bool {
	text := next.text()
	if text == "" || strings.HasPrefix(text, "-") || anyOptions.MatchString(text) {
		return false
	}
	if next.word == "" {
		return (within == 2 || known) && !strings.Contains(text, " ")
	}
	return within <= 3 || known
}

// word reads an operand or a command.
func (w *usageWalk) word(n *node, optional, repeat bool) {
	name := n.word
	switch {
	case name == "-":
		w.p.DashInput = true
	case anyOptions.MatchString(name), name == ",", name == "or", name == "=", strings.HasPrefix(name, "["):
	case anyCommand.MatchString(name) && len(w.p.Subcommands) > 0:
		w.ended = true
	case !strings.HasPrefix(name, "<") && !strings.HasPrefix(name, "{") && !upperWord.MatchString(name) &&
		!strings.Contains(name, "|") && (w.literal && !optional && lowerWord.MatchString(name) ||
		strings.EqualFold(name, "expression") || !operandName.MatchString(name)):
		w.unclear = true // a word that is typed as it is, or one that is not understood
	default:
		w.operand(&Operand{Name: name, Required: !optional, Repeat: repeat || several.MatchString(name),
			Choices: listed(name)})
	}
}

func (w *usageWalk) operand(o *Operand) {
	o.Name, o.Sure = cut(strings.Trim(o.Name, "<>{}[]."), maxName), Likely
	if o.Name == "" || len(w.operands) == maxOperands {
		return
	}
	for _, there := range w.operands {
		if there.Name == o.Name {
			there.Repeat = true
			return
		}
	}
	w.operands = append(w.operands, o)
}

// operandsOf merges the operands of several usage lines. Lines may only differ in how many they
// have: otherwise it is not known which ones belong together. Operands that a line omits are
// optional.
func (p *Program) operandsOf(all [][]*Operand) {
	described := p.Operands
	p.Operands, p.Loose = nil, len(all) == 0
	if p.Loose {
		return
	}
	longest := slices.MaxFunc(all, func(a, b []*Operand) int { return cmp.Compare(len(a), len(b)) })
	for _, list := range all {
		for i, o := range list {
			if p.Loose = o.Name != longest[i].Name; p.Loose {
				return
			}
			longest[i].Repeat = longest[i].Repeat || o.Repeat
		}
		for i, o := range longest {
			o.Required = o.Required && i < len(list) && list[i].Required
		}
	}
	for _, o := range longest {
		for _, d := range described {
			if strings.EqualFold(d.Name, o.Name) {
				o.Help = d.Help
			}
		}
	}
	p.Operands = longest
}

var readsInput = lazyregexp.New(`(?i)\b(?:standard input|stdin)\b`)

// finish draws conclusions from the whole text.
func (p *Program) finish() {
	p.Operands = slices.DeleteFunc(p.Operands, p.isCommands)
	for _, o := range p.Operands {
		v := &Value{Name: o.Name, Choices: o.Choices}
		v.decide(o.Help)
		o.Kind, o.Sure, o.Choices = v.Kind, min(v.Sure, Likely), v.Choices
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
