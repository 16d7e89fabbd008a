// Package deploy makes the files that deploy a project as an HTTP server (http, Manifests). They are manifests for
// Kubernetes and ToolHive, a catalogue for Docker's MCP gateway, and units for systemd. The package writes no file, and
// uses no network.
package deploy

import (
	"cmp"
	"embed"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/weburl"
)

//go:embed templates
var templates embed.FS

// Options describe a deployment. Empty fields have defaults from the project.
type Options struct {
	Format      string // one of [Formats]; "" is the first
	Name        string // of the deployment
	Image       string // the image's address
	Namespace   string
	Host        string // the public name of the server
	TokenSecret string // the name of the Secret with the token file and the state key
	Replicas    int    // the minimum number; 0 means 2
}

type format struct {
	name  string
	files []string           // the extensions of the files; their templates have the name of the format
	id    *lazyregexp.Regexp // the form of a deployment's name
	max   int                // the maximum length of a name, in characters
	rule  string             // the form in words
}

// dnsLabel is the form of names in Kubernetes. A name may have fewer characters than Kubernetes allows, because the
// names of pods and of objects that operators make are longer.
var dnsLabel = lazyregexp.New(`^[a-z]([a-z0-9-]*[a-z0-9])?$`)

const dnsRule = "lower-case letters, digits and -, begins with a letter, and does not end with -"

var formats = []format{
	{"kubernetes", []string{".yaml"}, dnsLabel, 50, dnsRule},
	{"toolhive", []string{".yaml"}, dnsLabel, 50, dnsRule},
	{"docker-catalog", []string{".yaml"}, lazyregexp.New(`^[a-z0-9][a-z0-9_-]*$`), 100,
		"lower-case letters, digits, - and _, and begins with a letter or a digit"},
	{"systemd", []string{".service", ".socket"},
		lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*$`), 100, "letters, digits, - and _, and begins with a letter or a digit"},
}

// Formats returns the names of all formats.
func Formats() (list []string) {
	for _, f := range formats {
		list = append(list, f.name)
	}
	return list
}

// A File is one file of a deployment.
type File struct{ Name, Text string }

// A Result is a deployment.
type Result struct {
	Format, Name, Image string // Image is "" for systemd
	Files               []File
}

// Make returns the files of a deployment. Its errors are [*cli.Error] with a remedy.
func Make(p *project.Project, o Options) (*Result, error) {
	f := formats[max(slices.Index(Formats(), o.Format), 0)]
	r := &Result{Format: f.name, Name: cmp.Or(o.Name, p.Meta.Name)}
	if len(r.Name) > f.max || !f.id.MatchString(r.Name) {
		return nil, invalid("the name", r.Name, "for %s it has at most %d %s", f.name, f.max, f.rule).
			WithHint("give another one with --name, such as %s", suggest(r.Name, f))
	}
	if err := r.chooseImage(p, o, f); err != nil {
		return nil, err
	}
	secret := cmp.Or(o.TokenSecret, r.Name+"-http")
	replicas := cmp.Or(o.Replicas, 2)
	if err := o.check(f, secret); err != nil {
		return nil, err
	}
	if f.name == "systemd" && !unitPath.MatchString(p.Root) {
		return nil, invalid("the project's path", p.Root, "a unit has paths of letters, digits and . _ + @ - / only").
			WithHint("copy the project to a folder such as /srv/%s, and run the command there", r.Name)
	}
	title := cmp.Or(p.Meta.Title, r.Name)
	t := template{
		conditions: map[string]bool{
			"namespace": o.Namespace != "", "host": o.Host != "", "single": replicas == 1, "many": replicas > 1,
		},
		values: map[string]string{
			"name": yaml(r.Name), "plain_name": r.Name, "namespace": yaml(o.Namespace), "image": yaml(r.Image),
			"secret": yaml(secret), "plain_secret": secret, "kubectl_namespace": "",
			"plain_host": o.Host, "host_text": o.Host,
			"public_url": yaml("https://" + o.Host), "public_url_text": "https://" + o.Host,
			"replicas": strconv.Itoa(replicas), "replicas_text": "one replica", "most": strconv.Itoa(replicas * 5),
			"title": oneLine(title), "title_value": yaml(oneLine(title)),
			"description":      yaml(oneLine(cmp.Or(p.Meta.Description, title))),
			"description_text": unit(title), "project_bind": p.Root, "project_variable": "MCPBASH_PROJECT_ROOT=" + p.Root,
		},
	}
	if replicas > 1 {
		t.values["replicas_text"] = fmt.Sprintf("at least %d replicas", replicas)
	}
	if o.Namespace != "" {
		t.values["kubectl_namespace"] = " --namespace " + o.Namespace
	}
	for _, end := range f.files {
		text, err := templates.ReadFile("templates/" + f.name + end)
		if err != nil {
			return nil, err
		}
		r.Files = append(r.Files, File{r.Name + end, t.fill(string(text))})
	}
	return r, nil
}

func invalid(what, value, reason string, args ...any) *cli.Error {
	return cli.Failf(cli.CodeInvalid, "%s \"%s\" cannot be used: %s", what, value, fmt.Sprintf(reason, args...))
}

// suggest returns a valid name for a format that resembles another name.
func suggest(name string, f format) string {
	clean := strings.Join(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), "-")
	clean = strings.TrimRight(clean[:min(len(clean), f.max)], "-")
	if !f.id.MatchString(clean) {
		clean = "server-" + clean[:min(len(clean), f.max-len("server-"))]
		clean = strings.TrimRight(clean, "-")
	}
	return clean
}

// The forms of names in manifests.
var (
	unitPath = lazyregexp.New(`^/[A-Za-z0-9._+@/-]*$`)
	hostName = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)
)

// chooseImage sets the image's address. The default is the name that `mcp-bundle image` gives it.
func (r *Result) chooseImage(p *project.Project, o Options, f format) error {
	if f.name == "systemd" {
		if o.Image != "" {
			return cli.Usagef("--image: a unit of systemd starts no image")
		}
		return nil
	}
	r.Image = cmp.Or(o.Image, weburl.ImageName(r.Name, p.Meta.Version))
	if len(r.Image) > 255 || weburl.CheckImage(r.Image) != nil {
		return invalid("the image", r.Image, "it is not the address of an image").
			WithHint("give one with --image, such as registry.example.com/team/%s:1.0.0", suggest(r.Name, formats[0]))
	}
	return nil
}

func (o Options) check(f format, secret string) error {
	cluster := f.name == "kubernetes" || f.name == "toolhive"
	for _, one := range []struct {
		option string
		given  bool
		takes  bool
	}{
		{"--namespace", o.Namespace != "", cluster}, {"--token-secret", o.TokenSecret != "", cluster},
		{"--replicas", o.Replicas != 0, cluster}, {"--host", o.Host != "", f.name != "docker-catalog"},
	} {
		if one.given && !one.takes {
			return cli.Usagef("%s: not used by %s", one.option, f.name)
		}
	}
	switch {
	case o.Namespace != "" && (!hostName.MatchString(o.Namespace) || strings.Contains(o.Namespace, ".")):
		return invalid("the namespace", o.Namespace, "it has at most 63 lower-case letters, digits and -").
			WithHint("give one with --namespace, such as %s", suggest(o.Namespace, formats[0]))
	case len(o.Host) > 253 || o.Host != "" && !hostName.MatchString(o.Host):
		return invalid("the host", o.Host, "it is not a name of the DNS in lower case").
			WithHint("give the name alone with --host, such as mcp.example.com, without https:// and without a port")
	case len(secret) > 253 || !hostName.MatchString(secret):
		return invalid("the Secret", secret, "it has at most 253 lower-case letters, digits, - and .").
			WithHint("give its name with --token-secret, such as %s", suggest(secret, formats[0]))
	}
	return nil
}

// Decisions returns the lines that a person has to decide, each as FILE:LINE: TEXT.
func (r *Result) Decisions() (list []string) {
	for _, f := range r.Files {
		for n, text := range slices.Collect(strings.Lines(f.Text)) {
			if _, decision, ok := strings.Cut(text, "DECIDE"); ok && !strings.Contains(text, "Lines with DECIDE") {
				decision = strings.TrimSpace(strings.TrimPrefix(decision, ":"))
				if before, _, ok := strings.Cut(strings.TrimSpace(text), "#"); decision == "" && ok {
					decision = strings.TrimSpace(before)
				}
				list = append(list, fmt.Sprintf("%s:%d: %s", f.Name, n+1, decision))
			}
		}
	}
	return list
}

// AppendJSON appends the result as JSON.
func (r *Result) AppendJSON(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("ok").Bool(true).Name("format").String(r.Format).Name("name").String(r.Name).
		Optional("image", r.Image).Name("files").Array()
	for _, f := range r.Files {
		b.Object().Name("name").String(filepath.ToSlash(f.Name)).Name("text").String(f.Text).End()
	}
	return b.End().Name("decide").Strings(r.Decisions()).End().Bytes()
}

// A template is the text of a file. "{name}" in it is replaced by the value of that name. A line that begins with
// "?condition " is left out unless the condition is true; "+" joins conditions.
type template struct {
	conditions map[string]bool
	values     map[string]string
}

func (t template) fill(text string) string {
	var pairs []string
	for name, value := range t.values {
		pairs = append(pairs, "{"+name+"}", value)
	}
	values := strings.NewReplacer(pairs...) // does not search the values
	var b strings.Builder
	for one := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(one, "?"); ok {
			names, content, _ := strings.Cut(rest, " ")
			if slices.ContainsFunc(strings.Split(names, "+"), func(name string) bool { return !t.conditions[name] }) {
				continue
			}
			one = content
		}
		values.WriteString(&b, one)
	}
	return b.String()
}

// plain and words determine which texts need no quotes in YAML.
var (
	plain = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_./-]*$`)
	words = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"} // in any case
)

// yaml returns a text as a YAML scalar. It adds quotes unless every parser reads the plain text as the same string.
func yaml(text string) string {
	if plain.MatchString(text) && !slices.Contains(words, strings.ToLower(text)) {
		return text
	}
	var b strings.Builder
	for _, r := range string(rawjson.Quote(strings.ToValidUTF8(text, "\ufffd"))) {
		switch {
		case r > 0xffff: // too large for \u
			fmt.Fprintf(&b, `\U%08x`, r)
		case r >= 0x7f && !unicode.IsGraphic(r) || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffe || r == 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// oneLine returns a text without characters that end a line or are invisible.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	return strings.Join(strings.Fields(text), " ")
}

// unit returns a text as the description of a unit, in which % begins a specifier and \ continues a line.
func unit(text string) string {
	return strings.NewReplacer("%", "%%", `\`, "/").Replace(oneLine(text))
}
