package infer

import (
	"cmp"
	"slices"
	"strings"

	"mcp-bash/pkg/scaffold/recipe"
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
	if m.Generic {
		m.add(recipe.Argument{Name: m.property(anyWords), Type: "string", Repeat: true, Dashes: true, Only: true,
			Destructive: true, Description: "Words of the command line, options included, in their order."})
	}
	list := p.Operands
	if at := slices.IndexFunc(list, func(o *usage.Operand) bool { return commandOperand.MatchString(o.Name) }); at >= 0 {
		m.LeftOut = append(m.LeftOut, LeftOut{list[at].Name, "names a program or a command to run"})
		list = list[:at] // the others belong to it
	}
	if p.Loose || !inOrder(list) {
		m.words()
		return
	}
	for i, o := range list {
		if p.Dashes && (p.DashesAt == i || p.DashesAt < 0 && i == 0) {
			m.add(recipe.Argument{Words: []string{"--"}})
		}
		a := recipe.Argument{Name: m.operandNames[i], Repeat: o.Repeat, Required: o.Required && !p.Stdin}
		m.value(&a, o.Kind, o.Sure, o.Choices)
		if a.Type != "path" {
			a.Type, a.Choices, a.Dashes = "string", nil, p.Dashes && p.DashesAt <= i
		}
		a.Description = describe(o.Help, o.Name, &a, o.Kind)
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

// words adds the list of words. It is only offered by name for programs that run what they are given.
func (m *maker) words() {
	a := recipe.Argument{Name: m.property(anyOperands), Type: "string", Repeat: true, Unconfirmed: []string{"operands"},
		Description: "Words of the command line after the options, such as names of files. The documentation of " +
			strings.Join(m.p.Words, " ") + " does not explain them."}
	if a.Only = m.Runs != ""; a.Only {
		a.Destructive = true
		m.review("%s %s, so %s are only offered by name", m.p.Words[0], m.Runs, anyOperands)
	}
	if m.p.Dashes {
		if !a.Only {
			m.add(recipe.Argument{Words: []string{"--"}})
		}
		a.Dashes = !a.Only
	} else {
		a.Description += " They cannot begin with a dash."
	}
	m.add(a)
}

func (m *maker) stdin() {
	if !m.p.Stdin {
		return
	}
	m.Recipe.Stdin = &recipe.Stdin{Name: m.property("stdin"), Description: "Text for the program's standard input."}
	if m.p.DashInput {
		m.Recipe.Stdin.Word = "-"
	}
}

// exclude adds the groups of options of which the synopsis allows one.
func (m *maker) exclude() {
	for _, group := range m.p.Exclusive {
		var names []string
		for _, name := range group {
			if property := m.names[m.p.Find(name)]; property != "" && !slices.Contains(names, property) {
				names = append(names, property)
			}
		}
		if len(names) > 1 {
			m.Recipe.Excludes = append(m.Recipe.Excludes, names)
		}
	}
}

// Words that show that a program writes or connects.
var (
	writes = lazyregexp.New(`(?i)\b(?:writ|creat|convert|compress|decompress|extract|delet|remov|renam|mov|copy|copies|` +
		`format|fix|edit|modif|optimi[sz]|install|updat|generat|build|save|download|merg|sync|patch|minif|encrypt|decrypt|` +
		`sign|split|archiv)\w*`)
	destroys = lazyregexp.New(`(?i)\bin[- ]place\b|\boverwrit|\b(?:delete|remove|destroy|erase|purge|wipe|discard|fix|` +
		`write|save)s?\b`)
	connects = lazyregexp.New(`(?i)\b(?:https?|url|download|upload|remote|server|proxy|host(?:name)?|network|tcp|` +
		`udp|ftp|ssh|api|dns)s?\b`)
)

// asked reports whether the person named an option.
func (m *maker) asked(option string) bool {
	o := m.p.Find(option)
	return o != nil && slices.ContainsFunc(m.p.Only, func(name string) bool {
		return o.Has(name) || o.Has("-"+name) || o.Has("--"+name) || m.names[o] == name
	})
}

// capabilities declares what the tool needs to work on the files of the roots. Whether it only
// reads cannot be known, so there is no readOnlyHint (WRAP-35, WRAP-36).
func (m *maker) capabilities() {
	edit, network := "", ""
	if m.Generic {
		edit = "its documentation, which does not show its arguments"
	}
	if writes.MatchString(m.p.Summary) {
		edit = "its summary"
	}
	if connects.MatchString(m.p.Summary) {
		network = "its summary"
	}
	for _, a := range m.Recipe.Arguments {
		if edit == "" && a.Option != "" && (!a.Only || m.asked(a.Option)) &&
			(a.Destructive || destroys.MatchString(a.Description)) {
			edit = a.Option
		}
		if network == "" && strings.HasSuffix(a.Description, "probably a URL)") {
			network = cmp.Or(a.Option, a.Name)
		}
	}
	access := recipe.Access("both")
	if edit == "" {
		access = "read"
		m.Recipe.Capabilities = []string{"Search"}
		m.review("capabilities: Search, so it cannot write; declare Edit if it must")
	} else {
		m.Recipe.Capabilities = []string{"Edit"}
		m.review("capabilities: Edit, because of %s", edit)
	}
	for i := range m.Recipe.Arguments {
		if a := &m.Recipe.Arguments[i]; a.Type == "path" {
			a.Access = access
		}
	}
	switch {
	case network != "":
		m.Recipe.Capabilities = append(m.Recipe.Capabilities, "Network")
		m.review("capabilities: Network, because of %s", network)
	case m.p.Connects:
		m.review("capabilities: its file can connect to hosts; declare Network if it must")
	}
	if m.p.Starts {
		m.review("capabilities: its file can start programs; name them in confine.exec if it must")
	}
}
