package clients

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/text/lazyregexp"
)

// A Package is a published server: the client starts a program that fetches the package and runs the server in it. The
// package itself sets the project and the allow list.
type Package struct {
	kind    *packageKind
	Name    string // for an image, includes its registry
	Version string // "" for the newest; for an image, the tag and digest with ":" and "@"
}

type packageKind struct {
	prefix string // the prefix in the value of --package
	form   *lazyregexp.Regexp
	// starters are the programs that run such packages. The first one that is installed is used.
	starters []starter
}

// A starter is a program that runs packages. In its arguments NAME is the package, and VERSION the version after the
// separator.
type starter struct {
	program, separator string
	args               []string
}

var packageKinds = []*packageKind{
	{
		"npm:", lazyregexp.New(`^((?:@[a-z0-9~][\w.~-]*/)?[a-z0-9~][\w.~-]*)(?:@(\w[\w.+-]*))?$`),
		// Without the option, npx starts only after 70 seconds if it cannot reach the registry.
		[]starter{{"npx", "@", []string{"-y", "--fetch-retries=0", "NAMEVERSION"}}},
	},
	{
		"pypi:", lazyregexp.New(`^([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)(?:(?:@|==)(\w[\w.+!-]*))?$`),
		[]starter{
			{"uvx", "@", []string{"NAMEVERSION"}},
			{"pipx", "==", []string{"run", "--spec", "NAMEVERSION", "NAME"}},
		},
	},
	{
		"oci:", lazyregexp.New(`^([a-z0-9][\w.-]*(?::\d+/)?[\w./-]*)((?::\w[\w.-]*)?(?:@sha256:[0-9a-f]{64})?)$`),
		[]starter{{"docker", "", []string{"run", "-i", "--rm", "NAMEVERSION"}}},
	},
}

// ParsePackage parses the value of --package, such as npm:@me/my-tools@1.0.0.
func ParsePackage(text string) (*Package, error) {
	for _, kind := range packageKinds {
		if rest, ok := strings.CutPrefix(text, kind.prefix); ok {
			if m := kind.form.FindStringSubmatch(rest); m != nil {
				return &Package{kind, m[1], m[2]}, nil
			}
		}
	}
	return nil, cli.Usagef("%q is not a package; write npm:NAME@VERSION, pypi:NAME@VERSION or oci:IMAGE", text)
}

// Server returns the package's server. Its command is the path of the first installed starter, because graphical
// clients do not have the PATH of a shell. If no starter is installed, the command is the name of the first one.
func (p *Package) Server(env project.Env) Server {
	isContainer := p.kind.prefix == "oci:" // a container cannot use folders of this machine
	s := Server{Name: path.Base(p.Name), Package: p, OwnRoots: isContainer}
	for _, one := range p.kind.starters {
		if file := script.LookPath(one.program, env["PATH"]); file != "" {
			s.Command, s.path, s.starter = file, env["PATH"], one
			return s
		}
	}
	s.starter = p.kind.starters[0]
	s.Command = s.starter.program
	return s
}

// String returns the package as in the value of --package.
func (p *Package) String() string { return p.kind.prefix + p.Name + p.kind.starters[0].version(p) }

// version returns the version of a package after the separator.
func (s starter) version(p *Package) string {
	if p.Version == "" {
		return ""
	}
	return s.separator + p.Version
}

// args returns the arguments of the command.
func (s Server) args() []string {
	args := slices.Clone(s.starter.args)
	fill := strings.NewReplacer("NAME", s.Package.Name, "VERSION", s.starter.version(s.Package))
	for i, arg := range args {
		args[i] = fill.Replace(arg)
	}
	return args
}

// withArgs puts the arguments into the template of an entry.
func (s Server) withArgs(template string) string {
	args := string(stringsJSON(s.args()))
	if strings.Contains(template, `["$command"]`) {
		return strings.Replace(template, `["$command"]`, `["$command",`+args[1:], 1)
	}
	template = strings.Replace(template, `,"args":[]`, "", 1)
	for _, name := range []string{`"command"`, `"cmd"`} {
		template = strings.Replace(template, name+`:"$command"`, name+`:"$command","args":`+args, 1)
	}
	return template
}

// words returns the command of an entry and its arguments.
func (c *Client) words(entry json.RawMessage) (words []string) {
	command, rest := c.commandOf(entry)
	words = append(words, command)
	for _, v := range append(rest, slices.Collect(rawjson.Elements(rawjson.Get(entry, "args")))...) {
		word, _ := rawjson.Text(v)
		words = append(words, word)
	}
	return words
}

// names reports whether an argument is the package, in any version.
func (p *Package) names(word string) bool {
	rest, ok := strings.CutPrefix(word, p.Name)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "@=:"))
}

// lackingPackage returns the command and the arguments if an entry starts another program or version. Other arguments
// that the user added to the same program stay.
func (c *Client) lackingPackage(entry json.RawMessage, s Server) (list []setting) {
	have, want := c.words(entry), append([]string{s.Command}, s.args()...)
	if programOf(have[0]) == s.starter.program {
		kept := slices.Clone(have)
		kept[0] = s.Command
		at := slices.IndexFunc(kept, s.Package.names)
		kept[at] = want[slices.IndexFunc(want, s.Package.names)]
		want = kept
	}
	if slices.Equal(have, want) {
		return nil
	}
	name, isList := field(c.Entry, "$command")
	if isList {
		return []setting{{[]string{name}, stringsJSON(want)}}
	}
	return []setting{{[]string{name}, rawjson.Quote(want[0])}, {[]string{"args"}, stringsJSON(want[1:])}}
}

func stringsJSON(list []string) json.RawMessage {
	var b rawjson.Builder
	return b.Strings(list).Bytes()
}

// programOf returns the name of a program without its folder and the extension of Windows.
func programOf(command string) string {
	name := path.Base(strings.ReplaceAll(command, `\`, "/"))
	return strings.TrimSuffix(strings.TrimSuffix(name, ".exe"), ".cmd")
}

// Instructions returns a section of a package's README in Markdown: the entry for each client, and how to add it.
// Clients with the same entry share one block. hasRoots means that the project names its roots itself.
func (p *Package) Instructions(hasRoots bool) (string, error) {
	s := p.Server(nil).portable("")
	s.OwnRoots = s.OwnRoots || hasRoots
	var b strings.Builder
	fmt.Fprintf(&b, "## Add it to a client\n\n`mcp-bash config --package %s --client NAME --apply` adds the server to "+
		"the file of a client. Without `mcp-bash`, add the entry below.\n\nGraphical clients do not have the `PATH` of your "+
		"shell. For them, replace `%s` by the path that `command -v %[2]s` prints. If that is not in `/usr/bin`, "+
		"also add `PATH` with the value that `echo \"$PATH\"` prints to the environment of the entry.\n",
		p, s.starter.program)
	titles, blocks := map[string][]string{}, []string{}
	for _, c := range distinct() {
		entry, err := c.Snippet(s)
		if err != nil {
			return "", err
		}
		language, _, _ := strings.Cut(strings.ToLower(c.Format), " ")
		block := "```" + language + "\n" + strings.TrimRight(string(entry), "\n") + "\n```\n"
		if titles[block] == nil {
			blocks = append(blocks, block)
		}
		titles[block] = append(titles[block], c.Title)
	}
	for _, block := range blocks {
		fmt.Fprintf(&b, "\n%s:\n\n%s", strings.Join(titles[block], ", "), block)
	}
	return b.String(), nil
}
