package usage

import (
	"cmp"
	"slices"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// Usage lines consist of options and operands. Optional ones are in brackets, alternatives
// are separated by bars, and dots follow what can be repeated.

// A node is a part of a usage line.
type node struct {
	word     string  // a leaf
	parts    []*node // a group: a sequence
	either   bool    // the parts exclude each other
	optional bool
	repeat   bool
	brace    bool // a group in braces
}

const (
	maxTokens = 2000
	maxDepth  = 30
	maxUsages = 50
)

var tokenPattern = lazyregexp.New(`<[^<>]*>|[A-Za-z0-9_]+(?:\|[A-Za-z0-9_]+)+|\[=[^\[\]]*\]|\.\.\.|[][(){}|` +
	`]|[^][(){}|\s]+`)

// tokens splits a usage line into tokens. "--key=VALUE" is one token, and so is a word that
// a bracket follows directly: "--color[=WHEN]".
func tokens(text string) []string {
	var out []string
	end := 0
	for _, m := range tokenPattern.FindAllStringIndex(text, maxTokens) {
		word := text[m[0]:m[1]]
		last := len(out) - 1
		joins := last >= 0 && m[0] == end && strings.HasPrefix(out[last], "-") &&
			(strings.HasPrefix(word, "[=") || strings.HasSuffix(out[last], "=") || strings.HasPrefix(word, "<"))
		switch {
		case joins:
			out[last] += word
		case strings.HasSuffix(word, "...") && word != "...":
			out = append(out, strings.TrimSuffix(word, "..."), "...")
		default:
			out = append(out, word)
		}
		end = m[1]
	}
	return out
}

type usageParser struct {
	tokens []string
	at     int
}

// group parses up to a closing bracket or the end.
func (u *usageParser) group(depth int) *node {
	g := &node{}
	current := &node{}
	var branches []*node
	for u.at < len(u.tokens) {
		t := u.tokens[u.at]
		u.at++
		switch t {
		case "]", ")", "}":
			u.at--
			goto done
		case "|":
			branches = append(branches, current)
			current = &node{}
			continue
		case "...":
			if n := len(current.parts); n > 0 {
				current.parts[n-1].repeat = true
			}
			continue
		case "[", "(", "{":
			if depth == maxDepth {
				continue
			}
			inner := u.group(depth + 1)
			u.at++ // the closing bracket
			inner.optional, inner.brace = t == "[", t == "{"
			if t == "{" && len(inner.parts) == 1 && strings.Contains(inner.parts[0].word, ",") {
				inner = &node{word: "{" + inner.parts[0].word + "}"}
			}
			current.parts = append(current.parts, inner)
			continue
		}
		current.parts = append(current.parts, &node{word: t})
	}
done:
	if branches == nil {
		g.parts = current.parts
		return g
	}
	g.either = true
	for _, b := range append(branches, current) {
		if len(b.parts) == 1 {
			b = b.parts[0]
		}
		g.parts = append(g.parts, b)
	}
	return g
}

// synopsis parses usage lines.
func (p *Program) synopsis(lines []string, from Source) {
	var all [][]*Operand
	loose := false
	needs := map[*Option]int{} // the number of lines in which an option is required
	var usages [][]*node
	var own [][]*node // the usage lines that name the command, if other lines do not
	for i, text := range lines {
		if i == maxUsages {
			break
		}
		text, _, _ = strings.Cut(text, " # ")
		text = strings.ReplaceAll(text, "(s)", "...")
		u := &usageParser{tokens: tokens(text)}
		var parts []*node
		for u.at < len(u.tokens) { // a closing bracket without an opening one
			g := u.group(0)
			if g.either { // "x A | x B": one line for both
				g = g.parts[0]
			}
			if g.word != "" {
				g = &node{parts: []*node{g}}
			}
			parts = append(parts, g.parts...)
			u.at++
		}
		parts, named := p.withoutName(parts)
		if usages = append(usages, parts); named {
			own = append(own, parts)
		}
	}
	if len(own) > 0 {
		usages = own
	}
	literal := p.Style == StyleDocopt || p.Style != StyleArgparse && slices.ContainsFunc(usages, hasPlaceholder)
	for _, parts := range usages {
		w := &usageWalk{p: p, from: from, literal: literal, at: -1}
		w.sequence(parts, false, false)
		if w.unusable {
			loose = true
			continue
		}
		all = append(all, w.operands)
		for o := range w.required {
			needs[o]++
		}
		if w.dashes {
			p.Dashes = true
			if p.DashesAt < 0 {
				p.DashesAt = w.at
			}
		}
	}
	for o, n := range needs {
		o.Required = o.Required || n == len(all)
	}
	p.operandsOf(all)
	if loose {
		p.Operands, p.Loose = nil, true
	}
}

// hasPlaceholder reports whether a usage line has operands in capitals or angle brackets. Words in
// lower case are then typed as they are.
func hasPlaceholder(parts []*node) bool {
	for i, n := range parts {
		switch {
		case strings.HasPrefix(textOf(n), "-") || i > 0 && strings.HasPrefix(parts[i-1].word, "-"):
		case n.parts != nil && hasPlaceholder(n.parts), !anyOptions.MatchString(n.word) &&
			(strings.HasPrefix(n.word, "<") || upperWord.MatchString(n.word)):
			return true
		}
	}
	return false
}

// withoutName drops the words that the command line begins with. named reports whether these
// are all words of a command.
func (p *Program) withoutName(parts []*node) (rest []*node, named bool) {
	if len(parts) > 0 && parts[0].word != "" && isName(parts[0].word, p.Words) || len(parts) > 0 && len(p.Words) == 1 {
		parts = parts[min(1, len(parts)):]
	}
	named = len(p.Words) > 1
	for _, word := range p.Words[1:] {
		at := 0
		for at < len(parts) && parts[at].optional { // options can precede a command
			at++
		}
		if at < len(parts) && (parts[at].word == word || slices.Contains(listed(parts[at].word), word)) {
			parts = slices.Delete(slices.Clone(parts), at, at+1)
		} else {
			named = false
		}
	}
	return parts, named
}

// A usageWalk collects the options and operands of one usage line.
type usageWalk struct {
	p         *Program
	from      Source
	literal   bool // words in lower case are typed as they are
	operands  []*Operand
	dashes    bool
	at        int
	required  map[*Option]bool
	commanded bool // COMMAND was read
	unusable  bool // the line describes another command of the program
}

var (
	// anyOptions matches a placeholder for all options.
	anyOptions = lazyregexp.New(`(?i)^<?(?:\S*[-_])?(?:options?|opts?|flags?|switches|optione?n|opciones|opción|` +
		`opzioni|opções|opcje|volby|ключи?|параметры?|опции|オプション|选项|選項|옵션)>?s?\.*$`)
	anyCommand = lazyregexp.New(`(?i)^<?(?:sub-?)?(?:command|cmd)s?>?$`)
	cluster    = lazyregexp.New(`^-[A-Za-z0-9@%#]{2,}$`)
)

func (w *usageWalk) sequence(parts []*node, optional, repeat bool) {
	for i := 0; i < len(parts); i++ {
		n := parts[i]
		switch {
		case n.parts != nil || n.word == "":
			w.group(n, optional || n.optional, repeat || n.repeat)
		case n.word == "--":
			w.dashes = true
			w.at = len(w.operands)
		case strings.HasPrefix(n.word, "-") && len(n.word) > 1:
			var next *node
			if i+1 < len(parts) {
				next = parts[i+1]
			}
			if w.option(n, next, optional, len(parts), repeat, optional && i == 0) {
				i++
			}
			for w.takesValue(n.word) && parts[0] == n && optional && i+1 < len(parts) && isPartOfValue(parts[i+1]) {
				i++ // the text after an option in the same bracket
			}
		case optional && strings.HasPrefix(parts[0].word, "-"): // a value of the option in the same bracket
		default:
			w.word(n, optional, repeat || n.repeat)
		}
	}
}

// takesValue reports whether an option that was read takes a value.
func (w *usageWalk) takesValue(word string) bool {
	o := w.p.Find(nameAt.FindString(word))
	return o != nil && o.Value != nil
}

// isPartOfValue reports whether a part of a bracket that begins with an option belongs to
// its value, as in "[address:]port".
func isPartOfValue(n *node) bool {
	return !strings.HasPrefix(textOf(n), "-") && !anyOptions.MatchString(n.word)
}

func (w *usageWalk) group(n *node, optional, repeat bool) {
	if !n.either && len(n.parts) > 1 && (n.brace || !slices.ContainsFunc(n.parts, func(part *node) bool {
		return !lowerWord.MatchString(part.word) || part.repeat
	})) {
		w.unusable = !anyOptions.MatchString(n.parts[len(n.parts)-1].word) // prose: "[entry points]"
		return
	}
	if !n.either {
		if last := len(n.parts) - 1; optional && last > 0 && anyOptions.MatchString(n.parts[last].word) &&
			!strings.HasPrefix(n.parts[0].word, "-") {
			return // "[build flags]"
		}
		w.sequence(n.parts, optional, repeat)
		return
	}
	if list := alternatives(n); list != nil { // {a|b}: one operand
		o := &Operand{Name: strings.Join(list, "|"), Required: !optional, Repeat: repeat}
		o.Choices = listed(o.Name)
		w.operand(o)
		return
	}
	var names []string
	led := strings.HasPrefix(textOf(n), "-")
	for _, branch := range n.parts {
		parts := branch.parts
		if parts == nil {
			parts = []*node{branch}
		}
		if led && branch.word != "" && !strings.HasPrefix(branch.word, "-") && !strings.HasPrefix(branch.word, "<") &&
			(len(branch.word) == 1 || !upperWord.MatchString(branch.word)) {
			continue // "[-A|B|C]" and "[-o a|b]" have no operands
		}
		w.sequence(parts, true, repeat)
		if first := parts[0]; first != nil && strings.HasPrefix(first.word, "-") {
			if m := nameAt.FindString(first.word); m != "" {
				names = append(names, m)
			}
		}
	}
	if len(names) == len(n.parts) && !w.aliases(names) {
		w.p.Exclusive = append(w.p.Exclusive, names)
	}
}

// aliases reports whether all names belong to one option: "-q | --quiet".
func (w *usageWalk) aliases(names []string) bool {
	first := w.p.Find(names[0])
	for _, name := range names[1:] {
		if first == nil || !first.Has(name) {
			return false
		}
	}
	return true
}

// alternatives returns the words of a group if all its parts are words that exclude each
// other. It returns nil if one is an option.
func alternatives(n *node) (list []string) {
	for _, part := range n.parts {
		if part.word == "" || strings.HasPrefix(part.word, "-") && part.word != "-" || part.repeat {
			return nil
		}
		if part.word != "-" {
			list = append(list, strings.Trim(part.word, "<>"))
		}
	}
	return list
}

// option reads an option of a usage line, and reports whether the next part is its value.
// leads is true for an option that begins its bracket.
func (w *usageWalk) option(n, next *node, optional bool, within int, repeat, leads bool) (took bool) {
	known := w.p.Find(strings.SplitN(n.word, "=", 2)[0])
	alone := next == nil || within != 2 || !isValueOf(next, within, false) // "[-name VALUE]" is one option
	if cluster.MatchString(n.word) && known == nil && alone && w.isCluster(n.word) {
		w.p.clusters = true
		for _, c := range n.word[1:] {
			w.p.add(&Option{Names: []string{"-" + string(c)}, Source: w.from, Sure: Likely})
			w.p.example("-"+string(c), 1)
		}
		return false
	}
	s, rest, ok := parseSpec(n.word, true)
	if !ok || rest != "" {
		return false
	}
	o := &Option{Names: s.names, Negations: s.negations, Value: s.value, Source: w.from, Sure: Likely,
		Repeat: repeat || n.repeat}
	takes := known == nil || known.Value != nil || leads && within == 2
	if next != nil && o.Value == nil && takes && isValueOf(next, within, known != nil || leads) {
		took = true
		o.Value = &Value{Name: next.word}
		if next.parts != nil {
			o.Value.Name = textOf(next)
			o.Value.Optional = next.optional && within == 2 && !strings.Contains(o.Value.Name, "|")
		}
		if next.repeat {
			o.Value.Several, o.Repeat = true, true
		}
		o.Value.named()
	}
	if o.Value != nil {
		if known != nil {
			o.Value.decide(known.Help)
		} else {
			o.Value.decide("")
		}
	}
	if known == nil && !w.p.trustsUsage() {
		o.Sure = Guessed
	}
	w.p.add(o)
	w.p.example(o.Names[0], 1)
	if there := w.p.Find(o.Names[0]); there != nil && !optional {
		if w.required == nil {
			w.required = map[*Option]bool{}
		}
		w.required[there] = true
	}
	return took
}

// trustsUsage reports whether options that appear only in usage lines are accepted. In other
// styles, the list of options would include them.
func (p *Program) trustsUsage() bool {
	return p.Style == StyleUsage || p.Style == StyleDocopt || p.Style == StyleArgparse || len(p.Options) == 0
}

// isCluster reports whether "-abc" represents three options.
func (w *usageWalk) isCluster(word string) bool {
	seen := map[rune]bool{}
	for _, c := range word[1:] {
		if seen[c] {
			return false
		}
		seen[c] = true
	}
	if w.p.Style == StyleGoFlag {
		return false
	}
	for _, o := range w.p.Options { // single dashes begin long names, so this is one option
		if name := o.Names[0]; len(name) > 2 && !strings.HasPrefix(name, "--") && o.Source != w.from {
			return false
		}
	}
	return true
}

// isValueOf reports whether next is the value of the option before it. It is if both are
// alone in a bracket, or if it is a placeholder after an option that takes a value.
func isValueOf(next *node, within int, known bool) bool {
	switch {
	case next.word == "" && len(next.parts) > 0:
		text := textOf(next)
		return (within == 2 || known) && !strings.HasPrefix(text, "-") && !strings.Contains(text, " ")
	case next.word == "" || strings.HasPrefix(next.word, "-"):
		return false
	}
	return within <= 3 || known
}

// textOf returns approximately the text of a group.
func textOf(n *node) string {
	if n.word != "" {
		return n.word
	}
	var words []string
	for _, part := range n.parts {
		words = append(words, textOf(part))
	}
	if n.either {
		return strings.Join(words, "|")
	}
	return strings.Join(words, " ")
}

// word reads an operand or a command.
func (w *usageWalk) word(n *node, optional, repeat bool) {
	name := n.word
	switch {
	case name == "-":
		w.p.DashInput = true
		return
	case anyOptions.MatchString(name), name == ",", name == "or", name == "=":
		return
	case w.commanded, anyCommand.MatchString(name) && len(w.p.Subcommands) > 0:
		w.commanded = true // the words after it belong to the command
		return
	case strings.HasPrefix(name, "<") || strings.HasPrefix(name, "{") || upperWord.MatchString(name):
	case strings.HasPrefix(name, "["):
		return
	case strings.Contains(name, "|"): // c|x|t, FILE|URL
	case w.literal && !optional && lowerWord.MatchString(name), strings.EqualFold(name, "expression"):
		w.unusable = true // a word that is typed as it is: one form of several
		return
	case !operandName.MatchString(name):
		return
	}
	w.operand(&Operand{Name: name, Required: !optional, Repeat: repeat || several.MatchString(name),
		Choices: listed(name)})
}

// several matches names of operands that can be repeated.
var several = lazyregexp.New(`^<?(?i:files|paths|dirs|directories|args|arguments|packages|urls|hosts|pids|` +
	`(?:file)?names)>?$`)

var operandName = lazyregexp.New(`^\p{L}[\p{L}\p{M}0-9_./:=@+-]*$`)

func (w *usageWalk) operand(o *Operand) {
	o.Name = cut(strings.Trim(o.Name, "<>{}[]."), maxName)
	o.Source, o.Sure = w.from, Likely
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
			if o.Name != longest[i].Name {
				p.Loose = true
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

var (
	readsInput = lazyregexp.New(`(?i)\b(?:standard input|stdin)\b`)
	firstLine  = lazyregexp.New(`^[A-Z][^\n]{5,}`)
	notSummary = lazyregexp.New(`(?i):$|\bcopyright\b|^(?:for more|this is not|by default|if |see |report |e\.g|note)|` +
		`^\S+ (?:version )?v?[0-9]+\.[0-9]`)
)

// finish draws conclusions from the whole text. prose is the text outside usage lines and
// entries.
func (p *Program) finish(prose []string) {
	for _, text := range prose {
		if readsInput.MatchString(text) {
			p.Stdin = true
		}
	}
	p.pair()
	p.Operands = slices.DeleteFunc(p.Operands, p.isCommands)
	for _, o := range p.Operands {
		v := &Value{Name: o.Name, Choices: o.Choices}
		v.decide(o.Help)
		o.Kind, o.Sure, o.Choices = v.Kind, min(v.Sure, Likely), v.Choices
		if readsInput.MatchString(o.Help) {
			p.Stdin = true
		}
	}
	switch p.Style {
	case StyleArgparse, StyleClick, StyleCobra, StyleClap, StyleGoFlag, StyleBusybox:
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

// pair makes --no-x the negation of the switch --x.
func (p *Program) pair() {
	p.Options = slices.DeleteFunc(p.Options, func(o *Option) bool {
		if len(o.Names) != 1 || o.Value != nil {
			return false
		}
		positive, ok := strings.CutPrefix(o.Names[0], "--no-")
		if !ok {
			return false
		}
		there := p.Find("--" + positive)
		if there == nil || there == o || there.Value != nil || there.Source != o.Source {
			return false
		}
		there.Negations = append(there.Negations, o.Names[0])
		return true
	})
}

// firstSentence returns the first sentence of a text.
func firstSentence(text string) string {
	if at := strings.Index(text, ". "); at > 0 {
		return text[:at+1]
	}
	return text
}
