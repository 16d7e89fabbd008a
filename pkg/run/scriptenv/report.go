package scriptenv

import (
	"slices"

	"mcp-bash/pkg/json/rawjson"
)

// A State describes a variable in the environment of the reporting process.
type State string

// The states (E-11).
const (
	set         State = "set"
	notSet      State = "not set"
	empty       State = "empty"
	placeholder State = "placeholder"
)

// A Report describes a policy and the variables that it passes, as text and JSON.
type Report struct {
	Policy *Policy
	Env    map[string]string
	// Placeholders are variables that Env omits because their values are placeholders.
	Placeholders []string
}

func (r *Report) state(name string) State {
	value, given := r.Env[name]
	switch {
	case slices.Contains(r.Placeholders, name), IsPlaceholder(value):
		return placeholder
	case !given:
		return notSet
	case value == "":
		return empty
	}
	return set
}

// Kinds of faults in a report.
const (
	faultRefused = "env_key_refused"
	faultInvalid = "env_key_invalid"
	faultBlocked = "env_inherit_blocked"
	faultName    = "env_allowlist_invalid_name"
)

// A Line is one line of a report.
type Line struct {
	Text  string
	Fault string // kind of the fault, or ""
	Here  bool   // the variable is not set in this environment
}

// Lines returns the report as text (E-11).
func (r *Report) Lines() (lines []Line) {
	add := func(fault, text string) { lines = append(lines, Line{Text: text, Fault: fault}) }
	p := r.Policy
	for _, rule := range []*Rule{&p.Tools, &p.Providers} {
		label := rule.Scope.Label
		add("", label+": mode "+rule.Mode+" (from "+string(rule.Source)+")")
		for _, name := range rule.listed() {
			if state := r.state(name); state == set {
				add("", name+": set")
			} else {
				lines = append(lines, Line{Here: true,
					Text: name + ": " + string(state) + " here (a host such as Claude Desktop may inject it at launch)"})
			}
		}
		for _, name := range rule.InvalidNames {
			add(faultName, label+": allowlist entry "+name+" is not a valid variable name and is skipped")
		}
		if rule.Blocked() {
			add(faultBlocked, label+": inherit mode without "+rule.Scope.Leave+"=true will be refused")
		}
	}
	if p.MetaIgnored {
		add("", "MCPBASH_IGNORE_META_ENV is set: server.meta.json env is ignored")
		return lines
	}
	for _, key := range p.Meta.Refused {
		add(faultRefused, "server.meta.json env."+key+" is ignored (not settable there)")
	}
	for _, setting := range p.Meta.Invalid {
		add(faultInvalid, "server.meta.json env."+setting.Key+": "+setting.Reason)
	}
	return lines
}

// listed returns the names that the list passes; none in other modes than Allowlist.
func (r *Rule) listed() []string {
	if r.Mode != Allowlist {
		return nil
	}
	return r.Names
}

// AppendJSON appends the report as JSON (E-11).
func (r *Report) AppendJSON(dst []byte) []byte {
	p := r.Policy
	b := rawjson.Over(dst)
	b.Object().Name("scope").String("this shell").Name("metaIgnored").Bool(p.MetaIgnored)
	for _, scope := range []struct {
		name string
		rule *Rule
	}{{"tool", &p.Tools}, {"provider", &p.Providers}} {
		b.Name(scope.name).Object().Name("mode").String(scope.rule.Mode).Name("source").String(string(scope.rule.Source)).
			Name("allowlist").Array()
		for _, name := range scope.rule.listed() {
			b.Object().Name("name").String(name).Name("state").String(string(r.state(name))).End()
		}
		b.End().Name("invalidNames").Strings(scope.rule.InvalidNames).
			Name("inheritBlocked").Bool(scope.rule.Blocked()).End()
	}
	refused, invalid := p.Meta.Refused, p.Meta.Invalid
	if p.MetaIgnored {
		refused, invalid = nil, nil
	}
	b.Name("refusedKeys").Strings(refused).Name("invalidKeys").Array()
	for _, setting := range invalid {
		b.Object().Name("key").String(setting.Key).Name("reason").String(setting.Reason).End()
	}
	return b.End().End().Bytes()
}
