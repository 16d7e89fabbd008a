package scaffold

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/script"
	"mcp-bash/pkg/usage"
)

// An Argument is one argument of a wrapped tool: an option or an operand of the program, or
// what it reads.
type Argument struct {
	Property string // in inputSchema
	Term     string // what the program calls it: "--key", "FILE"
	Kind     usage.Kind
	Sure     usage.Sure
	Source   usage.Source
	Required bool
	List     bool
	Help     string

	option  *usage.Option
	operand *usage.Operand
	choices []string
	line    string // of tool.sh
	// excludes are the properties that it cannot be given with.
	excludes []string
}

// A LeftOut is an option that the tool does not offer.
type LeftOut struct{ Term, Why string }

// A Choosing says which options a tool gets (WRAP-6).
type Choosing struct {
	Max     int
	Only    []string
	Without []string
}

// Where leaves out of the lists what a program does not have: for one of many commands.
func (c Choosing) Where(p *usage.Program) Choosing {
	unknown := func(name string) bool { return findTerm(p, name) == nil }
	only := len(c.Only) > 0
	c.Only = slices.DeleteFunc(slices.Clone(c.Only), unknown)
	c.Without = slices.DeleteFunc(slices.Clone(c.Without), unknown)
	if only && len(c.Only) == 0 {
		c.Max = -1 // none of them
	}
	return c
}

// A Plan is a tool that is about to be written.
type Plan struct {
	Name         string
	Words        []string
	Program      *usage.Program
	Arguments    []Argument
	LeftOut      []LeftOut
	Review       []string // what a person should look at
	Fixed        []string // words that are always given
	JSON         bool
	Capabilities []access.Capability // nil: nothing supports any
	ReadOnly     bool
	Destructive  bool
	Needs        string // a program to be installed, "" for one of the project
	argv         []string
}

var (
	helpOption = regexp.MustCompile(`^(?:--help(?:-.*)?|--version|--usage|--man|--manual|-help|-version|` +
		`--show-completion|--install-completion)$`)
	screenOption = regexp.MustCompile(`^--(?:no-)?(?:colou?r|paginate|pager|progress|interactive|prompt|` +
		`hyperlink)(?:[-=].*)?$`)
	screenHelp = regexp.MustCompile(`(?i)\b(?:prompts? (?:before|for|whether)|interactive(?:ly)?|` +
		`open .{0,30}(?:browser|editor|pager)|ansi colou?rs?)\b`)
	runsHelp = regexp.MustCompile(`(?i)\b(?:execute|run|invoke|spawn|pipe .{0,20} (?:to|through))s? (?:the |` +
		`a |an |this |given |specified )*(?:command|program|shell|script|cmd|external|utility)\b|\bshell command\b|` +
		`\bcompress temporaries with PROG`)
	// filtersHelp matches options for which a program starts another one that it names itself.
	filtersHelp = regexp.MustCompile(`(?i)\b(?:through|with|using|via|by) (?:g|b|x)zip|\b(?:through|via) (?:xz|zstd|` +
		`lzip|lzma|lzop|compress|bzip2|ssh|git)\b`)
	runsName = regexp.MustCompile(`(?i)^--?(?:exec|execute|command|cmd|shell|editor|upload-pack|receive-pack|` +
		`to-command|use-compress-program|compress-program|pre|rsh|run|eval|ext-diff|open-files-in-pager|pass-through|` +
		`local-command|exec-batch)$`)
	obsoleteHelp = regexp.MustCompile(`(?i)^\W*(?:deprecated|obsolete|ignored|no[- ]op)|\b(?:is|` +
		`are) (?:deprecated|obsolete)|\[deprecated|\(deprecated|does nothing|has no effect|for (?:backwards? )?compatibility`)
	writesHelp = regexp.MustCompile(`(?i)\b(?:write|save|output|dump|export|record|place|` +
		`create)s? .{0,40}\b(?:to|into|in|as) .{0,20}\b(?:file|directory|FILE|path)\b|\bin[- ]place\b|\boverwrit|` +
		`\b(?:delete|remove|unlink|truncate)s?\b|\bmodif(?:y|ies)\b`)
	destroysHelp = regexp.MustCompile(`(?i)\bin[- ]place\b|\boverwrit|\b(?:delete|remove|destroy|erase|purge|` +
		`wipe|discard)s?\b`)
	networkText = regexp.MustCompile(`(?i)\b(?:https?|url|download|upload|remote|server|proxy|host(?:name)?|` +
		`network|tcp|udp|ftp|ssh|api)\b`)
	readsSummary = regexp.MustCompile(`(?i)^(?:print|list|show|display|search|find|report|count|compare|view|` +
		`describe|check|verify|compute|get|query|examine|inspect|output|calculate|estimate|summari[sz]e|concatenate|` +
		`status|view)\w*\b`)
	changesHelp = regexp.MustCompile(`(?i)^(?:delete|remove|destroy|erase|purge|wipe|prune|kill|drop|uninstall|` +
		`reset|overwrite|format|revoke|discard)\w*\b`)
	jsonFormatOpt = regexp.MustCompile(`^--?(?:format|output|output-format|out-format|message-format|o|f|fmt|` +
		`outputformat|output-style|reporter)$`)
	commandOperand = regexp.MustCompile(`(?i)^(?:command|cmd|program|utility|script)s?$`)
	jsonWord       = regexp.MustCompile(`(?i)\bjson\b`)
	readsJSON      = regexp.MustCompile(`(?i)\b(?:input|parse|read|from|accept|fields)\b`)
)

// choose makes the plan of a tool for a program (WRAP-6, WRAP-30 to WRAP-36).
func choose(p *usage.Program, c Choosing) (*Plan, error) {
	plan := &Plan{Words: p.Words, Program: p}
	plan.askJSON(p, c)
	type ranked struct {
		option *usage.Option
		score  int
		at     int
	}
	var offered []ranked
	only, without := terms(p, c.Only), terms(p, c.Without)
	if bad := unknownTerms(p, append(slices.Clone(c.Only), c.Without...)); bad != "" {
		return nil, unknownOption(p, bad)
	}
	ranks := newRanking(p)
	for i, o := range p.Options {
		why := plan.unwritable(o)
		switch {
		case why != "":
		case slices.Contains(without, o):
			why = "--without"
		case slices.Contains(only, o):
		case len(c.Only) > 0 && !o.Required:
			why = "--only"
		case o.Required:
		default:
			why = unwanted(o)
		}
		if why == "" && plan.isFixed(o) {
			why = "always given"
		}
		if why != "" {
			plan.leave(o, why)
			continue
		}
		offered = append(offered, ranked{o, ranks.of(o, i), i})
	}
	slices.SortStableFunc(offered, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	kept := offered
	if most := max(c.Max, 0); len(c.Only) == 0 && c.Max != 0 && len(offered) > most {
		for most < len(offered) && offered[most].option.Required {
			most++
		}
		kept = offered[:most]
		for _, r := range offered[most:] {
			plan.leave(r.option, fmt.Sprintf("beyond the first %d; --max-options or --only takes it", c.Max))
		}
	}
	slices.SortStableFunc(kept, func(a, b ranked) int { return cmp.Compare(a.at, b.at) })
	for _, r := range kept {
		plan.option(r.option)
	}
	plan.operands()
	plan.exclude()
	plan.judge()
	return plan, nil
}

// terms are the options of a list of names, with or without dashes.
func terms(p *usage.Program, names []string) (list []*usage.Option) {
	for _, name := range names {
		if o := findTerm(p, name); o != nil {
			list = append(list, o)
		}
	}
	return list
}

func findTerm(p *usage.Program, name string) *usage.Option {
	for _, prefix := range []string{"", "--", "-"} {
		if o := p.Find(prefix + name); o != nil {
			return o
		}
	}
	return nil
}

func unknownTerms(p *usage.Program, names []string) string {
	for _, name := range names {
		if findTerm(p, name) == nil {
			return name
		}
	}
	return ""
}

// Offers reports whether the tool offers an option, or always gives it.
func (p *Plan) Offers(name string) bool {
	o := p.Program.Find(name)
	return o != nil && (p.offered(o) != "" || p.isFixed(o))
}

func (p *Plan) leave(o *usage.Option, why string) {
	p.LeftOut = append(p.LeftOut, LeftOut{strings.Join(o.Names, ", "), why})
}

// unwritable says why an option cannot be offered at all.
func (p *Plan) unwritable(o *usage.Option) string {
	if v := o.Value; v != nil && v.Words > 1 {
		return fmt.Sprintf("takes %d values at once, which wrap does not write", v.Words)
	}
	for _, name := range o.Names {
		if helpOption.MatchString(name) || name == "-h" && strings.Contains(strings.ToLower(o.Help), "help") {
			return "help"
		}
	}
	return ""
}

// unwanted says why an option is not offered unless it is asked for.
func unwanted(o *usage.Option) string {
	for _, name := range o.Names {
		switch {
		case screenOption.MatchString(name):
			return "is for a terminal"
		case runsName.MatchString(name):
			return "runs other programs; --only takes it"
		}
	}
	switch {
	case screenHelp.MatchString(o.Help):
		return "is for a terminal"
	case runsHelp.MatchString(o.Help):
		return "runs other programs; --only takes it"
	case obsoleteHelp.MatchString(o.Help):
		return "is obsolete"
	case o.Sure == usage.Guessed:
		return "stands in a usage line only, and may be none"
	}
	return ""
}

// askJSON finds the option by which a program prints JSON (WRAP-39).
func (p *Plan) askJSON(prog *usage.Program, c Choosing) {
	for _, o := range prog.Options {
		name := o.Name()
		if slices.Contains(c.Without, name) || slices.Contains(c.Without, strings.TrimLeft(name, "-")) {
			continue
		}
		if name == "--json" && (o.Value == nil || o.Value.Optional) && !readsJSON.MatchString(o.Help) {
			p.Fixed, p.JSON = []string{name}, true
			return
		}
		if !jsonFormatOpt.MatchString(name) || o.Value == nil || o.Value.Kind == usage.Path || o.Value.Several {
			continue
		}
		guessed := len(o.Value.Choices) == 0 && jsonWord.MatchString(o.Help) && !readsJSON.MatchString(o.Help)
		if !guessed && !slices.Contains(o.Value.Choices, "json") {
			continue
		}
		if guessed {
			p.review("%s json is always given: guessed from its description", name)
		}
		word, flags := joining(prog, o)
		switch {
		case strings.HasSuffix(word, "="), len(flags) > 0:
			p.Fixed = []string{word + "json"}
		default:
			p.Fixed = []string{word, "json"}
		}
		p.JSON = true
		return
	}
}

func (p *Plan) isFixed(o *usage.Option) bool {
	for _, word := range p.Fixed {
		name, _, _ := strings.Cut(word, "=")
		if o.Has(name) {
			return true
		}
	}
	return false
}

// attaches are the styles whose libraries take the value of a short option in the same word.
var attaches = []usage.Style{usage.StyleGNU, usage.StyleArgparse, usage.StyleClick, usage.StyleCobra, usage.StyleClap,
	usage.StyleDocopt, usage.StyleGit, usage.StyleBusybox, usage.StyleUsage}

// joining says how an option and its value are written: the word for tool.sh, and what more
// mcp_argv_option is told (WRAP-32).
func joining(p *usage.Program, o *usage.Option) (word string, flags []string) {
	name := o.Name()
	v := o.Value
	switch {
	case v.Several && !v.Optional && v.Words == 0:
		return name, []string{"--one"}
	case strings.HasPrefix(name, "--"):
		return name + "=", nil
	case p.Style == usage.StyleGoFlag || v.Equals && len(name) > 2:
		return name + "=", nil
	case len(name) == 2 && (v.Optional || slices.Contains(attaches, p.Style)):
		return name, []string{"--attached"}
	}
	return name, nil
}

// property makes the name of a property.
func (p *Plan) property(term string) string {
	var b strings.Builder
	for _, r := range strings.TrimLeft(term, "-") {
		switch {
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_':
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	name := strings.Trim(b.String(), "_")
	switch {
	case name == "": // in another script than Latin
		name = "value"
	case name[0] >= '0' && name[0] <= '9':
		name = "option_" + name
	}
	if len(name) > 60 {
		name = name[:60]
	}
	for unique, n := name, 2; ; n++ {
		if !slices.ContainsFunc(p.Arguments, func(a Argument) bool { return a.Property == unique }) {
			return unique
		}
		unique = fmt.Sprintf("%s_%d", name, n)
	}
}

// option adds an option to the arguments of the tool.
func (p *Plan) option(o *usage.Option) {
	a := Argument{
		Property: p.property(o.Name()), Term: strings.Join(o.Names, ", "), Kind: o.Kind(), Sure: usage.Certain,
		Source:   o.Source,
		Required: o.Required, Help: o.Help, option: o,
	}
	pointer := "." + a.Property
	if o.Value == nil {
		a.line = strings.TrimSpace(fmt.Sprintf("mcp_argv_switch argv %s %s", pointer, script.Quote(o.Name())))
		if len(o.Negations) > 0 {
			a.line += " " + script.Quote(o.Negations[0])
		}
		p.Arguments = append(p.Arguments, a)
		return
	}
	a.Sure, a.choices, a.List = o.Value.Sure, o.Value.Choices, o.Repeat
	word, flags := joining(p.Program, o)
	a.List = a.List || slices.Contains(flags, "--one")
	a.line = fmt.Sprintf("mcp_argv_option argv %s %s", pointer, script.Quote(word))
	for _, f := range flags {
		a.line += " " + f
	}
	if a.Kind == usage.Path {
		a.line += " --path"
	}
	p.Arguments = append(p.Arguments, a)
	if a.Sure == usage.Guessed && a.Kind != usage.Text {
		p.Review = append(p.Review, fmt.Sprintf("%s takes a %s: guessed from its description", o.Name(), a.Kind))
	}
}

// operands adds the operands, and standard input (WRAP-33).
func (p *Plan) operands() {
	prog := p.Program
	for i, o := range prog.Operands {
		a := Argument{
			Property: p.property(strings.ToLower(o.Name)), Term: o.Name, Kind: o.Kind, Sure: o.Sure, Source: o.Source,
			Required: o.Required, List: o.Repeat, Help: o.Help, operand: o, choices: o.Choices,
		}
		a.line = "mcp_argv_operand argv ." + a.Property
		switch {
		case a.Kind == usage.Path:
			a.line += " --path"
		case prog.Dashes && (prog.DashesAt < 0 || prog.DashesAt <= i):
			a.line += " --any"
		}
		p.Arguments = append(p.Arguments, a)
	}
	if prog.Stdin {
		p.Arguments = append(p.Arguments, Argument{
			Property: p.property("stdin"), Term: "standard input", Kind: usage.Text, Sure: usage.Likely, Source: usage.FromHelp,
			Help: "Text for the program's standard input",
		})
	}
}

// judge decides what is said about the tool as a whole, and what supports it (WRAP-35,
// WRAP-36). What is guessed is left to a person to review.
func (p *Plan) judge() {
	summary := p.Program.Summary
	last := p.Words[len(p.Words)-1]
	files, network, writes, destroys, runs, filters := false, false, "", "", "", ""
	for _, a := range p.Arguments {
		files = files || a.Kind == usage.Path
		network = network || a.Kind == usage.URL
		if a.operand != nil && commandOperand.MatchString(a.operand.Name) {
			runs = a.operand.Name
		}
		if a.option == nil {
			continue
		}
		if runs == "" && (runsHelp.MatchString(a.Help) || runsName.MatchString(a.option.Name())) {
			runs = a.option.Name()
		}
		if filters == "" && filtersHelp.MatchString(a.Help) {
			filters = a.option.Name()
		}
		if writes == "" && writesHelp.MatchString(a.Help) {
			writes = a.option.Name()
		}
		if destroys == "" && destroysHelp.MatchString(a.Help) {
			destroys = a.option.Name()
		}
	}
	why := ""
	if !network && networkText.MatchString(summary) {
		network, why = true, "its summary"
	} else if network {
		why = "a URL among its arguments"
	}
	if files {
		p.Capabilities = append(p.Capabilities, access.FileSystem)
	}
	if network {
		p.Capabilities = append(p.Capabilities, access.Network)
		p.review("capabilities: Network, guessed from %s", why)
	}
	if runs != "" {
		p.Capabilities = append(p.Capabilities, access.Process)
		p.review("it runs whatever program %s names, with all that this may do: is that wanted?", runs)
	}
	switch {
	case runs != "":
	case p.Program.Style == usage.StyleGit:
		p.startsOthers("git does for some commands")
	case filters != "":
		p.startsOthers("see %s", filters)
	}
	if p.Capabilities == nil {
		p.review("capabilities: nothing tells what it needs, so none are declared; [] if it needs none")
	}
	switch {
	case runs != "":
		p.Destructive = true
	case changesHelp.MatchString(summary) || changesHelp.MatchString(last):
		p.Destructive = true
		p.review("destructiveHint: guessed from %q", cmp.Or(summary, last))
	case destroys != "":
		p.Destructive = true
		p.review("destructiveHint: guessed from what %s does", destroys)
	case writes != "":
		p.review("readOnlyHint: left out, as %s may write", writes)
	case readsSummary.MatchString(summary) || readsSummary.MatchString(last):
		p.ReadOnly = true
		p.review("readOnlyHint: guessed from %q", cmp.Or(summary, last))
	}
}

// startsOthers declares Process for a program that starts others, where anything is declared:
// without it those would be refused (CF-15, WRAP-36).
func (p *Plan) startsOthers(why string, args ...any) {
	if p.Capabilities != nil && !slices.Contains(p.Capabilities, access.Process) {
		p.Capabilities = append(p.Capabilities, access.Process)
		p.review("capabilities: Process, as it starts other programs: "+why, args...)
	}
}

func (p *Plan) review(format string, args ...any) {
	p.Review = append(p.Review, fmt.Sprintf(format, args...))
}
