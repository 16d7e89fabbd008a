package validate

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/lib"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate/internal/bash32"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/urimatch"
	"mcp-bash/sdk"
)

// sharedRules are rules of [Rules] that also describe differences to the Bash edition.
var sharedRules = []string{
	"policy.replaces_default", "path.insecure", "env.invalid", "env.refused", "resource.wrong_type",
	"resource.unreadable_uri",
	"metadata.ignored", "schema.invalid", "icons.unreadable", "roots.unusable", "ignored.setting", "ignored.file",
	"ignored.field",
}

// Migrate finds parts of a project that behave differently from the Bash edition. It starts no
// program and changes nothing. The error is the context's.
func Migrate(ctx context.Context, p *project.Project, found func(*finding.Finding)) (*Result, error) {
	m := &migration{check: newCheck(ctx, p, Options{Found: found}), texts: map[string]*bash32.Script{}}
	m.check.only = map[string]bool{}
	for _, id := range sharedRules {
		m.only[id] = true
	}
	for _, rule := range Rules() {
		m.only[rule.ID] = m.only[rule.ID] || strings.HasPrefix(rule.ID, "migrate.")
	}
	m.offered = m.loadRegistry()
	m.sections()
	m.section = inServer
	m.policyScript()
	m.pins()
	m.vendored()
	m.section = inTools
	m.toolScripts()
	m.section = inPrompts
	m.completionScripts()
	m.section = inResources
	m.ownProviders()
	m.templates()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	finding.Sort(m.result.Findings)
	return m.result, nil
}

type migration struct {
	*check
	texts     map[string]*bash32.Script // by path; nil for a file that is not valid Bash
	functions map[string]bool           // functions of the SDK; nil before the first use
}

// read parses a script of the project. It returns nil for other languages.
func (m *migration) read(file string) *bash32.Script {
	if s, known := m.texts[file]; known {
		return s
	}
	m.texts[file] = nil
	if text, _, err := folder.ReadFile(file, maxScript); err == nil && isBash(file, script.Interpreter(firstLine(text))) {
		m.texts[file], _ = bash32.Read(text)
	}
	return m.texts[file]
}

// A unit is a script and the files that it sources.
type unit struct {
	files   []string // files that can be read
	unknown bool     // a sourced file cannot be determined without running the script
	missing []missing
}

// A missing is a file of the Bash edition that a script sources and that does not exist in this one.
type missing struct {
	file, name string
	line       int
}

func (m *migration) unitOf(file string) *unit {
	u := &unit{}
	m.follow(u, file)
	return u
}

func (m *migration) follow(u *unit, file string) {
	s := m.read(file)
	if s == nil || slices.Contains(u.files, file) {
		u.unknown = u.unknown || s == nil
		return
	}
	u.files = append(u.files, file)
	for _, c := range s.Commands {
		if len(c.Words) < 2 || c.Words[0] != "source" && c.Words[0] != "." {
			continue
		}
		if name, ours := frameworkFile(c.Words[1]); ours {
			if !installed(name) {
				u.missing = append(u.missing, missing{file, name, c.Line})
			}
		} else if found := m.sourced(file, c.Words[1]); found != "" {
			m.follow(u, found)
		} else {
			u.unknown = true
		}
	}
}

// frameworkFile returns the file of the installation in a word, such as lib/path.sh.
func frameworkFile(word string) (name string, ok bool) {
	for _, prefix := range []string{"$MCPBASH_HOME/", "$MCP_SDK/../"} {
		if rest, ok := strings.CutPrefix(word, prefix); ok && !strings.Contains(rest, "$") {
			return path.Clean(rest), true
		}
	}
	if rest, ok := strings.CutPrefix(word, "$MCP_SDK/"); ok && !strings.Contains(rest, "$") {
		return path.Join("sdk", rest), true
	}
	return "", false
}

// installed reports whether an installation has a file below sdk or lib. It returns true for unknown directories.
func installed(name string) bool {
	dir, file := path.Split(name)
	var err error
	switch dir {
	case "sdk/":
		_, err = fs.Stat(sdk.Files, file)
	case "lib/":
		_, err = fs.Stat(lib.Files, file)
	case "handlers/", "lib/cli/":
		return false
	}
	return err == nil
}

// sourced returns the file of the project for a word, or "". It looks for the literal end of the
// word in the directory of the script and in its parents.
func (m *migration) sourced(from, word string) string {
	parts := strings.Split(word, "/")
	for i, part := range parts {
		if part == "." || part == ".." || strings.Contains(part, "$") {
			parts[i] = ""
		}
	}
	at := len(parts)
	for at > 0 && parts[at-1] != "" {
		at--
	}
	if tail := path.Join(parts[at:]...); tail != "" {
		for dir := filepath.Dir(from); ; dir = filepath.Dir(dir) {
			if file := abs(dir, tail); isFile(file) && !m.overLink(file) {
				return file
			}
			if dir == m.p.Root || dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return ""
}

// inspect checks whether a script and its sourced files use features that no longer exist.
func (m *migration) inspect(file string, rule *scriptenv.Rule) {
	if m.read(file) == nil {
		m.foreign(file, rule)
		return
	}
	u := m.unitOf(file)
	for _, gone := range u.missing {
		if m.once("library " + gone.file + " " + gone.name) {
			m.atLine("migrate.library_missing", m.label(gone.file), gone.line, "sources %s, which does not exist here",
				gone.name)
		}
	}
	own, defined := map[string]bool{}, map[string]bool{}
	for _, file := range u.files {
		s := m.texts[file]
		for _, set := range s.Settings {
			own[set.Name.Name] = own[set.Name.Name] || !set.ReadsOwn
		}
		for _, f := range s.Functions {
			defined[f.Name] = true
		}
		for _, c := range s.Commands {
			if slices.Contains([]string{"declare", "typeset", "type", "command"}, c.Words[0]) {
				for _, word := range c.Words[1:] {
					defined[word] = true // the script checks whether it exists
				}
			}
		}
	}
	for _, file := range u.files {
		m.reads(file, rule, own)
		m.calls(file, defined, u.unknown)
	}
}

func (m *migration) reads(file string, rule *scriptenv.Rule, own map[string]bool) {
	_, internalState := settings.Ignored()
	for _, v := range m.texts[file].Reads {
		isInternal := scriptenv.Matches(internalState, v.Name)
		isDropped := strings.HasPrefix(v.Name, "MCP_") && !rule.Passes(v.Name)
		switch {
		case own[v.Name], !isInternal && !isDropped, !m.once("variable " + file + " " + v.Name):
		case isInternal:
			m.atLine("migrate.variable_internal", m.label(file), v.Line,
				"reads %s, a variable inside the Bash edition that does not exist here", v.Name)
		default:
			m.add(finding.Finding{ID: "migrate.variable_dropped", Path: m.label(file), Line: v.Line, Fix: listIt(v.Name, rule),
				Message: fmt.Sprintf("reads %s, which %s do not get", v.Name, rule.Scope.Label)})
		}
	}
}

func listIt(name string, rule *scriptenv.Rule) string {
	return fmt.Sprintf(`add %s to %s in "env" of server.d/server.meta.json, with %s set to %q`, name, rule.Scope.List,
		rule.Scope.Mode, scriptenv.Allowlist)
}

// calls reports functions that neither the SDK nor the script defines, and changed defaults.
func (m *migration) calls(file string, defined map[string]bool, unknown bool) {
	for _, c := range m.texts[file].Commands {
		name := c.Words[0]
		if (name == "mcp_args_get" || name == "mcp_meta_get") && slices.Contains(c.Words, "--default") &&
			m.once("default "+file) {
			m.atLine("migrate.empty_default", m.label(file), c.Line, "%s --default gives the default for an empty text, too",
				name)
		}
		if strings.HasPrefix(name, "mcp_") && !strings.Contains(name, "$") && !unknown && !defined[name] && !m.inSDK(name) &&
			m.once("function "+file+" "+name) {
			m.atLine("migrate.function_unknown", m.label(file), c.Line, "calls %s, which the SDK does not have", name)
		}
	}
}

// inSDK reports whether the SDK, or a file of lib, defines a function.
func (m *migration) inSDK(name string) bool {
	if m.functions == nil {
		m.functions = map[string]bool{}
		for _, files := range []fs.ReadFileFS{sdk.Files, lib.Files} {
			names, _ := fs.Glob(files, "*.sh")
			for _, file := range names {
				text, _ := files.ReadFile(file)
				if s, ok := bash32.Read(text); ok {
					for _, f := range s.Functions {
						m.functions[f.Name] = true
					}
				}
			}
		}
	}
	return m.functions[name]
}

var anyVariable = lazyregexp.New(`\bMCP_[A-Z][A-Z0-9_]*`)

// foreign reports variables in a script of another language, perhaps in a comment.
func (m *migration) foreign(file string, rule *scriptenv.Rule) {
	text, _, err := folder.ReadFile(file, maxScript)
	if err != nil || !media.IsText(text) {
		return
	}
	for _, at := range anyVariable.FindAllIndex(text, -1) {
		name := string(text[at[0]:at[1]])
		if !rule.Passes(name) && m.once("variable "+file+" "+name) {
			m.add(finding.Finding{ID: "migrate.variable_dropped", Severity: finding.Info, Path: m.label(file),
				Line: 1 + strings.Count(string(text[:at[0]]), "\n"), Fix: listIt(name, rule),
				Message: fmt.Sprintf("names %s, which %s do not get", name, rule.Scope.Label)})
		}
	}
}

func (m *migration) toolScripts() {
	var unlimited []string
	first := ""
	for _, o := range m.offered.items[kinds.Tools] {
		if o.path != "" {
			m.inspect(abs(m.p.Tools, path.Clean(o.path)), &m.p.Scripts.Tools)
		}
		if rawjson.Absent(rawjson.Get(o.json, "timeoutSecs")) {
			unlimited = append(unlimited, o.name)
			if first == "" {
				first = m.labelOf(o)
			}
		}
	}
	if unlimited != nil && m.p.Env["MCPBASH_DEFAULT_TOOL_TIMEOUT"] == "" {
		m.at("migrate.tool_limit", first, "tools without timeoutSecs end after 30 s: %s", cli.Some(unlimited, 5))
	}
}

// policyScript reports permissions that policy.sh tries to grant.
func (m *migration) policyScript() {
	policy := code.Policy.In(m.p).Path()
	if s := m.read(policy); s != nil {
		for _, set := range s.Settings {
			if set.Name.Name == scriptenv.Tools.Leave || set.Name.Name == scriptenv.Tools.Mode &&
				set.Value == scriptenv.Inherit {
				m.atLine("migrate.policy_permission", m.label(policy), set.Line,
					"sets %s, which permits nothing: only the operator can", set.Name.Name)
			}
		}
	}
}

// isFirst matches a version or pattern of release 1.
var isFirst = lazyregexp.New(`^\^?v?1(\\?\.|\*|$)`)

// versionTests reports comparisons that are true only for release 1.
func (m *migration) versionTests(file string) {
	s := m.read(file)
	if s == nil {
		return
	}
	for _, c := range s.Compared {
		if c.Name.Name == "MCPBASH_FRAMEWORK_VERSION" && isFirst.MatchString(c.With) {
			m.atLine("migrate.version_test", m.label(file), c.Line, "compares the version with %s; it is 2.0.0 or later", c.With)
		}
	}
}

// pinned matches a line that sets the version of the framework to release 0 or 1.
var pinned = lazyregexp.New(`(?m)^[^#\n]*?\b([A-Z0-9_]*(?:FRAMEWORK|MCP_?BASH)[A-Z0-9_]*VERSION[A-Z0-9_]*)` +
	`["']?\s*[:?]?[:=]\s*["']?` +
	`(?:\$\{[A-Za-z0-9_]+:?[-=])?v?([01]\.[0-9]+(?:\.[0-9]+)?)\b`)

// installs matches a line that installs release 0 or 1 with install.sh.
var installs = lazyregexp.New(`(?m)^[^#\n]*\binstall\.sh\b[^\n]*--(?:version|ref|branch)[ =]["']?` +
	`v?([01]\.[0-9]+(?:\.[0-9]+)?)\b`)

// pins reports versions of the Bash edition in files that install and start the server.
func (m *migration) pins() {
	for _, file := range m.starters() {
		m.versionTests(file)
		text, _, err := folder.ReadFile(file, maxScript)
		if err != nil || !media.IsText(text) {
			continue
		}
		for _, pin := range []*lazyregexp.Regexp{pinned, installs} {
			for _, at := range pin.FindAllStringSubmatchIndex(string(text), -1) {
				begin, end := at[len(at)-2], at[len(at)-1] // of the version
				if hasName := len(at) > 4; hasName && strings.Contains(string(text[at[2]:at[3]]), "MIN") {
					continue
				}
				line := 1 + strings.Count(string(text[:begin]), "\n")
				m.atLine("migrate.version_pin", m.label(file), line, "asks for version %s of the Bash edition", text[begin:end])
			}
		}
	}
}

// starters returns the files that usually install or start a server, and all scripts of the server directory.
func (m *migration) starters() (list []string) {
	for _, pattern := range []string{
		"*.sh", "*.bash", "Dockerfile*", "Containerfile", "Makefile", "*.yml", "*.yaml", ".env", "bin/*", "scripts/*",
		".github/workflows/*.yml", ".github/workflows/*.yaml",
	} {
		found, _ := filepath.Glob(filepath.Join(globEscape(m.p.Root), filepath.FromSlash(pattern)))
		list = append(list, found...)
	}
	found, _ := filepath.Glob(filepath.Join(globEscape(m.p.Server), "*.sh"))
	list = append(list, found...)
	for _, o := range m.offered.items[kinds.Tools] {
		if o.path != "" {
			list = append(list, m.unitOf(abs(m.p.Tools, path.Clean(o.path))).files...)
		}
	}
	slices.Sort(list)
	return slices.DeleteFunc(slices.Compact(list), func(file string) bool { return !isFile(file) || m.overLink(file) })
}

// overLink reports whether the path of a project file contains a symbolic link.
func (m *migration) overLink(file string) bool {
	for file != m.p.Root && strings.HasPrefix(file, m.p.Root) {
		if isLink(file) {
			return true
		}
		file = filepath.Dir(file)
	}
	return false
}

func (m *migration) vendored() {
	file := abs(m.p.Root, runtimes.Dir+"/vendor.json")
	text, _, err := folder.ReadFile(file, maxSmall)
	if err != nil {
		return
	}
	doc, err := rawjson.Check(text)
	version := strings.TrimPrefix(rawjson.TextOf(doc, "version"), "v")
	if err == nil && (strings.HasPrefix(version, "0.") || strings.HasPrefix(version, "1.")) {
		m.at("migrate.vendored", m.label(file), "%s/ contains version %s of the Bash edition, which keeps running",
			runtimes.Dir, version)
	}
}

func (m *migration) ownProviders() {
	entries, _ := os.ReadDir(m.p.Providers)
	for _, e := range entries {
		name, isScript := strings.CutSuffix(e.Name(), ".sh")
		file := filepath.Join(m.p.Providers, e.Name())
		if !isScript || !isFile(file) {
			continue
		}
		m.inspect(file, &m.p.Scripts.Providers)
		if !slices.Contains(provider.Names, name) && !m.declares(name) {
			f := finding.Finding{ID: "migrate.scheme_undeclared", Path: m.label(file),
				Message: fmt.Sprintf("no template and no resource declares %s://, so no client can read such a URI", name),
				Fix:     fmt.Sprintf("add a template such as %s://{id}, or list the resources in resources/", name)}
			if isFile(abs(m.p.Server, "register.sh")) {
				f.Severity = finding.Info // register.sh may declare the scheme
			}
			m.add(f)
		}
	}
}

// declares reports whether clients can reach a provider of the project (RES-32a).
func (m *migration) declares(name string) bool {
	return slices.ContainsFunc(m.offered.items[kinds.Resources], func(o offer) bool {
		return urimatch.Scheme(rawjson.TextOf(o.json, "uri")) == name || rawjson.TextOf(o.json, "provider") == name
	}) || slices.ContainsFunc(m.offered.items[kinds.Templates], func(o offer) bool {
		return urimatch.Scheme(rawjson.TextOf(o.json, kinds.URITemplate)) == name
	})
}

// templates reports templates whose values no provider gets.
func (m *migration) templates() {
	for _, o := range m.offered.items[kinds.Templates] {
		text := rawjson.TextOf(o.json, kinds.URITemplate)
		if urimatch.Matchable(text) {
			continue
		}
		f := finding.Finding{ID: "migrate.template_unmatched", Severity: finding.Info, Path: m.describing(o),
			Message: fmt.Sprintf("template %q: %s is of a form that no URI is matched with", o.name, text)}
		if s := m.read(abs(m.p.Providers, urimatch.Scheme(text)+".sh")); s != nil && slices.ContainsFunc(s.Reads,
			func(v bash32.Name) bool { return strings.HasPrefix(v.Name, "MCP_RESOURCE_TEMPLATE_") }) {
			f.Severity, f.Message = finding.Warning, f.Message+", and its provider reads the values"
		}
		m.add(f)
	}
}

// completionScripts checks registered completion scripts, and those next to prompts and resources.
func (m *migration) completionScripts() {
	var registered, companions []string
	for _, o := range m.offered.items[kinds.Completions] {
		file := abs(m.p.Root, o.path)
		m.inspect(file, &m.p.Scripts.Providers)
		if rawjson.Absent(rawjson.Get(o.json, "timeoutSecs")) {
			registered = append(registered, m.label(file))
		}
	}
	for _, tree := range []struct {
		dir   string
		kinds []*kinds.Kind
	}{{m.p.Prompts, []*kinds.Kind{kinds.Prompts}}, {m.p.Resources, []*kinds.Kind{kinds.Resources, kinds.Templates}}} {
		sidecars(tree.dir, func(rel, base string) {
			file := abs(tree.dir, rel)
			switch {
			case m.isOffered(tree.kinds, rel):
			case m.completes(tree.kinds, rel, base):
				m.inspect(file, &m.p.Scripts.Providers)
				companions = append(companions, m.label(file))
			default:
				m.at("migrate.completion_unused", m.label(file), "completes nothing, and is not offered as content")
			}
		})
	}
	for _, limit := range []struct {
		files             []string
		variable, seconds string
	}{
		{registered, "MCPBASH_COMPLETION_REGISTERED_TIMEOUT_SECS", "30"}, {companions, "MCPBASH_COMPLETION_TIMEOUT_SECS",
			"5"},
	} {
		if limit.files != nil && m.p.Env[limit.variable] == "" {
			m.at("migrate.completion_limit", limit.files[0], "completion scripts end after %s s: %s", limit.seconds,
				cli.Some(limit.files, 5))
		}
	}
}

func (m *migration) isOffered(of []*kinds.Kind, rel string) bool {
	return slices.ContainsFunc(of, func(k *kinds.Kind) bool {
		return slices.ContainsFunc(m.offered.items[k], func(o offer) bool { return path.Clean(o.path) == rel })
	})
}

// completes reports whether a completion script belongs to an item (R-83, R-83a).
func (m *migration) completes(of []*kinds.Kind, rel, base string) bool {
	dir := path.Dir(rel)
	for _, k := range of {
		for _, o := range m.offered.items[k] {
			file := path.Clean(o.path)
			switch {
			case k == kinds.Templates:
				if o.name == base && (dir == "." || dir == base) {
					return true
				}
			case o.path != "" && path.Dir(file) == dir &&
				(path.Base(file) == base || strings.TrimSuffix(path.Base(file), path.Ext(file)) == base):
				return true
			}
		}
	}
	return false
}

func globEscape(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}
