package wrap

import (
	"cmp"
	"slices"

	"mcp-bash/pkg/lazyregexp"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/usage"
)

// What supports a capability (WRAP-36).
var (
	// filtersHelp matches options for which a program starts another one that it names itself.
	filtersHelp = lazyregexp.New(`(?i)\b(?:through|with|using|via|by) (?:g|b|x)zip|\b(?:through|via) (?:xz|zstd|` +
		`lzip|lzma|lzop|compress|bzip2|ssh|git)\b`)
	networkText = lazyregexp.New(`(?i)\b(?:https?|url|download|upload|remote|server|proxy|host(?:name)?|` +
		`network|tcp|udp|ftp|ssh|api)\b`)
	// connectsTo matches options that say with whom a program connects.
	connectsTo = lazyregexp.New(`^--?(?:[a-z0-9]+-)*(?:\w*host(?:name)?|server|proxy|endpoint|url|uri|` +
		`imap\w*|smtp\w*)$`)
	// connectingGit matches the commands of git that connect.
	connectingGit = lazyregexp.New(`^(?:clone|fetch|pull|push|ls-remote|remote|submodule|archive|send-email|` +
		`request-pull|svn|p4|daemon|imap-send|http-.*)$`)
	// throughOther matches options for which a program starts another one.
	throughOther   = lazyregexp.New(`(?i)\bthrough ['"]?\w`)
	commandOperand = lazyregexp.New(`(?i)^(?:command|cmd|program|utility|script)s?$`)
)

// What supports a hint about what a tool does (WRAP-35).
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

// capabilities decides what the tool needs, of what is said about the program and of what its
// file can do. Too little would keep it from working, as the kernel holds it to that, so
// what anything speaks for is declared, and a person is asked to review it (WRAP-36).
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
		p.review("it runs whatever program %s names, with all that this may do: is that wanted?", what)
	} else if why := p.starts(c); why != "" && p.Capabilities != nil {
		p.Capabilities = append(p.Capabilities, access.Process)
		p.review("capabilities: Process, as it starts other programs: %s", why)
	}
	if p.Capabilities == nil {
		p.review("capabilities: nothing tells what it needs, so none are declared; [] if it needs none")
	}
}

// connects tells what speaks for Network, "" for nothing.
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

// runsOthers names the argument that names a program to be run, "" for none.
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

// starts tells why a program is believed to start others of itself, "" where it is not. One
// that has an option to run programs, which the tool does not offer, can do it for that alone.
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
		return "git does for some commands"
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

// annotations decides what is said about what the tool does, where something supports it
// (WRAP-35). What is guessed is left to a person to review.
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
