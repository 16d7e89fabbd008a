package validate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/bundle/userenv"
	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate/internal/bash32"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/feature/skill"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/files/media"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/file"
	"mcp-bash/pkg/provider/location"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/registry/lock"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/envfile"
	"mcp-bash/pkg/text/urimatch"
	"mcp-bash/schemas"
)

func (c *check) server() {
	file := abs(c.p.Server, "server.meta.json")
	label := c.label(file)
	if !isFile(file) {
		c.at("server.no_metadata", label, "missing (using smart defaults)")
	} else {
		c.trust(c.p.Root, file, label, otherScript)
		doc, _ := c.metadata(file)
		c.scriptEnv(label)
		if doc != nil {
			named := rawjson.TextOf(doc, "name") != ""
			if !named {
				c.at("metadata.no_name", label, `missing required "name" field`)
			}
			for _, fault := range schemas.Compile(schemas.Server).Check(doc) {
				switch of := fault.Path + "/"; {
				case strings.HasPrefix(of, "/icons/"):
					c.at("icons.form", label, "%v", fault)
				case !strings.HasPrefix(of, "/env/") && !strings.HasPrefix(of, "/scopes/"):
					c.at("metadata.form", label, "%v", fault)
				}
			}
			c.scopes(label)
			if err := c.p.Meta.Unreadable; err != nil {
				c.unreadableServer(label, err)
			}
			c.strays(doc, label, schemas.Server, false)
			c.strays(doc, label, schemas.Server, true)
			c.placeholder(doc, label)
			if named {
				c.valid(label)
			}
		}
	}
	c.serverName(label)
	for _, kind := range serverFiles {
		if file := kind.In(c.p).Path(); exists(file) {
			c.script(c.p.Server, file, serverScript)
		}
	}
	c.policy()
	c.settings()
	c.hook()
	c.declaredFields()
	c.findRoots()
	c.requirements()
	c.userVariables(c.bundleConf()["MCPB_USER_CONFIG_ENV_MAP"])
	for _, e := range c.listing(c.p.Providers) {
		if !e.IsDir && strings.HasSuffix(e.Name, ".sh") {
			c.script(c.p.Providers, abs(c.p.Providers, e.Name), otherScript)
		}
	}
}

// scriptEnv checks the object "env" of server.meta.json.
func (c *check) scriptEnv(label string) {
	meta := &c.p.Scripts.Meta
	for _, setting := range meta.Invalid {
		c.at("env.invalid", label, "env.%s: %s", setting.Key, setting.Reason)
	}
	for _, key := range meta.Refused {
		c.at("env.refused", label, "env.%s is ignored: only %s may be set there", key, strings.Join(scriptenv.Keys(), ", "))
	}
}

// scopes checks the names of items in the rights of OAuth scopes.
func (c *check) scopes(label string) {
	if err := c.p.Meta.BadScopes; err != nil {
		c.at("scopes.invalid", label, "%v", err)
	}
	skills, _, _ := skill.Read(skill.Dir(c.p.Root))
	resources := c.namesOf(kinds.Resources, kinds.Templates, kinds.UIResources)
	for _, s := range skills {
		resources = append(resources, s.Name)
	}
	for _, scope := range slices.Sorted(maps.Keys(c.p.Meta.Scopes)) {
		rights := c.p.Meta.Scopes[scope]
		for _, of := range []struct {
			id    string
			kind  auth.ItemKind
			names []string
		}{
			{"scopes.unknown_tool", auth.Tool, c.namesOf(kinds.Tools)}, {"scopes.unknown_resource", auth.Resource, resources},
			{"scopes.unknown_prompt", auth.Prompt, c.namesOf(kinds.Prompts)},
		} {
			where := finding.Finding{ID: of.id, Path: label, Message: fmt.Sprintf("the scope %q", scope)}
			c.known(where, ascii.Lower(of.kind.String()), rights.Of(of.kind), of.names, auth.Matches)
		}
	}
}

// unreadableServer reports a restriction in server.meta.json that cannot be read.
func (c *check) unreadableServer(label string, err error) {
	f := finding.Finding{ID: "declaration.unreadable", Path: label, Message: err.Error()}
	if placed, ok := errors.AsType[*project.MetaError](err); ok {
		f.Line, f.Column, f.Message = placed.Line, placed.Column, placed.Reason
	}
	c.add(f)
}

// policy reports a policy.sh that replaces the default policy.
func (c *check) policy() {
	file := code.Policy.In(c.p).Path()
	at := slices.IndexFunc(c.scripts, func(s shellScript) bool { return s.file == file })
	if at < 0 {
		return
	}
	s, ok := bash32.Read(c.scripts[at].text)
	if !ok {
		return
	}
	if line := s.Defines(policyCheck); line > 0 && !s.Calls("mcp_tools_policy_check_default") {
		c.add(finding.Finding{
			ID: "policy.replaces_default", Path: c.label(file), Line: line, Named: true,
			Message: c.label(file) + PolicyReplacesDefault,
		})
	} else if line == 0 && !changesPolicy(s) {
		message := "does not define " + policyCheck + ", so it decides nothing"
		for _, f := range s.Functions {
			if cli.Nearest(f.Name, []string{policyCheck}) != "" {
				message = "defines " + f.Name + ", not " + policyCheck + ", so it decides nothing"
			}
		}
		c.at("policy.no_check", c.label(file), "%s", message)
	}
}

// policyCheck is the function of policy.sh that decides.
const policyCheck = "mcp_tools_policy_check"

// changesPolicy reports whether a policy.sh without a check changes the built-in policy, or loads a file that may.
func changesPolicy(s *bash32.Script) bool {
	return s.Calls("source") || s.Calls(".") || s.Calls("eval") ||
		slices.ContainsFunc(s.Settings, func(set bash32.Setting) bool {
			return strings.HasPrefix(set.Name.Name, "MCPBASH_TOOL_ALLOW")
		})
}

// PolicyReplacesDefault is the text of the warning T-34 after the file name.
const PolicyReplacesDefault = ` replaces the default tool policy (deny-by-default allowlist and tool path checks); ` +
	`start mcp_tools_policy_check with: mcp_tools_policy_check_default "$@" || return 1`

// hook checks register.sh, which runs only if hooks are allowed.
func (c *check) hook() {
	file := abs(c.p.Server, "register.sh")
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return
	}
	label := c.label(file)
	head, _ := boundedfile.ReadHead(file, 8)
	info, _ := os.Stat(file)
	switch {
	case info != nil && info.Mode()&0o111 == 0 && !script.HasShebang(head):
		c.at("register.not_run", label, "neither executable nor begins with #!, so it is not run")
	case exists(abs(c.p.Server, "register.json")):
		c.at("register.not_run", label, "not run, as there is a register.json")
	case !c.p.Discovery.Hooks:
		c.at("register.not_run", label, "not run, as MCPBASH_ALLOW_PROJECT_HOOKS is not set")
	}
}

// mayBeRegistered reports whether the server would run register.sh, which may offer any file of the project.
func (c *check) mayBeRegistered() bool {
	return c.p.Discovery.Hooks && isFile(abs(c.p.Server, "register.sh")) && !exists(abs(c.p.Server, "register.json"))
}

// maxSmall limits the size of small files with settings.
const maxSmall = 1 << 20

func (c *check) requirements() {
	file := abs(c.p.Server, requirements.File)
	c.ownFields(file, schemas.Requirements)
	r, err := requirements.Read(c.p)
	if err != nil {
		c.add(parseFault("requirements.invalid", c.label(file), err))
	}
	if r == nil {
		return
	}
	if older := r.Framework(cli.Version); older != "" {
		c.at("requirements.framework", c.label(file), "%s", older)
	}
	ids := map[requirements.Fault]string{requirements.Missing: "requirements.missing",
		requirements.TooOld: "requirements.too_old", requirements.Unknown: "requirements.unknown"}
	for _, d := range r.Dependencies {
		if v := d.Examine(c.ctx, c.o.Runner, c.p.Env["PATH"]); v.Fault != requirements.Met {
			c.add(finding.Finding{ID: ids[v.Fault], Path: c.label(file), Message: v.Text, Fix: d.InstallHint})
		}
	}
}

// bundleConf checks mcpb.conf, and returns its values. Bash checks the syntax of shell code in it.
func (c *check) bundleConf() (values map[string]string) {
	file := abs(c.p.Root, "mcpb.conf")
	text, err := c.p.ReadFile(file, envfile.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var shell *envfile.ShellError
	if err == nil {
		values, err = envfile.Parse(text, func(string) string { return "" })
	}
	switch {
	case errors.As(err, &shell):
		c.scripts = append(c.scripts, shellScript{file: file, label: c.label(file), text: text, as: serverScript})
	case err != nil:
		c.at("bundle.conf", c.label(file), "%v", err)
	}
	return values
}

// provided checks that each resource can be read. A provider must exist and accept its URI. For the built-in file
// provider, the file must be readable and have the declared type.
func (c *check) provided() {
	config := provider.Config{Env: c.p.Env, Root: c.p.Root, Resources: c.p.Resources}
	for _, r := range c.offered.items[kinds.Resources] {
		label := c.describing(r)
		if uri := item.URI(c.p, r.json); c.readable(r, label, uri, rawjson.TextOf(r.json, "provider"), config) {
			c.file(r, label, uri, config)
		}
	}
	for _, t := range c.offered.items[kinds.Templates] {
		uri := rawjson.TextOf(t.json, kinds.URITemplate)
		scheme, name := urimatch.Scheme(uri), item.ProviderOf(uri)
		git := strings.EqualFold(scheme, "git") // a template for another of our schemes can become a readable URI
		if scheme != "" && (git || !slices.Contains(provider.Names, name)) {
			c.readable(t, c.describing(t), uri, name, config)
		}
	}
}

// describing returns the file that describes a resource or template.
func (c *check) describing(o offer) string {
	file := abs(c.p.Server, declare.JSONFile)
	if o.path != "" {
		file = abs(c.p.Resources, o.path)
	}
	return cmp.Or(c.describedBy[o.name], c.label(file))
}

// readable reports whether a provider can read the URI of a resource or template.
func (c *check) readable(r offer, label, uri, name string, config provider.Config) bool {
	own := abs(c.p.Providers, name+".sh")
	if isFile(own) {
		return false
	}
	if !slices.Contains(provider.Names, name) {
		c.at("resource.no_provider", label, "resource %q: unknown provider %q: neither %s nor built in", r.name, name,
			c.label(own))
		return false
	}
	if err := location.Check(name, uri); err != nil {
		c.at("resource.unreadable_uri", label, "resource %q: provider %q cannot read %s: %s", r.name, name, uri, err)
		return false
	}
	return name == "file"
}

func (c *check) file(r offer, label, uri string, config provider.Config) {
	data, err := (&file.Provider{Dir: config.Root, Roots: config.FileRoots}).Read(c.ctx, uri, c.p.MaxResource)
	var failed *provider.Failure
	if err == nil {
		c.picture(label, media.Sniff(data), len(data))
	}
	switch {
	case errors.As(err, &failed) && failed.Status == provider.Denied:
		c.at("resource.outside", label, "resource %q: %s is outside the readable directories", r.name, uri)
	case errors.As(err, &failed) && failed.Status == provider.NotFound:
		c.at("resource.no_file", label, "resource %q: file %s does not exist", r.name, uri)
	case err != nil || len(data) == 0:
	case !rawjson.True(rawjson.Get(r.json, item.TypeDeclared)):
	default:
		declared := rawjson.TextOf(r.json, "mimeType")
		if detected := contradicts(declared, item.PathOf(uri), data); detected != "" {
			c.at("resource.wrong_type", label, "resource %q declares mimeType %q but its file is detected as %q; update "+
				"mimeType or remove it to use detection", r.name, declared, detected)
		}
	}
}

// contradicts returns the detected type of a file if it contradicts the declared type, or "". The types contradict if
// one is binary and the other is text, or if text/plain is declared for a more specific type.
func contradicts(declared, path string, data []byte) string {
	detected := media.Detect(path, data)
	text := media.IsText(data)
	if !text {
		detected = media.Sniff(data) // the name of a binary file does not count
	}
	essence, _, _ := strings.Cut(strings.ToLower(declared), ";")
	special := detected == "application/json" || detected == "text/markdown" || detected == "text/html" ||
		detected == "application/xml"
	if text == media.IsBinary(declared) || strings.TrimSpace(essence) == media.Text && special {
		return detected
	}
	return ""
}

func isFile(file string) bool { return folder.StampOfPath(file).IsFile() }

func exists(file string) bool { return folder.StampOfPath(file).Exists() }

func (c *check) bash() string { return script.LookPath("bash", c.p.Env["PATH"]) }

// userVariables checks that scripts get the variables of user_config (CLI-1413a).
func (c *check) userVariables(list string) {
	text, err := c.p.ReadFile(abs(c.p.Server, "server.meta.json"), maxSmall)
	if err != nil {
		return
	}
	meta, err := rawjson.Check(text)
	if err != nil {
		return // reported elsewhere
	}
	label := project.Marker
	if list != "" {
		label = "mcpb.conf"
	}
	for _, m := range userenv.Read(list, meta) {
		if remedy := m.Lost(meta); remedy != "" {
			c.add(finding.Finding{ID: "env.user_config", Path: label, Fix: remedy,
				Message: fmt.Sprintf("user_config %q becomes %s, which no tool receives", m.Key, m.Variable)})
		}
	}
}

// shownLines is the number of changed lines of a member in a finding.
const shownLines = 6

// lock compares a locked project with its lock.
func (c *check) lock() {
	if !c.o.Locked && !c.p.Locked() {
		return
	}
	pinned, err := lock.Read(c.p)
	if unusable, ok := errors.AsType[*lock.FileError](err); ok {
		c.at("lock.unusable", lock.FileName, "%v", unusable.Err)
		return
	}
	catalog := registry.NewCatalog(c.p, registry.Options{ReadOnly: true})
	now, err := lock.Of(c.ctx, c.p, catalog, c.p.Root)
	if err != nil {
		c.at("lock.drift", lock.FileName, "%v", err)
		return
	}
	changes := lock.Compare(pinned, now)
	for i := range changes {
		change := &changes[i]
		lines := change.Lines()
		switch {
		case change.Member != "":
			c.at("lock.drift", lock.FileName, "%s: %s (%s) has changed: %s", change.Item(), change.Member, change.Concern,
				strings.Join(lines[:min(shownLines, len(lines))], "; "))
		case change.Before == nil:
			c.at("lock.drift", lock.FileName, "%s is not in it", change.Item())
		case !catalog.HasHook(): // register.sh did not run here, and may register the item
			c.at("lock.drift", lock.FileName, "%s is not in the project any more", change.Item())
		}
	}
	if len(changes) == 0 {
		c.good("lock.valid", lock.FileName, "matches the project")
	}
}
