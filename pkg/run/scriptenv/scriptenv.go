// Package scriptenv decides which variables of the server's environment reach scripts. The decision depends on the
// variable's name, the environment, and the object "env" of server.meta.json.
package scriptenv

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// Modes of both kinds of scripts. The default of tools is Minimal, and that of providers and
// completion scripts is Isolate.
const (
	Minimal   = "minimal"
	Isolate   = "isolate"
	Allowlist = "allowlist"
	Inherit   = "inherit"
)

// own are variables of the framework without the prefix MCPBASH_, which reach scripts in every mode. A final * matches
// any rest of a name.
var own = []string{
	"MCP_SDK", "MCP_TOOL_*", "MCP_ELICIT_*", "MCP_PROGRESS_*", "MCP_LOG_STREAM", "MCP_CANCEL_FILE", "MCP_ROOTS_*",
	"MCP_RESOURCES_ROOTS", "MCP_COMPLETION_*", "MCP_PROMPT_*", "MCP_RESOURCE_*", "MCP_CONFIG_JSON", "MCP_TRANSPORT",
	"MCP_PATH_DEBUG", "MCP_INPUT_DIR", "MCP_SAMPLING_SUPPORTED",
}

// reserved are further names that a project cannot list.
var reserved = []string{
	"LD_*", "DYLD_*", "BASH_FUNC_*", "_MCP*", "MCPBASH_*", "SHELLOPTS", "BASHOPTS", "PS4", "BASH_ENV", "ENV",
	"BASH_XTRACEFD", "IFS",
}

// windows are variables that programs on Windows need.
var windows = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP",
	"MSYSTEM", "MSYS2_ARG_CONV_EXCL",
}

// Matches reports whether a list contains a name. A final * of an entry matches any rest of the name.
func Matches(list []string, name string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		prefix, open := strings.CutSuffix(entry, "*")
		return name == entry || open && strings.HasPrefix(name, prefix)
	})
}

// ofTerminals are variables about a terminal, a person or how a process was started. Scripts have defaults for them.
var ofTerminals = []string{
	"CI", "CLICOLOR*", "COLORTERM", "COLUMNS", "DEBUG", "DISPLAY", "LC_*", "LINES", "LOGNAME", "LS_COLORS", "NO_COLOR",
	"TERM*", "USER", "VERBOSE", "WAYLAND_DISPLAY", "XDG_*",
}

// DropsValue reports whether scripts do not get the value that a variable has in env, the environment of the server.
// It is for variables that a script reads with a default.
func (r *Rule) DropsValue(name string, env map[string]string) bool {
	return env[name] != "" && r.Drops(name) && !Matches(ofTerminals, name)
}

// IsWithheld reports whether a variable is a secret of the server. A credential to publish reaches a script only if a
// list contains its name. No other started process gets a secret.
func IsWithheld(name string) bool { return IsRemoteToken(name) || publishes(name) }

// publishes reports whether a variable is a credential to publish: as this person, or as a workflow of GitHub.
func publishes(name string) bool {
	return name == "MCP_REGISTRY_TOKEN" || strings.HasPrefix(name, "ACTIONS_ID_TOKEN_REQUEST_")
}

// IsRemoteToken reports whether a variable belongs to the remote token or the record of calls, or configures the server
// over HTTP. No script gets such a variable, even if it is listed.
func IsRemoteToken(name string) bool {
	return strings.HasPrefix(name, "MCPBASH_REMOTE_TOKEN") || strings.HasPrefix(name, "MCPBASH_HTTP_") ||
		strings.HasPrefix(name, "MCPBASH_AUDIT")
}

// IsPlaceholder reports whether a value is a reference to an option of a bundle. Clients pass it if their user left the
// option empty.
func IsPlaceholder(value string) bool { return strings.HasPrefix(value, "${user_config.") }

// A Scope is one kind of scripts, with the variables that configure their environment.
type Scope struct {
	Label string // in messages
	// Mode, List and Leave are variables: the mode, the names for mode allowlist, and the
	// operator's permission for mode inherit.
	Mode, List, Leave string
	modes             []string // the default first
	keeps             []string // further names that pass in every mode
}

// Tools and Providers are the scopes. Completion scripts belong to Providers.
var (
	Tools = Scope{
		Label: "tools", Mode: "MCPBASH_TOOL_ENV_MODE", List: "MCPBASH_TOOL_ENV_ALLOWLIST",
		Leave: "MCPBASH_TOOL_ENV_INHERIT_ALLOW", modes: []string{Minimal, Allowlist, Inherit},
		keeps: []string{"PATH", "HOME", "TMPDIR", "LANG", "MCPBASH_*"},
	}
	Providers = Scope{
		Label: "providers", Mode: "MCPBASH_PROVIDER_ENV_MODE", List: "MCPBASH_PROVIDER_ENV_ALLOWLIST",
		Leave: "MCPBASH_PROVIDER_ENV_INHERIT_ALLOW", modes: []string{Isolate, Allowlist, Inherit},
		keeps: []string{
			"PATH", "HOME", "TMPDIR", "LANG", "LC_*", "MCPBASH_ENABLE_GIT_PROVIDER", "MCPBASH_GIT_*", "MCPBASH_HTTPS_*",
			"http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
		},
	}
)

// A Source is the origin of the mode and list of a scope.
type Source string

// Sources, as named in reports.
const (
	FromLaunch  Source = "launch env"
	FromMeta    Source = "server.meta.json"
	FromDefault Source = "default"
)

// A Rule decides which variables reach the scripts of one scope.
type Rule struct {
	Scope        *Scope
	Mode         string // as configured: Inherit also if it is not permitted
	Source       Source
	Names        []string // of the list
	InvalidNames []string // skipped entries of the list, which are not variable names
	Unknown      string   // a configured mode that does not exist, or ""; the default applies
	Leave        bool     // the operator permits Inherit
}

// Blocked reports whether the mode is Inherit without the operator's permission.
func (r *Rule) Blocked() bool { return r.Mode == Inherit && !r.Leave }

// Inherits reports whether the scripts get all variables except the server's secrets.
func (r *Rule) Inherits() bool { return r.Mode == Inherit && r.Leave }

// Passes reports whether a variable of the server's environment reaches the scripts. If the rule is
// [Rule.Blocked], the caller refuses tools or uses [Isolate] for providers.
func (r *Rule) Passes(name string) bool {
	switch {
	case IsRemoteToken(name):
		return false
	case r.Inherits():
		return !IsWithheld(name)
	case Matches(own, name), Matches(windows, name), Matches(r.Scope.keeps, name):
		return true
	}
	return r.Mode == Allowlist && slices.Contains(r.Names, name)
}

// A Policy has the rules of both scopes.
type Policy struct {
	Tools, Providers Rule
	Meta             Meta
	MetaIgnored      bool // MCPBASH_IGNORE_META_ENV
	// Applied are the settings of server.meta.json that are in effect. Scripts get them as variables.
	Applied map[string]string
}

// NewPolicy returns the policy for an environment and the object of server.meta.json. If the environment sets the mode
// or the list of a scope, both come from the environment.
func NewPolicy(env map[string]string, meta Meta) Policy {
	p := Policy{Meta: meta}
	switch env["MCPBASH_IGNORE_META_ENV"] {
	case "true", "1", "yes", "on":
		p.MetaIgnored = true
	}
	for scope, rule := range map[*Scope]*Rule{&Tools: &p.Tools, &Providers: &p.Providers} {
		given := func(name string) bool { return env[name] != "" && !IsPlaceholder(env[name]) }
		_, mode := meta.Values[scope.Mode]
		_, list := meta.Values[scope.List]
		switch {
		case given(scope.Mode) || given(scope.List):
			*rule = scope.rule(env, FromLaunch)
		case !p.MetaIgnored && (mode || list):
			*rule = scope.rule(meta.Values, FromMeta)
			if p.Applied == nil {
				p.Applied = map[string]string{}
			}
			for _, name := range []string{scope.Mode, scope.List} {
				if value, ok := meta.Values[name]; ok {
					p.Applied[name] = value
				}
			}
		default:
			*rule = scope.rule(nil, FromDefault)
		}
		rule.Leave = env[scope.Leave] == "true"
	}
	return p
}

// rule returns the rule for the mode and list in values. An unknown mode means the default one.
func (s *Scope) rule(values map[string]string, source Source) Rule {
	r := Rule{Scope: s, Source: source, Mode: strings.ToLower(values[s.Mode])}
	if !slices.Contains(s.modes, r.Mode) {
		if !IsPlaceholder(r.Mode) {
			r.Unknown = values[s.Mode]
		}
		r.Mode = s.modes[0]
	}
	if IsPlaceholder(values[s.List]) {
		return r
	}
	for _, name := range split(values[s.List]) {
		if isName(name) {
			r.Names = append(r.Names, name)
		} else {
			r.InvalidNames = append(r.InvalidNames, shown(name))
		}
	}
	return r
}

// Warning returns a warning about an unknown mode, or "".
func (r *Rule) Warning() string {
	if r.Unknown == "" {
		return ""
	}
	return fmt.Sprintf("%s=%s is not a mode; the default %s applies; the modes are %s", r.Scope.Mode, shown(r.Unknown),
		r.Mode, strings.Join(r.Scope.modes, ", "))
}

// Drops reports whether scripts lack a variable of the server's environment that they could get. Secrets of the server
// and variables of the shell itself do not count.
func (r *Rule) Drops(name string) bool {
	return !r.Passes(name) && !IsWithheld(name) && !slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, name)
}

// Remedy returns how to pass a variable on to the scripts: a line of server.meta.json, or the operator's settings if
// they decide.
func (r *Rule) Remedy(name string) string {
	var names []string
	if r.Mode == Allowlist {
		names = slices.Clone(r.Names)
	}
	list := strings.Join(append(names, name), ",")
	if r.Source == FromLaunch || Matches(reserved, name) {
		return fmt.Sprintf("set %s=%s and %s=%s in the environment of the server",
			r.Scope.Mode, Allowlist, r.Scope.List, list)
	}
	return fmt.Sprintf(`write "env": {%q: %q, %q: %q} in server.d/server.meta.json`, r.Scope.Mode, Allowlist, r.Scope.List,
		list)
}

// With returns the rule with another mode and list, and the same permission for Inherit.
func (r Rule) With(mode, list string) Rule {
	changed := r.Scope.rule(map[string]string{r.Scope.Mode: mode, r.Scope.List: list}, r.Source)
	changed.Leave = r.Leave
	return changed
}

// Environ returns the environment of scripts that inherit all variables. It includes the applied
// settings of server.meta.json. The result may be env itself.
func (p *Policy) Environ(env map[string]string) map[string]string {
	if len(p.Applied) == 0 {
		return env
	}
	env = maps.Clone(env)
	maps.Copy(env, p.Applied)
	return env
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r >= '\t' && r <= '\r' })
}

func isName(text string) bool {
	return text != "" && (text[0] < '0' || text[0] > '9') && !strings.ContainsFunc(text, isNoNameRune)
}

func isNoNameRune(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

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

// Lines returns the report as text.
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

// AppendJSON appends the report as JSON.
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
