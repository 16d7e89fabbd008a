package bundle

import (
	"cmp"
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/json/rawjson"
)

// The layout of a bundle (CLI-1421).
const (
	serverDir  = "server"
	entryPoint = serverDir + "/run-server.sh"
	inBundle   = "${__dirname}/"
)

func (b *builder) manifest() []byte {
	c, id := b.config, b.id
	var m rawjson.Builder
	text := func(name, value string) {
		if value != "" {
			m.Name(name).String(value)
		}
	}
	list := func(name string, values []string) {
		if len(values) > 0 {
			m.Name(name).Strings(values)
		}
	}
	raw := func(name string, v json.RawMessage) {
		if !isEmpty(v) {
			m.Name(name).Raw(v)
		}
	}
	m.Object().Name("manifest_version").String(cmp.Or(b.o.ManifestVersion, mcpb.Versions[0])).
		Name("name").String(id.name).Name("version").String(id.version).
		Name("display_name").String(id.title).Name("description").String(id.description)
	text("long_description", b.longDescription())
	text("icon", b.images.icon)
	if len(b.images.icons) > 0 {
		m.Name("icons").Array()
		for _, icon := range b.images.icons {
			m.Raw(icon)
		}
		m.End()
	}
	list("screenshots", b.images.screenshots)
	raw("localization", rawjson.Get(c.meta, "localization"))
	text("license", c.text("MCPB_LICENSE", "license"))
	list("keywords", c.words("MCPB_KEYWORDS", "keywords"))
	text("homepage", cmp.Or(c.text("MCPB_HOMEPAGE", "homepage"), c.text("", "websiteUrl")))
	text("documentation", c.text("MCPB_DOCUMENTATION", "documentation"))
	text("support", c.text("MCPB_SUPPORT", "support"))
	list("privacy_policies", c.words("MCPB_PRIVACY_POLICIES", "privacy_policies"))
	m.Name("author").Object().Name("name").String(id.author)
	text("email", id.email)
	text("url", id.url)
	m.End()
	if id.repository != "" {
		m.Name("repository").Object().Name("type").String(id.repositoryType).Name("url").String(id.repository).End()
	}
	b.appendTools(&m)
	b.appendPrompts(&m)
	raw("user_config", b.user.fields)
	raw("_meta", rawjson.Get(c.meta, "_meta"))
	b.appendServer(&m)
	b.appendCompatibility(&m)
	return append(rawjson.AppendIndent(nil, m.End().Bytes(), 0), '\n')
}

func isEmpty(v json.RawMessage) bool {
	text := string(rawjson.Normal(v))
	return text == "" || text == "null" || text == "{}" || text == "[]"
}

func (b *builder) longDescription() string {
	file := b.config.text("MCPB_LONG_DESCRIPTION_FILE", "long_description_file")
	if file == "" {
		return ""
	}
	text, err := b.p.ReadFile(b.inProject(file), mcpb.MaxManifest/2)
	if err != nil {
		b.say.warn("long_description_file not found: %s", file)
		return ""
	}
	return strings.TrimRight(string(text), "\r\n")
}

func (b *builder) appendTools(m *rawjson.Builder) {
	if len(b.offered.tools) > 0 {
		m.Name("tools").Array()
		for _, t := range b.offered.tools {
			m.Object().Name("name").String(rawjson.TextOf(t, "name"))
			if description := rawjson.TextOf(t, "description"); description != "" {
				m.Name("description").String(description)
			}
			m.End()
		}
		m.End()
	}
	if b.content.has(serverDir + "/tools/") {
		m.Name("tools_generated").Bool(true)
	}
}

// appendPrompts lists the prompts that are one text, as the manifest knows them.
func (b *builder) appendPrompts(m *rawjson.Builder) {
	var prompts []json.RawMessage
	for _, item := range b.offered.prompts {
		path := rawjson.TextOf(item, "path")
		content, err := b.staged.ReadFile(filepath.Join(b.staged.Prompts, filepath.FromSlash(path)), mcpb.MaxManifest/4)
		text := strings.TrimRight(string(content), "\r\n")
		if err != nil || text == "" || rawjson.TextOf(item, "format") != "" {
			continue
		}
		arguments := argumentNames(rawjson.Get(item, "arguments"))
		var p rawjson.Builder
		p.Object().Name("name").String(rawjson.TextOf(item, "name"))
		if description := rawjson.TextOf(item, "description"); description != "" {
			p.Name("description").String(description)
		}
		if len(arguments) > 0 {
			p.Name("arguments").Strings(arguments)
		}
		for _, name := range arguments {
			gap := regexp.MustCompile(`\{\{\s*` + regexp.QuoteMeta(name) + `\s*\}\}`)
			text = gap.ReplaceAllLiteralString(text, "${arguments."+name+"}")
		}
		prompts = append(prompts, p.Name("text").String(text).End().Bytes())
	}
	if len(prompts) > 0 {
		m.Name("prompts").Array()
		for _, p := range prompts {
			m.Raw(p)
		}
		m.End()
	}
	if b.content.has(serverDir + "/prompts/") {
		m.Name("prompts_generated").Bool(true)
	}
}

func argumentNames(arguments json.RawMessage) (names []string) {
	for _, m := range rawjson.Members(rawjson.Get(arguments, "properties")) {
		names = append(names, m.Name)
	}
	for v := range rawjson.Elements(arguments) {
		if name := rawjson.TextOf(v, "name"); name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// A start is the command with which a client starts the server on a platform.
type start struct {
	command string
	args    []string
	env     []rawjson.Member
}

func (b *builder) appendServer(m *rawjson.Builder) {
	base := start{command: inBundle + entryPoint, args: []string{}, env: b.environment()}
	for _, key := range b.user.args {
		if len(base.args) == 0 {
			base.args = []string{"serve", "--"}
		}
		base.args = append(base.args, "${user_config."+key+"}")
	}
	entry := entryPoint
	m.Name("server").Object().Name("type").String("binary").Name("entry_point").String(entry).
		Name("mcp_config").Object()
	base.append(m)
	overrides := b.overrides(base)
	if len(overrides) > 0 {
		m.Name("platform_overrides").Object()
		for _, platform := range slices.Sorted(maps.Keys(overrides)) {
			m.Name(platform).Object()
			overrides[platform].append(m)
			m.End()
		}
		m.End()
	}
	m.End().End()
}

func (s start) append(m *rawjson.Builder) {
	m.Name("command").String(s.command).Name("args").Strings(s.args).Name("env").Object()
	for _, v := range s.env {
		m.Name(v.Name).Raw(v.Value)
	}
	m.End()
}

// environment is what the server is started with (CLI-1426).
func (b *builder) environment() (env []rawjson.Member) {
	add := func(name, value string) { env = append(env, rawjson.Member{Name: name, Value: rawjson.Quote(value)}) }
	add("MCPBASH_PROJECT_ROOT", inBundle+serverDir)
	add("MCPBASH_TOOL_ALLOWLIST", "*")
	if b.static {
		add("MCPBASH_STATIC_REGISTRY", "1")
	}
	for _, m := range b.user.env {
		add(m.Variable, "${user_config."+m.Key+"}")
	}
	return env
}

// overrides returns the platforms with other start commands: Windows, which cannot start scripts,
// and those that the project configures. A client replaces args and env as a whole, so each
// override is complete (CLI-1429).
func (b *builder) overrides(base start) map[string]start {
	all := map[string]start{}
	for _, bin := range b.binaries {
		if bin.OS == "windows" && all["win32"].command == "" { // that for amd64 runs everywhere
			s := base
			s.command = inBundle + serverDir + "/" + runtimes.Dir + "/bin/" + bin.Path()
			all["win32"] = s
		}
	}
	given := rawjson.Path(b.config.meta, "server", "mcp_config", "platform_overrides")
	if given == nil {
		given = rawjson.Get(b.config.meta, "platform_overrides")
	}
	for _, m := range rawjson.Members(given) {
		s, ok := all[m.Name]
		if !ok {
			s = base
		}
		if command := rawjson.TextOf(m.Value, "command"); command != "" {
			if ok, _ := b.content.names.Has(command); ok {
				command = inBundle + command
			}
			s.command = command
		}
		if args := rawjson.Get(m.Value, "args"); args != nil {
			s.args = []string{}
			for v := range rawjson.Elements(args) {
				s.args = append(s.args, scalar(v))
			}
		}
		s.env = slices.Clone(s.env)
		for _, v := range rawjson.Members(rawjson.Get(m.Value, "env")) {
			at := slices.IndexFunc(s.env, func(e rawjson.Member) bool { return e.Name == v.Name })
			if at < 0 {
				s.env = append(s.env, v)
			} else {
				s.env[at] = v
			}
		}
		b.checkSwitches(m.Name, rawjson.Members(rawjson.Get(m.Value, "env")))
		all[m.Name] = s
	}
	return all
}

func (b *builder) appendCompatibility(m *rawjson.Builder) {
	given := rawjson.Get(b.config.meta, "compatibility")
	m.Name("compatibility").Object().Name("platforms").Strings(b.platforms())
	if v := cmp.Or(b.config.text("MCPB_COMPAT_CLAUDE_DESKTOP", ""), rawjson.TextOf(given, "claude_desktop")); v != "" {
		m.Name("claude_desktop").String(v)
	}
	python := cmp.Or(b.config.text("MCPB_RUNTIME_PYTHON", ""), scalar(rawjson.Path(given, "runtimes", "python")))
	node := cmp.Or(b.config.text("MCPB_RUNTIME_NODE", ""), scalar(rawjson.Path(given, "runtimes", "node")))
	if python != "" || node != "" {
		m.Name("runtimes").Object()
		if python != "" {
			m.Name("python").String(python)
		}
		if node != "" {
			m.Name("node").String(node)
		}
		m.End()
	}
	m.End()
}

// platforms are those that there is a binary for.
func (b *builder) platforms() (list []string) {
	for _, platform := range runtimes.Platforms {
		if slices.ContainsFunc(b.binaries, func(bin runtimes.Binary) bool { return bin.Platform() == platform }) {
			list = append(list, platform)
		}
	}
	return list
}
