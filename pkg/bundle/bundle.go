// Package bundle makes an MCP bundle of a project: one file that a client installs (cli chapter 14).
//
// Package stage copies and checks the content. This package adds pictures and the manifest. It packs the files under a
// temporary name, reads them back, and replaces a bundle of the same name. An error before that leaves the existing
// bundle unchanged.
package bundle

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/bundle/stage"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/text/lazyregexp"
)

type maker struct {
	*stage.Stage
	icon        string
	icons       []json.RawMessage
	screenshots []string
}

// Make makes the bundle of a project. version is a version of manifests, or "" for the default. With manifestOnly, it
// returns the manifest and writes nothing. The error can be a [*stage.Failure] or the context's.
func Make(ctx context.Context, s *stage.Stage, manifestOnly bool, version string) (*stage.Result, error) {
	b := &maker{Stage: s}
	b.NameAuthor()
	if err := b.addPictures(); err != nil {
		return nil, err
	}
	var manifest []byte
	err := b.Prepare(ctx, func() error {
		manifest = b.manifest(version)
		b.check(manifest)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r := b.Result(filepath.Join(b.Output, b.ID.FileName(".mcpb")))
	r.Manifest = manifest
	if manifestOnly || b.Validate {
		return r, nil
	}
	b.Line("Bundling project...")
	b.Done("Generated manifest.json")
	b.ShowResult(r)
	files := append([]mcpb.File{mcpb.Bytes(mcpb.ManifestName, false, manifest)}, b.Content.Files()...)
	return r, b.WriteArchive(ctx, r, files)
}

// check checks whether clients accept the manifest.
func (b *maker) check(manifest []byte) {
	doc, err := mcpb.ParseManifest(manifest)
	if err != nil {
		b.Fault("manifest: %v", err)
		return
	}
	for _, f := range mcpb.CheckManifest(doc) {
		b.Fault("manifest: %s", f)
	}
	for _, f := range mcpb.CheckFiles(doc, &b.Content.Names) {
		b.Fault("manifest: %s", f)
	}
	if !mcpb.IsName(b.ID.Name) {
		b.Warn("name %q: letters, digits, dot, dash and underscore are sure to work, 100 at most", b.ID.Name)
	}
}

var iconSize = lazyregexp.New(`^\d+x\d+$`)

// addPictures adds the icons and screenshots.
func (b *maker) addPictures() (err error) {
	if b.icon, err = b.AddIcon(); err != nil {
		return err
	}
	for v := range rawjson.Elements(rawjson.Get(b.Config.Meta, "icons")) {
		if err := b.addIcon(v); err != nil {
			return err
		}
	}
	for v := range rawjson.Elements(rawjson.Get(b.Config.Meta, "screenshots")) {
		src, _ := rawjson.Text(v)
		place, err := b.addPicture(src, "screenshot not found: %s (referenced in server.meta.json)")
		if err != nil {
			return err
		}
		if place != "" {
			b.Detail("Copied screenshot: %s", place)
			b.screenshots = append(b.screenshots, place)
		}
	}
	return nil
}

// addIcon adds an icon that has a size. The size is in "sizes", as MCP defines it, or in "size", as bundles do.
func (b *maker) addIcon(icon json.RawMessage) error {
	src, size := rawjson.TextOf(icon, "src"), rawjson.TextOf(icon, "size")
	for v := range rawjson.Elements(rawjson.Get(icon, "sizes")) {
		if text, _ := rawjson.Text(v); size == "" {
			size = text
		}
	}
	if strings.HasSuffix(strings.ToLower(src), ".svg") || !iconSize.MatchString(size) {
		b.Warn("icon %q is not in the manifest: clients take pictures with a size such as 48x48", src)
		return nil
	}
	place, err := b.addPicture(src, "icons src not found: %s (referenced in server.meta.json icons array)")
	if err != nil || place == "" {
		return err
	}
	b.Detail("Copied icon variant: %s", place)
	var out rawjson.Builder
	out.Object().Name("src").String(place).Name("size").String(size)
	out.Optional("theme", rawjson.TextOf(icon, "theme"))
	b.icons = append(b.icons, out.End().Bytes())
	return nil
}

// addPicture adds a picture and returns its path in the bundle, or "" if the picture is left out. It returns the URL of
// a picture on the web unchanged. missing is the warning for a file that does not exist.
func (b *maker) addPicture(src, missing string) (place string, err error) {
	if strings.HasPrefix(src, "https://") || strings.HasPrefix(src, "http://") || strings.HasPrefix(src, "data:") {
		return src, nil
	}
	for _, dir := range []string{b.Project.Root, b.Project.Server} {
		file := filepath.Join(dir, filepath.FromSlash(src))
		_, err := b.Project.ReadFile(file, stage.MaxPicture)
		if src == "" || err != nil {
			continue
		}
		rel, err := filepath.Rel(b.Project.Root, file)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		place = path.Clean(filepath.ToSlash(rel))
		name := place
		if strings.HasPrefix(place, "server/") || place == mcpb.ManifestName {
			place = "assets/" + place // server/ and the manifest have these paths
		}
		if ok, err := b.AddNamed(name, place); err != nil || !ok {
			return "", err
		}
		return place, nil
	}
	b.Warn(missing, src)
	return "", nil
}

// inBundle begins the path of a file of the bundle in its manifest.
const inBundle = "${__dirname}/"

func (b *maker) manifest(version string) []byte {
	id := b.ID
	var m rawjson.Builder
	list := func(name string, values []string) {
		if len(values) > 0 {
			m.Name(name).Strings(values)
		}
	}
	raw := func(name string, v json.RawMessage) {
		if !slices.Contains([]string{"", "null", "{}", "[]"}, string(rawjson.Normal(v))) {
			m.Name(name).Raw(v)
		}
	}
	m.Object().Name("manifest_version").String(cmp.Or(version, mcpb.Versions[0])).
		Name("name").String(id.Name).Name("version").String(id.Version).
		Name("display_name").String(id.Title).Name("description").String(id.Description)
	m.Optional("long_description", b.longDescription())
	m.Optional("icon", b.icon)
	appendAll(&m, "icons", b.icons)
	list("screenshots", b.screenshots)
	raw("localization", rawjson.Get(b.Config.Meta, "localization"))
	m.Optional("license", id.License)
	list("keywords", id.Keywords)
	m.Optional("homepage", id.Homepage)
	m.Optional("documentation", id.Documentation)
	m.Optional("support", b.Config.Text("MCPB_SUPPORT", "support"))
	list("privacy_policies", b.Config.Words("MCPB_PRIVACY_POLICIES", "privacy_policies"))
	m.Name("author").Object().Name("name").String(id.Author).Optional("email", id.Email).Optional("url", id.URL).End()
	if id.Repository != "" {
		m.Name("repository").Object().Name("type").String(id.RepositoryType).Name("url").String(id.Repository).End()
	}
	b.appendTools(&m)
	b.appendPrompts(&m)
	raw("user_config", b.User.Fields)
	raw("_meta", rawjson.Get(b.Config.Meta, "_meta"))
	b.appendServer(&m)
	b.appendCompatibility(&m)
	return append(rawjson.AppendIndent(nil, m.End().Bytes(), 0), '\n')
}

// appendAll appends a member whose value is an array. It appends nothing if there are no values.
func appendAll(m *rawjson.Builder, name string, values []json.RawMessage) {
	if len(values) == 0 {
		return
	}
	m.Name(name).Array()
	for _, v := range values {
		m.Raw(v)
	}
	m.End()
}

func (b *maker) longDescription() string {
	file := b.Config.Text("MCPB_LONG_DESCRIPTION_FILE", "long_description_file")
	if file == "" {
		return ""
	}
	text, err := b.Project.ReadFile(b.InProject(file), mcpb.MaxManifest/2)
	if err != nil {
		b.Warn("long_description_file not found: %s", file)
		return ""
	}
	return strings.TrimRight(string(text), "\r\n")
}

func (b *maker) appendTools(m *rawjson.Builder) {
	var tools []json.RawMessage
	for _, t := range b.Tools {
		var one rawjson.Builder
		tools = append(tools, one.Object().Name("name").String(rawjson.TextOf(t, "name")).
			Optional("description", rawjson.TextOf(t, "description")).End().Bytes())
	}
	appendAll(m, "tools", tools)
	if b.Content.HasBelow(stage.ServerDir + "/tools/") {
		m.Name("tools_generated").Bool(true)
	}
}

// appendPrompts lists the prompts whose file is one text, because a manifest can contain no others.
func (b *maker) appendPrompts(m *rawjson.Builder) {
	var prompts []json.RawMessage
	for _, item := range b.Prompts {
		path := rawjson.TextOf(item, "path")
		content, err := b.Staged.ReadFile(filepath.Join(b.Staged.Prompts, filepath.FromSlash(path)), mcpb.MaxManifest/4)
		text := strings.TrimRight(string(content), "\r\n")
		if err != nil || text == "" || rawjson.TextOf(item, "format") != "" {
			continue
		}
		arguments := argumentNames(rawjson.Get(item, "arguments"))
		var p rawjson.Builder
		p.Object().Name("name").String(rawjson.TextOf(item, "name")).
			Optional("description", rawjson.TextOf(item, "description"))
		if len(arguments) > 0 {
			p.Name("arguments").Strings(arguments)
		}
		for _, name := range arguments {
			gap := regexp.MustCompile(`\{\{\s*` + regexp.QuoteMeta(name) + `\s*\}\}`)
			text = gap.ReplaceAllLiteralString(text, "${arguments."+name+"}")
		}
		prompts = append(prompts, p.Name("text").String(text).End().Bytes())
	}
	appendAll(m, "prompts", prompts)
	if b.Content.HasBelow(stage.ServerDir + "/prompts/") {
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

func (b *maker) appendServer(m *rawjson.Builder) {
	base := start{command: inBundle + stage.EntryPoint, args: []string{}, env: b.environment()}
	for _, key := range b.User.Args {
		if len(base.args) == 0 {
			base.args = []string{"serve", "--"}
		}
		base.args = append(base.args, "${user_config."+key+"}")
	}
	m.Name("server").Object().Name("type").String("binary").Name("entry_point").String(stage.EntryPoint).
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

// environment returns the variables with which the client starts the server.
func (b *maker) environment() (env []rawjson.Member) {
	add := func(name, value string) { env = append(env, rawjson.Member{Name: name, Value: rawjson.Quote(value)}) }
	add("MCPBASH_PROJECT_ROOT", inBundle+stage.ServerDir)
	for _, entry := range b.Environment() {
		name, value, _ := strings.Cut(entry, "=")
		add(name, value)
	}
	for _, m := range b.User.Env {
		add(m.Variable, "${user_config."+m.Key+"}")
	}
	return env
}

// overrides returns the start commands of the platforms that need another one: Windows, which cannot start scripts, and
// the platforms that the project configures. A client replaces args and env as a whole, so each override is complete.
func (b *maker) overrides(base start) map[string]start {
	all := map[string]start{}
	for _, bin := range b.Binaries {
		if bin.OS == "windows" && all["win32"].command == "" { // Windows runs amd64 programs on every machine
			s := base
			s.command = inBundle + stage.ServerDir + "/" + runtimes.Dir + "/bin/" + bin.Path()
			all["win32"] = s
		}
	}
	given := rawjson.Path(b.Config.Meta, "server", "mcp_config", "platform_overrides")
	if given == nil {
		given = rawjson.Get(b.Config.Meta, "platform_overrides")
	}
	for _, m := range rawjson.Members(given) {
		s, ok := all[m.Name]
		if !ok {
			s = base
		}
		if command := rawjson.TextOf(m.Value, "command"); command != "" {
			if b.Content.Has(command) {
				command = inBundle + command
			}
			s.command = command
		}
		if args := rawjson.Get(m.Value, "args"); args != nil {
			s.args = []string{}
			for v := range rawjson.Elements(args) {
				s.args = append(s.args, stage.Scalar(v))
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
			if switchesOn(v.Name, strings.Trim(string(v.Value), `"`)) { // CLI-1444
				b.Warn("platform_overrides.%s.env turns on %s, which is for whoever runs the server to decide; leave it out",
					m.Name, v.Name)
			}
		}
		all[m.Name] = s
	}
	return all
}

func (b *maker) appendCompatibility(m *rawjson.Builder) {
	m.Name("compatibility").Object().Name("platforms").Strings(b.Platforms())
	m.Optional("claude_desktop", b.Config.Text("MCPB_COMPAT_CLAUDE_DESKTOP", "compatibility", "claude_desktop"))
	python := b.Config.Text("MCPB_RUNTIME_PYTHON", "compatibility", "runtimes", "python")
	node := b.Config.Text("MCPB_RUNTIME_NODE", "compatibility", "runtimes", "node")
	if python != "" || node != "" {
		m.Name("runtimes").Object().Optional("python", python).Optional("node", node).End()
	}
	m.End()
}

// switchesOn reports whether a value of a variable gives a permission that only the operator of a server may give.
func switchesOn(name, value string) bool {
	off := []string{"", "0", "false", "no", "off"}
	switch name {
	case scriptenv.Tools.Leave, scriptenv.Providers.Leave, "MCPBASH_ALLOW_PROJECT_HOOKS",
		"MCPBASH_ALLOW_JSON_TOOL_OVERRIDE_FOR_ROOT", "MCPBASH_ALLOW_CORRUPT_STDOUT", "MCPBASH_SERVER_SOURCE_ENV",
		"MCPBASH_ENABLE_GIT_PROVIDER", "MCPBASH_GIT_ALLOW_ALL", "MCPBASH_HTTPS_ALLOW_ALL", "MCPBASH_RESOURCES_USE_ROOTS":
	case scriptenv.Tools.Mode, scriptenv.Providers.Mode:
		off = []string{"", scriptenv.Minimal, scriptenv.Isolate, scriptenv.Allowlist}
	case "MCPBASH_CONFINE":
		off = []string{"", "declared", "declared,required", "all", "all,required"}
	case "MCPBASH_SECURITY_LEVEL":
		off = []string{"", "restricted", "standard", "elevated"}
	default:
		return false
	}
	return !slices.Contains(off, strings.ToLower(value))
}
