package stage

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

// A Config contains a project's settings for bundles, from server.d/server.meta.json and
// mcpb.conf, which takes precedence.
type Config struct {
	Meta json.RawMessage
	conf map[string]string
}

// readConf reads mcpb.conf. Bash reads a file with more than assignments, unless another user could have written it.
func (s *Stage) readConf(ctx context.Context) (map[string]string, error) {
	conf := map[string]string{}
	for key := range settings.ConfVariables() {
		if v := s.Project.Env[key.Name]; key.Kind == settings.ConfOrEnv && v != "" {
			conf[key.Name] = v
		}
	}
	file := code.BundleConf.In(s.Project)
	text, err := s.Project.ReadFile(file.Path(), envfile.MaxSize)
	if errors.Is(err, fs.ErrNotExist) {
		return conf, nil
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", confFile, err)
	}
	values, err := envfile.Parse(text, func(name string) string {
		if settings.Find(name).IsConf() {
			return conf[name]
		}
		return s.Project.Env[name]
	})
	if shell, ok := errors.AsType[*envfile.ShellError](err); ok {
		values, err = s.sourceConf(ctx, file, shell, conf)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", confFile, err)
	}
	maps.DeleteFunc(values, func(name, _ string) bool { return !settings.Find(name).IsConf() })
	maps.Copy(conf, values)
	return conf, nil
}

// sourceConf has Bash evaluate mcpb.conf.
func (s *Stage) sourceConf(ctx context.Context, file code.File, why error,
	conf map[string]string) (map[string]string, error) {
	if s.NoExec {
		return nil, fmt.Errorf("%w; it is not run as a shell script because of --no-exec-config", why)
	}
	if err := s.Project.CheckPath(file.Path()); err != nil {
		return nil, fmt.Errorf("%w; it is not run as a shell script: %w", why, err)
	}
	s.Note("%s is run as a shell script: %v", confFile, why)
	env := s.Project.Env.Clone()
	var names []string
	for key := range settings.ConfVariables() {
		delete(env, key.Name)
		names = append(names, key.Name)
	}
	maps.Copy(env, conf)
	env["MCPBASH_TOOL_ENV_ALLOWLIST"] = strings.Join(names, ",") // the allowlist passes variables that are not exported
	sourced := *s.Project
	sourced.Env = env
	values, stderr, err := sourced.Source(ctx, s.runner, file)
	if err != nil {
		return nil, fmt.Errorf("%w %s", err, strings.TrimSpace(stderr))
	}
	for name, value := range values { // Source keeps carriage returns
		values[name] = strings.TrimRight(value, "\r")
	}
	return values, nil
}

// Text returns the value of a key of mcpb.conf. If the key is missing, it returns a value of server.meta.json.
func (c *Config) Text(key string, member ...string) string {
	return cmp.Or(c.conf[key], Scalar(rawjson.Path(c.Meta, member...)))
}

// Scalar returns a number or a text as text.
func Scalar(v json.RawMessage) string {
	if rawjson.KindOf(v) == rawjson.Number {
		return string(v)
	}
	text, _ := rawjson.Text(v)
	return text
}

// files are the files of the project whose content goes into the manifest.
func (c *Config) files() []string {
	return []string{c.Text("MCPB_LONG_DESCRIPTION_FILE", "long_description_file"), c.conf["MCPB_USER_CONFIG_FILE"]}
}

// Words returns the words of a key of mcpb.conf, or else the texts of a member of server.meta.json.
func (c *Config) Words(key, member string) (list []string) {
	if v := strings.Fields(c.conf[key]); len(v) > 0 {
		return v
	}
	for v := range rawjson.Elements(rawjson.Get(c.Meta, member)) {
		if text, _ := rawjson.Text(v); text != "" {
			list = append(list, text)
		}
	}
	return list
}

// An Identity has the names of a product and of its author, and the addresses about it.
type Identity struct {
	Name, Version, Title, Description string
	Author, Email, URL                string // Author is "" if it is unknown
	Repository, RepositoryType        string
	Homepage, Documentation, License  string
	Keywords                          []string
	RegistryName                      string // in the MCP registry, or ""
}

// identify determines the identity by the precedence of U-9.
func (s *Stage) identify(ctx context.Context) (Identity, error) {
	c := s.Config
	id := Identity{
		Name:        cmp.Or(s.Name, c.Text("MCPB_NAME", "name"), filepath.Base(s.Project.Root)),
		Description: cmp.Or(c.Text("MCPB_DESCRIPTION", "description"), "MCP server built with mcp-bash"),
		URL:         c.Text("MCPB_AUTHOR_URL", "author", "url"),
		Author:      cmp.Or(c.Text("MCPB_AUTHOR_NAME", "author"), c.Text("", "author", "name")),
		Email:       c.Text("MCPB_AUTHOR_EMAIL", "author", "email"),
		Homepage:    cmp.Or(c.Text("MCPB_HOMEPAGE", "homepage"), c.Text("", "websiteUrl")),
		License:     c.Text("MCPB_LICENSE", "license"), Documentation: c.Text("MCPB_DOCUMENTATION", "documentation"),
		Keywords: c.Words("MCPB_KEYWORDS", "keywords"), RegistryName: cmp.Or(s.RegistryName, c.Text("", "mcpName")),
	}
	if id.RegistryName != "" && !mcpb.IsServerName(id.RegistryName) {
		return id, fmt.Errorf("%q is not a name in the MCP registry; use one such as io.github.you/demo", id.RegistryName)
	}
	id.Title = cmp.Or(c.Text("", "title"), project.Title(id.Name))
	text, _ := s.Project.ReadFile(filepath.Join(s.Project.Root, "VERSION"), 1<<20) // nil for an unreadable file
	inFile := strings.Join(strings.Fields(string(text)), "")
	id.Version = cmp.Or(s.Version, c.conf["MCPB_VERSION"], inFile, c.Text("", "version"), "0.1.0")
	if err := checkFileName(id.Name, id.Version); err != nil {
		return id, err
	}
	if id.Author == "" {
		id.Author = s.git(ctx, "config", "--get", "user.name")
	}
	if id.Email == "" {
		if id.Email = s.git(ctx, "config", "--get", "user.email"); id.Email != "" && !mcpb.IsEmail(id.Email) {
			s.Warn("invalid git user.email %q; left out", id.Email)
			id.Email = ""
		}
	}
	id.Repository = cmp.Or(c.Text("MCPB_REPOSITORY", "repository"), c.Text("", "repository", "url"))
	id.RepositoryType = cmp.Or(c.Text("", "repository", "type"), "git")
	if id.Repository == "" {
		id.Repository = withoutLogin(strings.TrimSuffix(s.git(ctx, "config", "--get", "remote.origin.url"), ".git"))
		if id.Repository = webAddress(id.Repository); !mcpb.IsURL(id.Repository) {
			id.Repository = "" // a path on this machine
		}
	}
	id.Repository = webAddress(id.Repository)
	return id, nil
}

// checkFileName returns an error for a text that cannot be part of a file name.
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

// FileName returns the name of a file for the product, with an ending.
func (id *Identity) FileName(end string) string {
	return otherThanFileName.ReplaceAllString(id.Name+"-"+id.Version, "-") + end
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

// NameAuthor sets the author, which bundles and plugins require.
func (s *Stage) NameAuthor() {
	if s.ID.Author == "" {
		s.WarnHint("No author name found (required by MCPB spec)",
			"Add MCPB_AUTHOR_NAME to mcpb.conf or set git user.name")
		s.ID.Author = s.ID.Title
	}
}

// git returns the output of git, or "" if git is missing or fails.
func (s *Stage) git(ctx context.Context, args ...string) string {
	program := script.LookPath("git", s.Project.Env["PATH"])
	if program == "" {
		return ""
	}
	r := s.runner.Run(ctx, script.Spec{
		Argv: append([]string{program}, args...), Dir: s.Project.Root, Env: s.Project.Env.Entries(),
		Timeout: 10 * time.Second, StdoutLimit: 1 << 16, StderrLimit: 1 << 16,
	})
	if r.Status != 0 || r.Cause != nil {
		return ""
	}
	return strings.TrimSpace(string(r.Stdout))
}
