package wrap

import (
	"cmp"
	"slices"

	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/scaffold/usage"
	"mcp-bash/pkg/text/lazyregexp"
)

// Patterns that indicate a capability (WRAP-36).
var (
	// filtersHelp matches the help of options that make a program start another one.
	filtersHelp = lazyregexp.New(`(?i)\b(?:through|with|using|via|by) (?:g|b|x)zip|\b(?:through|via) (?:xz|zstd|` +
		`lzip|lzma|lzop|compress|bzip2|ssh|git)\b`)
	networkText = lazyregexp.New(`(?i)\b(?:https?|url|download|upload|remote|server|proxy|host(?:name)?|` +
		`network|tcp|udp|ftp|ssh|api)\b`)
	// connectsTo matches options that name a host to connect to.
	connectsTo = lazyregexp.New(`^--?(?:[a-z0-9]+-)*(?:\w*host(?:name)?|server|proxy|endpoint|url|uri|` +
		`imap\w*|smtp\w*)$`)
	// connectingGit matches the commands of git that connect.
	connectingGit = lazyregexp.New(`^(?:clone|fetch|pull|push|ls-remote|remote|submodule|archive|send-email|` +
		`request-pull|svn|p4|daemon|imap-send|http-.*)$`)
	// throughOther matches the help of options that make a program start another one.
	throughOther   = lazyregexp.New(`(?i)\bthrough ['"]?\w`)
	commandOperand = lazyregexp.New(`(?i)^(?:command|cmd|program|utility|script)s?$`)
)

// Patterns that indicate a hint about the tool's effects (WRAP-35).
var (
	writesHelp = lazyregexp.New(`(?i)\b(?:write|save|output|dump|export|record|place|` +
		`create)s? .{0,40}\b(?:to|into|in|as) .{0,20}\b(?:file|directory|FILE|path)\b|\bin[- ]place\b|\boverwrit|` +
		`\b(?:delete|remove|unlink|truncate)s?\b|\bmodif(?:y|ies)\b`)
	destroysHelp = lazyregexp.New(`(?i)\bin[- ]place\b|\boverwrit|\b(?:delete|remove|destroy|erase|purge|` +
		`wipe|discard)s?\b`)
	readsSummary = lazyregexp.New(`(?i)^(?:print|list|show|display|search|find|report|count|compare|view|` +
		`describe|check|verify|compute|get|query|examine|inspect|output|calculate|estimate|summari[sz]e|concatenate|` +
		`status|view)\w*\b`)
	changesHelp = lazyregexp.New(`(?i)^(?:delete|remove|destroy|erase|purge|wipe|prune|kill|drop|uninstall|` +
		`reset|overwrite|format|revoke|discard)\w*\b`)
)

// capabilities decides which capabilities the tool declares, from the program's help text
// and from its file. The kernel confines the tool to them, so a missing one would stop it
// from working. Therefore any indication is enough to declare a capability, and a person is
// asked to review it (WRAP-36).
func (p *Plan) capabilities(c Command) {
	files := slices.ContainsFunc(p.Arguments, func(a Argument) bool { return a.Kind == usage.Path })
	if files {
		p.Capabilities = append(p.Capabilities, access.FileSystem)
	}
	if why := p.connects(c); why != "" {
		p.Capabilities = append(p.Capabilities, access.Network)
		p.review("capabilities: Network, guessed from %s", why)
	}
	if what := p.runsOthers(); what != "" {
		p.Capabilities = append(p.Capabilities, access.Process)
		p.review("it runs any program that %s names: is that wanted?", what)
	} else if why := p.starts(c); why != "" && p.Capabilities != nil {
		p.Capabilities = append(p.Capabilities, access.Process)
		p.review("capabilities: Process, as it starts other programs: %s", why)
	}
	if p.Capabilities == nil {
		p.review("capabilities: nothing shows which ones it needs, so none are declared; declare [] if it needs none of them")
	}
}

// connects returns the reason to declare Network, or "".
func (p *Plan) connects(c Command) string {
	for _, a := range p.Arguments {
		if a.Kind == usage.URL {
			return "a URL among its arguments"
		}
	}
	switch {
	case networkText.MatchString(p.Program.Summary):
		return "its summary"
	case p.Program.Style == usage.StyleGit:
		if len(c.Words) > 1 && connectingGit.MatchString(c.Words[1]) {
			return "the command"
		}
		return ""
	case c.Connects && p.Program.Style != usage.StyleBusybox:
		return "the program's file, which can look up hosts"
	}
	for _, o := range p.Program.Options {
		if o.Value != nil && connectsTo.MatchString(o.Name()) {
			return o.Name()
		}
	}
	return ""
}

// runsOthers returns the name of the argument that names a program to run, or "".
func (p *Plan) runsOthers() string {
	for _, a := range p.Arguments {
		switch {
		case a.operand != nil && commandOperand.MatchString(a.operand.Name):
			return a.operand.Name
		case a.option != nil && (runsHelp.MatchString(a.Help) || runsName.MatchString(a.option.Name())):
			return a.option.Name()
		}
	}
	return ""
}

// starts returns the reason why the program is assumed to start other programs by itself, or
// "". A program with functions for that may need them only for an option that the tool does
// not offer.
func (p *Plan) starts(c Command) string {
	for _, a := range p.Arguments {
		if a.option != nil && filtersHelp.MatchString(a.Help) {
			return "see " + a.option.Name()
		}
	}
	switch {
	case c.Script:
		return "scripts mostly do"
	case p.Program.Style == usage.StyleGit:
		return "git does so for some commands"
	case !c.Starts || p.Program.Style == usage.StyleBusybox:
		return ""
	}
	for _, o := range p.Program.Options {
		if !p.Offers(o.Name()) && (runsHelp.MatchString(o.Help) || slices.ContainsFunc(o.Names, runsName.MatchString) ||
			throughOther.MatchString(o.Help)) {
			return ""
		}
	}
	return "its file has functions for that"
}

// annotations sets the hints about the tool's effects that the help text supports. Guesses
// are added to the review (WRAP-35).
func (p *Plan) annotations() {
	summary := p.Program.Summary
	last := p.Words[len(p.Words)-1]
	writes, destroys := "", ""
	for _, a := range p.Arguments {
		if a.option == nil {
			continue
		}
		if writes == "" && writesHelp.MatchString(a.Help) {
			writes = a.option.Name()
		}
		if destroys == "" && destroysHelp.MatchString(a.Help) {
			destroys = a.option.Name()
		}
	}
	switch {
	case p.runsOthers() != "":
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
