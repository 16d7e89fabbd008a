// Package clients configures MCP clients to start a project's server. It formats the
// entry that each client expects, and adds it to the client's file or removes it. The rest
// of the file keeps its bytes (cli chapter 7).
//
// A [Client] is a row of a table: where its file is, which format the file has, and what an entry
// contains. [Apply] makes the change that a [Request] describes, for the [Server] of a project.
// [Survey] reports for each client whether it is installed and configured. [Entries] finds all entries
// that start one of our servers, whatever project they name.
package clients

import (
	_ "embed" // the table
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients/internal/format"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/lazyregexp"
)

// A Client is a program that starts MCP servers. Everything specific to a client is in clients.json.
type Client struct {
	Name  string `json:"client"` // the value of --client
	Title string `json:"title"`  // the name in messages
	*row  `json:"-"`
}

// A row is a client's object in clients.json, without its names. A client of the Bash edition can use the row of the
// client Like.
type row struct {
	Like    string
	Format  string   // "JSON", "JSON with comments", "TOML" or "YAML"
	Commas  bool     // JSON can have trailing commas
	Section []string // the path of the object or list of servers in a file
	List    bool     // servers are a list of entries with a member "name"
	Fresh   string   // the beginning of a new file

	// Entry is a server's entry. "$command", "$name" and "$env" in it are replaced by the server's values.
	Entry json.RawMessage
	// Printed is an entry that --client prints instead of the file's, for users of the Bash edition. If it is nil,
	// --client prints the file's.
	Printed json.RawMessage

	User files // the user's file
	// Folder is the variable that the client replaces by the folder of a project's file. It is "" if the client starts
	// the servers of that file in that folder.
	Folder  string
	Project []string // a project's file, relative to its root; nil: not supported
	After   string   // the step that makes the client read the change
	Trust   string   // the user's steps before the client reads a project's file

	// Names describes problems with the names of servers. Package [toolnames] has the problems with the names of tools.
	Names struct {
		Other    string // a name with characters other than letters, digits, "-" and "_"; "": the client may reject it
		Bar      string // a name with "_"
		Reserved string // a name that the client reserves
	}
	HTTP  http
	Links links
	// Expands are the strings that begin a variable in the values of an entry.
	Expands []string
	// Workspace is the value of MCPBASH_ROOTS that the client expands to the path of the user's workspace. "": the
	// client declares roots, or it has no such variable.
	Workspace string
	// Mistaken are other names of the client, for suggestions after a wrong --client.
	Mistaken []string

	max int // bytes; a larger file is not changed
}

// files are the possible paths of a client's file, by system: "windows", "darwin", "unix" for other systems but
// Windows, or "all". The first existing file is used, or else the first path. In a path, ~ is the home directory, and
// ${NAME:-DEFAULT} is a variable as in a shell.
type files map[string][]string

func (f files) on(system string) []string {
	if f[system] == nil && system != "windows" {
		system = "unix"
	}
	if f[system] == nil {
		system = "all"
	}
	return f[system]
}

// anyClient is the name for clients that are not in the table.
const anyClient = "json"

//go:embed clients.json
var table []byte

// clients returns the known clients in the order in which they are listed, those of the Bash edition first.
var clients = sync.OnceValue(func() (list []*Client) {
	for v := range rawjson.Elements(rawjson.AppendCompact(nil, table)) {
		c := &Client{row: new(row)}
		if err := errors.Join(json.Unmarshal(v, c), json.Unmarshal(v, c.row)); err != nil {
			panic(err) // the table is embedded
		}
		if c.max = 1 << 20; strings.HasPrefix(c.Format, "JSON") {
			c.max = 16 << 20
		}
		if c.HTTP.Headers == nil {
			c.HTTP.Headers = []string{"headers"}
		}
		list = append(list, c)
	}
	for _, c := range list {
		if c.Like != "" {
			other := list[slices.IndexFunc(list, func(other *Client) bool { return other.Name == c.Like })]
			same := *other.row
			same.Like, same.Printed, same.Mistaken = c.Like, c.Printed, nil
			c.Title, c.row = other.Title, &same
		}
	}
	return list
})

// Find returns the client with a name, or nil.
func Find(name string) *Client {
	if at := slices.IndexFunc(clients(), func(c *Client) bool { return c.Name == name }); at >= 0 {
		return clients()[at]
	}
	return nil
}

// Suggest returns the names of the clients that a wrong name can mean.
func Suggest(name string) (list []string) {
	names := Names()
	for _, c := range clients() {
		names = append(names, c.Mistaken...)
	}
	near := cli.Nearest(strings.ToLower(name), names)
	for _, c := range clients() {
		if c.Name == near || slices.Contains(c.Mistaken, near) {
			list = append(list, c.Name)
		}
	}
	return list
}

// distinct returns the clients that have a file, without other names of the same client.
func distinct() []*Client {
	return slices.DeleteFunc(slices.Clone(clients()), func(c *Client) bool { return c.Like != "" || c.Name == anyClient })
}

// Names returns the values of --client, in the order of the help text.
func Names() []string { return namesOf(clients()) }

// path returns the path of a server's entry within the content of a file, or of a value in the entry.
func (c *Client) path(name string, more ...string) []string {
	return slices.Concat(c.Section, []string{name}, more)
}

// A Scope determines whether a client's file belongs to a user or to a project.
type Scope string

// The scopes. "" is the user's scope if the client has one.
const (
	UserScope    Scope = "user"
	ProjectScope Scope = "project"
)

// A Place determines where clients' files are.
type Place struct {
	System string // as in runtime.GOOS
	Env    project.Env
	Root   string // the project whose files belong to the project's scope
	// Open is editors.Open.
	Open Opener
}

// An Opener opens the text of a file for changes.
type Opener func(kind string, commas, list bool, text []byte) (format.Editor, error)

type target struct {
	path   string
	inside string // links must not lead out of this directory; "": all links are followed
	dry    bool   // no file is written
}

func (r Request) target() (target, error) {
	c := r.Client
	if r.File != "" {
		path, err := filepath.Abs(r.File)
		return target{path: path}, err
	}
	user := c.User.on(r.Place.System)
	if r.isProjects() {
		if c.Project == nil {
			return target{}, cli.Failf(cli.CodeNotFound, "%s has no file for a project; leave out --scope project", c.Title)
		}
		var paths []string
		for _, name := range c.Project {
			name = strings.ReplaceAll(name, "$NAME", project.FileName(r.Server.Name))
			paths = append(paths, filepath.Join(r.Place.Root, filepath.FromSlash(name)))
		}
		return target{path: present(paths), inside: r.Place.Root}, nil
	}
	if user == nil {
		return target{}, cli.Failf(cli.CodeNotFound, "the path of %s's file on this system is unknown; "+
			"name the file with --file", c.Title)
	}
	var paths []string
	for _, pattern := range user {
		path, err := r.Place.expand(pattern)
		if err != nil {
			return target{}, err
		}
		paths = append(paths, path)
	}
	return target{path: present(paths)}, nil
}

// present returns the first path that exists. If none exists, it returns the first path.
func present(paths []string) string {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			return path
		}
	}
	return paths[0]
}

// variable matches a variable at the beginning of a path in the table of clients.
var variable = lazyregexp.New(`^\$\{(\w+)(?::-([^}]*))?\}`)

// expand replaces the variable or ~ at the beginning of a path.
func (p Place) expand(path string) (string, error) {
	if m := variable.FindStringSubmatch(path); m != nil {
		value := p.Env[m[1]]
		if !filepath.IsAbs(value) { // as required by the XDG specification
			value = m[2]
		}
		if value == "" {
			return "", cli.Failf(cli.CodeNotFound, "%s is not set, so the client's file cannot be found; "+
				"name it with --file", m[1])
		}
		path = value + path[len(m[0]):]
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		home, err := p.Home()
		if err != nil {
			return "", err
		}
		path = home + rest
	}
	return filepath.FromSlash(path), nil
}

// Home returns the home directory of the user.
func (p Place) Home() (string, error) {
	name := "HOME"
	if p.System == "windows" {
		name = "USERPROFILE"
	}
	if !fsys.IsHome(p.Env[name]) {
		return "", cli.Failf(cli.CodeNotFound, "%s is not set to a home directory, so the client's file cannot be found; "+
			"set it, or name the file with --file", name)
	}
	return p.Env[name], nil
}

// isProjects reports whether the file is the project's, and not the user's.
func (r Request) isProjects() bool {
	return r.File == "" && (r.Scope == ProjectScope ||
		r.Scope == "" && r.Client.User.on(r.Place.System) == nil && r.Client.Project != nil)
}

// Reminders returns the steps that the user must do before the client uses the changed file.
func (r Request) Reminders() (list []string) {
	c := r.Client
	if r.Remove {
		if c.After != "" {
			list = append(list, fmt.Sprintf("to finish, %s", c.After))
		}
		return list
	}
	if remote := r.Server.Remote; remote != nil && remote.TokenEnv != "" {
		list = append(list, fmt.Sprintf("%s reads the token from the environment variable %s", c.Title, remote.TokenEnv))
		if c.HTTP.Reminder != "" {
			list = append(list, c.HTTP.Reminder)
		}
	}
	if r.isProjects() {
		if r.Server.Remote == nil {
			list = append(list, "everybody who uses this file needs "+r.Server.program()+" on PATH")
		}
		if c.Trust != "" {
			list = append(list, c.Trust)
		}
	}
	if c.After != "" {
		list = append(list, fmt.Sprintf("to use it, %s", c.After))
	}
	return list
}
