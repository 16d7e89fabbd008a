package clients

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients/internal/format"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/roots"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/text/toolnames"
)

// A Server is a server that clients start or connect to.
type Server struct {
	Name string
	// Remote describes the connection of clients to the server. If it is nil, they start the command.
	Remote *Remote
	// Package is the published package that the command fetches and starts, or nil.
	Package *Package
	Command string // absolute
	Root    string // of the project
	// OwnRoots means that the project names its roots, which an entry must not replace.
	OwnRoots bool

	// shared means that the entry is in a file that other people get. Then it has no path of this machine. The command
	// is found on PATH, and the project is in folder or in the working directory.
	shared bool
	folder string // the client's variable for the folder, or ""

	starter starter // of a package
	path    string  // the PATH in the entry of a package, or ""
}

// forFile returns the server as it is written to the file of a request.
func (r Request) forFile() Server {
	if r.Server.Remote == nil && r.isProjects() {
		return r.Server.portable(r.Client.Folder)
	}
	return r.Server
}

// portable returns the server without paths of this machine, for files and links that other people get.
func (s Server) portable(folder string) Server {
	s.Command, s.path, s.shared, s.folder = s.program(), "", true, folder
	return s
}

// program returns the name of the program that a client starts.
func (s Server) program() string {
	if s.Package != nil {
		return s.starter.program
	}
	return "mcp-bash"
}

// Variables of a server.
const (
	rootVariable  = "MCPBASH_PROJECT_ROOT"
	allowVariable = "MCPBASH_TOOL_ALLOWLIST"
)

// InspectorLine returns a shell command that opens a server in the MCP Inspector. command starts the server. root is
// its project; "": the command knows it.
func InspectorLine(root string, command ...string) string {
	words := []string{"npx", "@modelcontextprotocol/inspector"}
	if root != "" {
		words = append(words, "-e", rootVariable+"="+root, "-e", allowVariable+"=*")
	}
	words = append(append(words, "--transport", "stdio", "--"), command...)
	for i, word := range words {
		words[i] = shell.Quote(word)
	}
	return strings.Join(words, " ")
}

// InspectorLine returns a shell command that opens the server in the MCP Inspector.
func (s Server) InspectorLine() string {
	r := s.Remote
	if s.Package != nil {
		return InspectorLine("", append([]string{s.Command}, s.args()...)...)
	}
	if r == nil {
		return InspectorLine(s.Root, s.Command)
	}
	words := []string{"npx", "@modelcontextprotocol/inspector", "--transport", "http", "--server-url", shell.Quote(r.URL)}
	for _, h := range r.Headers {
		words = append(words, "--header", shell.Quote(h.Name+": "+h.Value))
	}
	if r.TokenEnv != "" {
		words = append(words, "--header", `"Authorization: Bearer $`+r.TokenEnv+`"`)
	}
	return strings.Join(words, " ")
}

// env returns the variables that the server needs, as a JSON object. workspace is the value of MCPBASH_ROOTS; "": none.
func (s Server) env(workspace string) json.RawMessage {
	var b rawjson.Builder
	b.Object()
	root := s.Root
	if s.shared {
		root = s.folder
	}
	switch dir := filepath.Dir(s.Command); {
	case s.Package != nil:
		// A program outside of the standard directories often needs other programs next to it, as npx needs node. So
		// its entry has the PATH of this shell.
		if s.path != "" && dir != "/usr/bin" && dir != "/bin" {
			b.Name("PATH").String(s.path)
		}
	case root != "" || !s.shared:
		b.Name(rootVariable).String(root)
	}
	if s.Package == nil {
		b.Name(allowVariable).String("*")
	}
	if workspace != "" && !s.OwnRoots {
		b.Name(roots.Variable).String(workspace)
	}
	return b.End().Bytes()
}

func (c *Client) entryFor(s Server) json.RawMessage {
	if s.Remote != nil {
		return c.remoteEntry(s)
	}
	return s.fill(c.Entry, c.Workspace)
}

func (s Server) fill(template json.RawMessage, workspace string) json.RawMessage {
	text, url := string(template), ""
	if s.Package != nil {
		text = s.withArgs(text)
	} else if s.Remote != nil {
		url = s.Remote.URL
	}
	return json.RawMessage(strings.NewReplacer(
		`"$command"`, string(rawjson.Quote(s.Command)),
		`"$name"`, string(rawjson.Quote(s.Name)),
		`"$url"`, string(rawjson.Quote(url)),
		`"$env"`, string(s.env(workspace)),
	).Replace(text))
}

// JSON returns the command or the connection of the server, for programs.
func (s Server) JSON() json.RawMessage {
	if s.Remote != nil {
		return s.Remote.json(s.Name)
	}
	return s.fill(json.RawMessage(`{"name":"$name","command":"$command","args":[],"env":"$env"}`), "")
}

// Snippet returns the output of --client: the text of a client's file with only this entry.
func (c *Client) Snippet(s Server) ([]byte, error) {
	if s.Remote != nil {
		if err := c.Connects(s.Remote, false); err != nil {
			return nil, err
		}
	} else if c.Printed != nil {
		return append(rawjson.AppendIndent(nil, s.fill(c.Printed, ""), 0), '\n'), nil
	}
	path, entry := c.path(s.Name), c.entryFor(s)
	switch c.Format {
	case "TOML":
		return []byte(format.Table(path, entry, "\n")), nil
	case "YAML":
		return []byte(c.Fresh + format.Member(path[0], format.Nested(entry, path[1:], c.List), 0, "\n")), nil
	}
	return append(rawjson.AppendIndent(nil, rawjson.Nested(entry, path...), 0), '\n'), nil
}

// field returns the name of the member of an entry that has a placeholder in the template.
// list is true if the placeholder is the first element of a list.
func field(template json.RawMessage, placeholder string) (name string, list bool) {
	for _, m := range rawjson.Members(template) {
		switch string(m.Value) {
		case `"` + placeholder + `"`:
			return m.Name, false
		case `["` + placeholder + `"]`:
			return m.Name, true
		}
	}
	return "", false
}

// commandOf returns the command of an entry. If the command is a list, it also returns the
// other elements.
func (c *Client) commandOf(entry json.RawMessage) (command string, rest []json.RawMessage) {
	name, list := field(c.Entry, "$command")
	value := rawjson.Get(entry, name)
	if list {
		all := slices.Collect(rawjson.Elements(value))
		if len(all) == 0 {
			return "", nil
		}
		value, rest = all[0], all[1:]
	}
	command, _ = rawjson.Text(value)
	return command, rest
}

// foreign returns the reason why an entry is not for this server and project, or "".
func (c *Client) foreign(entry json.RawMessage, s Server) string {
	if s.Remote != nil {
		return c.foreignRemote(entry, s.Remote)
	}
	if s.Package != nil && slices.ContainsFunc(c.words(entry), s.Package.names) {
		return ""
	}
	command, root := c.started(entry)
	if command == "" || s.Package != nil {
		if command, _ = c.commandOf(entry); command == "" {
			return "it runs no command"
		}
		return fmt.Sprintf("it runs %s", command)
	}
	if root != "" && root == s.Root || s.shared && (root == "" || root == s.folder) {
		return ""
	}
	if physical, err := fsys.Physical(root); root != "" && err == nil && physical == s.Root {
		return ""
	}
	if root == "" {
		return "it has no project"
	}
	if _, projectGone := gone(command, root); projectGone {
		return fmt.Sprintf("it is for the project %s, which does not exist", root)
	}
	return fmt.Sprintf("it is for the project %s", root)
}

// A setting is a value that an existing entry lacks.
type setting struct {
	path  []string // below the entry
	value json.RawMessage
}

// in returns an entry with the value.
func (s setting) in(entry json.RawMessage) json.RawMessage {
	name, value := s.path[0], s.value
	if len(s.path) > 1 {
		value = setting{s.path[1:], value}.in(rawjson.Get(entry, name))
	}
	return rawjson.With(entry, name, value)
}

// lacking returns the values that differ from an entry that --apply writes now. Only the command is replaced, and for a
// server over HTTP the values of the command line. Other values that people changed or added are kept.
func (c *Client) lacking(entry json.RawMessage, s Server) (list []setting) {
	add := func(value json.RawMessage, path ...string) { list = append(list, setting{path, value}) }
	env, _ := field(c.Entry, "$env")
	command, isList := field(c.Entry, "$command")
	if s.Package != nil {
		list = c.lackingPackage(entry, s)
	}
	for _, m := range rawjson.Members(c.entryFor(s)) {
		present := rawjson.Get(entry, m.Name)
		switch name := m.Name; {
		case present == nil:
			add(m.Value, name)
		case s.Remote != nil && name == c.HTTP.Headers[0]:
			list = append(list, c.lackingHeaders(entry, s.Remote)...)
		case s.Remote != nil && name == c.HTTP.Keys:
			if names, _ := rawjson.Strings(present); !slices.Contains(names, s.Remote.TokenEnv) {
				add(stringsJSON(append(names, s.Remote.TokenEnv)), name)
			}
		case s.Remote != nil:
			if (name == "type" || name == c.HTTP.Token) && !rawjson.Equal(present, m.Value) {
				add(m.Value, name)
			}
		case name == env:
			for _, variable := range rawjson.Members(m.Value) {
				if rawjson.Get(present, variable.Name) == nil {
					add(variable.Value, env, variable.Name)
				}
			}
		case name == command && s.Package == nil:
			now, rest := c.commandOf(entry)
			if now == s.Command {
				continue
			}
			value := m.Value
			if isList {
				var b rawjson.Builder
				b.Array().String(s.Command)
				for _, v := range rest {
					b.Raw(v)
				}
				value = b.End().Bytes()
			}
			add(value, name)
		}
	}
	return list
}

// plainLetters matches the characters that every client accepts in the name of a server.
var plainLetters = lazyregexp.New(`[A-Za-z0-9-]+`)

// roomForTools is the number of characters that a server's name should leave for the name of
// a tool.
const roomForTools = 24

// Warnings describes the problems that a client has with a server's name or paths.
func (c *Client) Warnings(s Server) (list []string) {
	const remedy = "; choose another with --name"
	rest := plainLetters.ReplaceAllString(s.Name, "")
	others := strings.ReplaceAll(rest, "_", "")
	switch n := c.Names; {
	case s.Name == n.Reserved && s.Name != "":
		list = append(list, fmt.Sprintf("%s reserves the name %q%s", c.Title, s.Name, remedy))
	case others != "":
		list = append(list, fmt.Sprintf("%q: %s %s, as it has characters other than letters, digits, - and _%s", s.Name,
			c.Title, cmp.Or(n.Other, "may reject the name"), remedy))
	case others != rest && n.Bar != "":
		list = append(list, fmt.Sprintf("%q: %s %s%s", s.Name, c.Title, n.Bar, remedy))
	}
	if n := toolnames.Of(c.Title); n != nil && n.Max > 0 && n.Room(s.Name) < roomForTools {
		list = append(list, fmt.Sprintf("%q is long: %s limits the names of tools with the server's to %d characters. "+
			"If a tool's name has more than %d, %s %s%s", s.Name, c.Title, n.Max, max(n.Room(s.Name), 0), c.Title, n.Over,
			remedy))
	}
	texts, expanded := []string{s.Command, s.Root}, "move it to a folder without that"
	if s.Remote != nil {
		texts, expanded = []string{s.Remote.URL}, "percent-encode that"
		if text := s.Remote.unprotected(); text != "" {
			list = append(list, text)
		}
	}
	if s.Package != nil && !filepath.IsAbs(s.Command) {
		list = append(list, fmt.Sprintf("%s is not on PATH; install it, or write its path into the entry", s.Command))
	}
	for _, begin := range c.Expands {
		for _, text := range texts {
			if strings.Contains(text, begin) {
				list = append(list, fmt.Sprintf("%s: %s expands variables that begin with %q; %s", text, c.Title, begin,
					expanded))
			}
		}
	}
	return list
}

// ServerOf returns the server of a project, for entries that start it. A link has no path of this machine, so it needs
// no command.
func ServerOf(p *project.Project, isLink bool) (s Server, err error) {
	s = Server{Name: p.Meta.Name, Root: p.Root, OwnRoots: roots.InProject(p)}
	if !isLink {
		if s.Command, err = FindCommand(p.Env); err != nil {
			return s, err
		}
	}
	for _, path := range []string{s.Command, s.Root} {
		if !utf8.ValidString(path) {
			return s, cli.Failf(cli.CodeInvalid, "%q is not valid UTF-8, so a client's file cannot name it", path).
				WithHint("rename the folder")
		}
	}
	return s, nil
}

// FindCommand returns the path of mcp-bash for clients' files. It prefers a link in the user's directory for programs,
// which an upgrade keeps, over the program itself.
func FindCommand(env project.Env) (string, error) {
	path := findProgram(env)
	if path == "" {
		return "", cli.Failf(cli.CodeNotFound, "mcp-bash is neither next to this program nor on PATH; install it")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if dir := filepath.Dir(path); filepath.Base(dir) == "bin" {
		path = filepath.Join(project.Lasting(filepath.Dir(dir)), "bin", filepath.Base(path))
	}
	bin := env["XDG_BIN_HOME"]
	if bin == "" && env["HOME"] != "" {
		bin = filepath.Join(env["HOME"], ".local", "bin")
	}
	if filepath.IsAbs(bin) {
		shim := filepath.Join(bin, filepath.Base(path))
		if fsys.Same(shim, path) {
			return shim, nil
		}
	}
	return path, nil
}

// findProgram looks in MCPBASH_HOME, next to this program, and on PATH.
func findProgram(env project.Env) string {
	if home := env["MCPBASH_HOME"]; home != "" {
		if path := script.LookPath("mcp-bash", filepath.Join(home, "bin")); path != "" {
			return path
		}
	}
	return script.Find("mcp-bash", env["PATH"])
}
