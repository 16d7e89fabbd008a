package infer

import (
	"cmp"
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/recipe/danger"
	"mcp-bash/pkg/scaffold/usage"
	"mcp-bash/pkg/text/lazyregexp"
)

// commandOperand matches operands that name a program to run.
var commandOperand = lazyregexp.New(`(?i)^(?:sub-?)?(?:command|cmd|program|utility|prog|shell-command|` +
	`script)s?(?:[-_ ].*)?$`)

// operands adds the operands of the synopsis. Without one, there is an optional list of words. A
// word that begins with a dash could be any option, so it is only accepted after "--" (WRAP-33).
func (m *maker) operands() {
	p := m.p
	list := p.Operands
	if at := slices.IndexFunc(list, func(o *usage.Operand) bool { return commandOperand.MatchString(o.Name) }); at >= 0 {
		m.LeftOut = append(m.LeftOut, LeftOut{list[at].Name, "names a program or a command to run"})
		list = list[:at] // the others belong to it
	}
	isText := func(o *usage.Operand) bool { return o.Kind != recipe.Path }
	at := max(0, min(p.DashesAt, len(list))) // "--" separates operands, such as revisions from files
	if p.Loose || !inOrder(list[:at]) || !inOrder(list[at:]) {
		m.words()
		return
	}
	dashes := p.Dashes && (p.DashesAt >= 0 || p.Style != usage.StyleGit || !slices.ContainsFunc(list, isText))
	for i, o := range list {
		if dashes && (p.DashesAt == i || p.DashesAt < 0 && i == 0) {
			m.add(recipe.Argument{Words: []string{"--"}})
		}
		a := recipe.Argument{Name: m.operandNames[i], Repeat: o.Repeat,
			Required: o.Required && !(p.Stdin && !slices.ContainsFunc(list[i:], isText))}
		m.value(&a, &o.Value)
		if a.Type != "path" {
			a.Type, a.Choices, a.Dashes = "string", nil, dashes && p.DashesAt <= i
		}
		a.Description = describe(o.Help, o.Name, &a, &o.Value)
		m.add(a)
	}
}

// inOrder reports whether the required operands come first, and no optional one follows a list.
// Others could take their place.
func inOrder(list []*usage.Operand) bool {
	for i := 1; i < len(list); i++ {
		if list[i].Required && !list[i-1].Required || list[i-1].Repeat && !list[i].Required {
			return false
		}
	}
	return true
}

func (m *maker) add(a recipe.Argument) { m.Recipe.Arguments = append(m.Recipe.Arguments, a) }

// words adds the list of words. For programs that run what they are given, it is only offered by name. If
// nothing is known of the program, the words can be options, except dangerous ones.
func (m *maker) words() {
	a := recipe.Argument{Name: m.property(anyOperands), Type: "string", Repeat: true, Unconfirmed: []string{"operands"},
		Only: m.Runs != "", Destructive: m.Runs != "" || m.Generic, Description: "Words of the command line, such as names " +
			"of files. The documentation of " + strings.Join(m.p.Words, " ") + " does not explain them."}
	switch {
	case a.Only:
		m.review("%s %s, so %s are only offered by name", m.p.Words[0], m.Runs, anyOperands)
	case m.Generic:
		a.Dashes = true
		a.Description += " They can be options."
		m.Recipe.Dangers = m.dangers.Names(m.p.Words[0])
	case m.p.Dashes && m.p.DashesAt <= 0 && m.p.Style != usage.StyleGit:
		m.add(recipe.Argument{Words: []string{"--"}})
		a.Dashes = true
	default: // "--" separates operands, such as revisions from files
		a.Unless = "--"
		a.Description += " They follow the options, and cannot begin with a dash, except for the word --."
	}
	m.add(a)
}

// stdin adds text for standard input. Programs that do not read it ignore it.
func (m *maker) stdin() {
	text := "Text for the program's standard input."
	if !m.p.Stdin && !m.p.DashInput {
		text += " The documentation does not show whether it reads any."
	}
	m.Recipe.Stdin = &recipe.Stdin{Name: m.property("stdin"), Description: text}
	if m.p.DashInput {
		m.Recipe.Stdin.Word = "-"
	}
}

// Words that show that a program reads, that it writes, or that it connects.
var (
	reads = lazyregexp.New(`(?i)^\W*(?:(?:a|an|the|to|tool|utility|program|command|that|which|can|quickly) )*(?:show|` +
		`print|display|list|search|find|quer(?:y|ies)|count|report|compare|check|inspect|describe|view|examine|look|` +
		`lint|valid|verif|concatenate|number|sum|calculat|compute|analy[sz]|stat|get|select|match|read|explain|hex|` +
		`tests?\b)\w*`)
	changes = lazyregexp.New(`(?i)\b(?:creat|delet|remov|modif|edit|writ|updat|convert|renam|mov|cop[iy]|set|add|` +
		`install|manipulat|fix|replac|chang|extract)(?:e|es|s|ing|y|ies)?\b`)
	connects = lazyregexp.New(`(?i)\b(?:https?|url|download|upload|remote|server|proxy|host(?:name)?|network|tcp|` +
		`udp|ftp|ssh|api|dns)s?\b`)
)

// onlyReads reports whether a summary shows that a program only reads.
func onlyReads(summary string) bool {
	return reads.MatchString(summary) && !changes.MatchString(summary)
}

// capabilities declares what the tool needs to work on the files of the roots (WRAP-36). Options that write
// are offered only by name, so the tool can only read if its summary begins with such a verb.
func (m *maker) capabilities() {
	access, network := recipe.Access("both"), ""
	if connects.MatchString(m.p.Summary) {
		network = "its summary"
	}
	makes := func(o *usage.Operand) bool { return danger.IsResult(o.Name) }
	if onlyReads(m.p.Summary) && !m.Generic && !slices.ContainsFunc(m.p.Operands, makes) {
		access = "read"
	}
	for i := range m.Recipe.Arguments {
		a := &m.Recipe.Arguments[i]
		if a.Type == "path" {
			a.Access = cmp.Or(a.Access, access)
		}
		if network == "" && !a.Only && strings.HasSuffix(a.Description, "probably a URL)") {
			network = cmp.Or(a.Option, a.Name)
		}
	}
	m.review("home: its settings there are not read, unless you declare FileSystem")
	if access == "read" {
		m.Recipe.Capabilities = []string{"Search"}
		m.review("capabilities: Search, because its summary shows that it only reads; declare Edit if it must write")
	} else {
		m.Recipe.Capabilities = []string{"Edit"}
		m.review("capabilities: Edit, because its summary does not show that it only reads")
	}
	if network != "" {
		m.Recipe.Capabilities = append(m.Recipe.Capabilities, "Network")
		m.review("capabilities: Network, because of %s", network)
	}
}
