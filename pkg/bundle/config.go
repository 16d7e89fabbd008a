package bundle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/settings"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/envfile"
	"mcp-bash/pkg/text/lazyregexp"
)

const confFile = "mcpb.conf"

// A config contains a project's settings for bundles, from server.d/server.meta.json and
// mcpb.conf, which takes precedence.
type config struct {
	meta json.RawMessage
	conf map[string]string
}

// readConf reads mcpb.conf. Bash reads a file with more than assignments, unless another user
// could have written it (CLI-1405).
func (b *builder) readConf(ctx context.Context) (map[string]string, error) {
	conf := map[string]string{}
	for key := range settings.ConfVariables() {
		if v := b.p.Env[key.Name]; key.Kind == settings.ConfOrEnv && v != "" {
			conf[key.Name] = v
		}
	}
	file := code.BundleConf.In(b.p)
	text, err := b.p.ReadFile(file.Path(), envfile.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return conf, nil
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", confFile, err)
	}
	values, err := envfile.Parse(text, func(name string) string {
		if settings.Find(name).IsConf() {
			return conf[name]
		}
		return b.p.Env[name]
	})
	if shell, ok := errors.AsType[*envfile.ShellError](err); ok {
		values, err = b.sourceConf(ctx, file, shell, conf)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", confFile, err)
	}
	for key := range settings.ConfVariables() {
		if v, ok := values[key.Name]; ok {
			conf[key.Name] = v
		}
	}
	return conf, nil
}

// sourceConf has Bash evaluate mcpb.conf.
func (b *builder) sourceConf(ctx context.Context, file code.File, why error,
	conf map[string]string) (map[string]string, error) {
	if b.o.NoExec {
		return nil, fmt.Errorf("%w; it is not run as a shell script because of --no-exec-config", why)
	}
	if err := b.p.CheckPath(file.Path()); err != nil {
		return nil, fmt.Errorf("%w; it is not run as a shell script: %w", why, err)
	}
	b.say.note("%s is run as a shell script: %v", confFile, why)
	env := b.p.Env.Clone()
	var names []string
	for key := range settings.ConfVariables() {
		delete(env, key.Name)
		names = append(names, key.Name)
	}
	maps.Copy(env, conf)
	env["MCPBASH_TOOL_ENV_ALLOWLIST"] = strings.Join(names, ",") // although they are not exported
	sourced := *b.p
	sourced.Env = env
	values, stderr, err := sourced.Source(ctx, b.runner, file)
	if err != nil {
		return nil, fmt.Errorf("%w %s", err, strings.TrimSpace(stderr))
	}
	for name, value := range values { // Source removes carriage returns of no value
		values[name] = strings.TrimRight(value, "\r")
	}
	return values, nil
}

// text returns the value of a key of mcpb.conf, or else that of a member of server.meta.json.
func (c *config) text(key, member string) string {
	if v := c.conf[key]; v != "" || member == "" {
		return v
	}
	return scalar(rawjson.Get(c.meta, member))
}

func scalar(v json.RawMessage) string {
	if rawjson.KindOf(v) == rawjson.Number {
		return string(v)
	}
	text, _ := rawjson.Text(v)
	return text
}

// files are the files of the project whose content goes into the manifest.
func (c *config) files() []string {
	return []string{c.text("MCPB_LONG_DESCRIPTION_FILE", "long_description_file"), c.text("MCPB_USER_CONFIG_FILE", "")}
}

// words returns the words of a key of mcpb.conf, or else the texts of a member of server.meta.json.
func (c *config) words(key, member string) (list []string) {
	if v := strings.Fields(c.conf[key]); len(v) > 0 {
		return v
	}
	for v := range rawjson.Elements(rawjson.Get(c.meta, member)) {
		if text, _ := rawjson.Text(v); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// An identity has the names of a bundle and of its author.
type identity struct {
	name, version, title, description string
	author, email, url                string
	repository, repositoryType        string
}

// identify applies the precedence of U-9.
func (b *builder) identify(ctx context.Context) (identity, error) {
	c := b.config
	id := identity{
		name:        cmp.Or(b.o.Name, c.text("MCPB_NAME", "name"), filepath.Base(b.p.Root)),
		description: cmp.Or(c.text("MCPB_DESCRIPTION", "description"), "MCP server built with mcp-bash"),
		url:         c.text("MCPB_AUTHOR_URL", ""),
		author:      c.text("MCPB_AUTHOR_NAME", "author"),
		email:       c.text("MCPB_AUTHOR_EMAIL", ""),
	}
	id.title = cmp.Or(scalar(rawjson.Get(c.meta, "title")), project.Title(id.name))
	id.version = cmp.Or(b.o.Version, c.text("MCPB_VERSION", ""), b.versionFile(), c.text("", "version"), "0.1.0")
	if err := checkFileName(id.name, id.version); err != nil {
		return id, err
	}
	author := rawjson.Get(c.meta, "author")
	id.author = cmp.Or(id.author, rawjson.TextOf(author, "name"))
	id.email = cmp.Or(id.email, rawjson.TextOf(author, "email"))
	id.url = cmp.Or(id.url, rawjson.TextOf(author, "url"))
	if id.author == "" {
		id.author = b.git(ctx, "config", "--get", "user.name")
	}
	if id.email == "" {
		if id.email = b.git(ctx, "config", "--get", "user.email"); id.email != "" && !mcpb.IsEmail(id.email) {
			b.say.warn("invalid git user.email %q; left out", id.email)
			id.email = ""
		}
	}
	if id.author == "" && !b.forImage {
		b.say.warnHint("No author name found (required by MCPB spec)",
			"Add MCPB_AUTHOR_NAME to mcpb.conf or set git user.name")
		id.author = id.title
	}
	repository := rawjson.Get(c.meta, "repository")
	id.repository = cmp.Or(c.text("MCPB_REPOSITORY", "repository"), rawjson.TextOf(repository, "url"))
	id.repositoryType = cmp.Or(rawjson.TextOf(repository, "type"), "git")
	if id.repository == "" {
		id.repository = withoutLogin(strings.TrimSuffix(b.git(ctx, "config", "--get", "remote.origin.url"), ".git"))
		if id.repository = webAddress(id.repository); !mcpb.IsURL(id.repository) {
			id.repository = "" // a path on this machine
		}
	}
	id.repository = webAddress(id.repository)
	return id, nil
}

// versionFile returns the content of the project's VERSION without white space, or "" if the file is unreadable or
// longer than 1 MiB.
func (b *builder) versionFile() string {
	text, err := b.p.ReadFile(filepath.Join(b.p.Root, "VERSION"), 1<<20)
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(text)), "")
}

// checkFileName returns an error for a text that cannot be part of a file name (CLI-1410).
func checkFileName(texts ...string) error {
	for _, text := range texts {
		switch {
		case strings.ContainsAny(text, `/\`) || strings.Contains(text, ".."):
			return fmt.Errorf("%q cannot be part of a file name; leave out slashes, backslashes and double dots", text)
		case strings.ContainsFunc(text, unicode.IsControl):
			return fmt.Errorf("%q cannot be part of a file name; leave out control characters", text)
		case len(text) > 100:
			return fmt.Errorf("%.20q... is longer than 100 bytes", text)
		}
	}
	return nil
}

var otherThanFileName = lazyregexp.New(`[^A-Za-z0-9._-]`)

func (id *identity) fileName(end string) string {
	return otherThanFileName.ReplaceAllString(id.name+"-"+id.version, "-") + end
}

var scpAddress = lazyregexp.New(`^(?:[A-Za-z0-9._-]+@)?([A-Za-z0-9.-]+):([^/].*)$`)

// webAddress returns the URL for a repository's address in the form of scp. Other addresses stay unchanged.
func webAddress(address string) string {
	if m := scpAddress.FindStringSubmatch(address); m != nil && !strings.Contains(address, "://") {
		return "https://" + m[1] + "/" + m[2]
	}
	return address
}

// withoutLogin removes user and password from a URL, because git stores tokens there.
func withoutLogin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || u.Scheme == "ssh" {
		return address
	}
	u.User = nil
	return u.String()
}

// git returns the output of git, or "" if git is missing or fails (CLI-111).
func (b *builder) git(ctx context.Context, args ...string) string {
	program := script.LookPath("git", b.p.Env["PATH"])
	if program == "" {
		return ""
	}
	r := b.runner.Run(ctx, script.Spec{
		Argv: append([]string{program}, args...), Dir: b.p.Root, Env: b.p.Env.Entries(),
		Timeout: 10 * time.Second, StdoutLimit: 1 << 16, StderrLimit: 1 << 16,
	})
	if r.Status != 0 || r.Cause != nil {
		return ""
	}
	return strings.TrimSpace(string(r.Stdout))
}
