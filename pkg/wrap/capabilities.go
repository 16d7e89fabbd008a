package wrap

import (
	"cmp"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/usage"
	"slices"
)

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
