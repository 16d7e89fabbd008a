package product

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/registry/lock"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/text/toolnames"
	"mcp-bash/pkg/text/weburl"
)

// A Row is an item of a project, with its rights.
type Row struct {
	Item        string // "tool add", or "project"
	Kind, Name  string // as in the lock
	Description string
	// Free means that nothing confines the item's scripts: they have all permissions of the user.
	Free               bool
	access.Declaration          // the declaration of a tool; zero for most other items
	Hosts              []string // the hosts that the item contacts
	Hooks              []string // scripts that the server runs without a request
}

// hooks are the scripts of a project that the server runs by itself.
var hooks = []string{"env.sh", "health-checks.sh", "policy.sh", "register.sh"}

// rowsOf returns the items of a lock, in its order.
func rowsOf(l *lock.Lock) (rows []Row) {
	all := false // whether scripts that declare nothing are confined, too
	for i := range l.Items {
		item := &l.Items[i]
		if item.Kind == lock.Project {
			text := rawjson.TextOf(rawjson.Get(item.JSON, "meta"), access.MemberConfine)
			mode, isKnown := access.ParseConfinement(cmp.Or(text, "off"))
			all = mode.All || !isKnown
		}
		r := Row{Item: item.Label(), Kind: item.Kind, Name: item.Name, Description: rawjson.TextOf(item.JSON, "description")}
		others := 0 // files next to the item's own
		for file := range rawjson.All(rawjson.Get(item.JSON, "files")) {
			if hook, ok := strings.CutPrefix(file, "server.d/"); ok && slices.Contains(hooks, hook) {
				r.Hooks = append(r.Hooks, file)
			}
			if path := rawjson.TextOf(item.JSON, "path"); path == "" || !strings.HasSuffix(file, "/"+path) {
				others++
			}
		}
		switch r.Kind {
		case lock.Project:
			r.Free = len(r.Hooks) > 0
		case kinds.Tools.Key:
			r.Declaration, _ = access.DeclarationOf(item.JSON) // an unreadable declaration allows nothing
			r.Free = !r.Given && !all
		case kinds.UIResources.Key:
			for _, m := range rawjson.Members(rawjson.Get(item.JSON, "csp")) {
				domains, _ := rawjson.Strings(m.Value)
				r.Hosts = append(r.Hosts, domains...)
			}
		case kinds.Completions.Key:
			r.Free = true
		case kinds.Resources.Key, kinds.Templates.Key:
			r.provided(item)
			r.Free = r.Free || others > 0 // completion scripts
		case kinds.Prompts.Key:
			r.Free = others > 0
		}
		if r.Free && all && r.Kind != lock.Project {
			r.Free, r.Capabilities = false, []access.Capability{access.Search, access.Process, access.Network}
		}
		slices.Sort(r.Hosts)
		r.Hosts = slices.Compact(r.Hosts)
		rows = append(rows, r)
	}
	return rows
}

// Rows returns the rows of the product's lock, and of the skills of a plugin outside its project.
func (p *Product) Rows(l *lock.Lock) []Row {
	rows := rowsOf(l)
	for _, file := range slices.Sorted(maps.Keys(p.Files)) {
		name, isSkill := strings.CutSuffix(strings.TrimPrefix(file, "skills/"), "/SKILL.md")
		if p.Kind == kindPlugin && isSkill && strings.HasPrefix(file, "skills/") {
			rows = append(rows, Row{Item: "skill " + name, Name: name})
		}
	}
	return rows
}

// provided adds the rights of a resource's provider. A provider that is not built in is a script.
func (r *Row) provided(item *lock.Item) {
	uri := cmp.Or(rawjson.TextOf(item.JSON, "uri"), rawjson.TextOf(item.JSON, "uriTemplate"))
	scheme, rest, _ := strings.Cut(uri, "://")
	path := rawjson.TextOf(item.JSON, "path")
	switch provider := cmp.Or(rawjson.TextOf(item.JSON, "provider"), scheme); {
	case path != "":
		r.Read = []string{"resources/" + path}
	case provider == "file":
		r.Read = []string{rest}
	case provider == "https", provider == "git":
		r.Hosts = []string{anyHost}
		if u, err := url.Parse(uri); err == nil && u.Host != "" && !strings.Contains(u.Host, "{") {
			r.Hosts = []string{u.Hostname()}
		}
	case provider != "ui" && provider != "echo":
		r.Free = true
	}
}

// Objects of a [Right] for access without a list of paths or hosts. Roots are the folders that a client or the project
// allows.
const (
	anything = "anything"
	roots    = "roots"
	anyHost  = "any host"
)

// A Right is a verb and its objects, such as reads and paths.
type Right struct {
	Verb    string
	Objects []string
}

// Rights returns what the item may read, write, reach and start, in this order. Objects may be empty.
func (r *Row) Rights() []Right {
	read, write, reach, start := slices.Concat(r.Read, r.Write), r.Write, slices.Clone(r.Hosts), r.Exec
	for _, port := range r.Connect {
		reach = append(reach, fmt.Sprintf("TCP port %d", port))
	}
	if r.Has(access.Search) {
		read = append([]string{"project", roots}, read...)
	}
	if r.Has(access.Edit) {
		read, write = append([]string{roots}, read...), append([]string{roots}, write...)
	}
	if r.Has(access.FileSystem) {
		read, write = []string{"all files"}, []string{"all files"}
	}
	if r.Has(access.Network) {
		reach = []string{anyHost}
	}
	if r.Has(access.Process) {
		start = []string{"any program"}
	}
	if r.Free {
		read = []string{anything}
		write, reach, start = read, read, read
	}
	return []Right{{"reads", read}, {"writes", write}, {"reaches", reach}, {"starts", start}}
}

// Text returns the rights for people, on one line.
func (r *Row) Text() string {
	switch {
	case len(r.Hooks) > 0:
		return "anything: nothing confines " + strings.Join(r.Hooks, ", ")
	case r.Free:
		return "anything: nothing confines it"
	}
	var list []string
	for _, right := range r.Rights() {
		if len(right.Objects) > 0 {
			list = append(list, right.Verb+" "+strings.Join(right.Objects, ", "))
		}
	}
	return cmp.Or(strings.Join(list, "; "), "nothing")
}

// imageUserHome is the home directory in an image.
const imageUserHome = "/home/nonroot"

// The forms in which other programs enforce the permissions of a project.
const (
	toolhive = "toolhive-profile"
	docker   = "docker"
	claude   = "claude-settings"
)

// Formats are the formats of [Permissions].
var Formats = []string{toolhive, docker, claude}

// Permissions returns the permissions of a project in one of the [Formats]. The notes list permissions that the format
// cannot express. The image contains the project's files, so only paths elsewhere are mounted. home replaces "~" on
// this machine.
func Permissions(l *lock.Lock, format, home string) (text string, notes []string) {
	p := permissions{home: home}
	name, version := "server", ""
	if project := l.Find(lock.Project, ""); project != nil {
		meta := rawjson.Get(project.JSON, "meta")
		name, version = rawjson.TextOf(meta, "name"), rawjson.TextOf(meta, "version")
	}
	rows := rowsOf(l)
	if format == claude {
		return p.claude(name, rows), p.notes
	}
	for i := range rows {
		p.add(&rows[i])
	}
	slices.Sort(p.ports)
	p.ports = slices.Compact(p.ports)
	p.note("programs are not limited, and all tools share these permissions")
	if format == toolhive {
		return p.profile(), p.notes
	}
	return p.docker(weburl.ImageName(name, version)), p.notes
}

// permissions are the union of the permissions of all items of a project.
type permissions struct {
	home        string
	read, write [][2]string // paths on the machine and in the container
	hosts       []string
	ports       []int
	anyHost     bool
	anyOnPorts  bool // any host on the ports
	notes       []string
}

func (p *permissions) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(p.notes, text) {
		p.notes = append(p.notes, text)
	}
}

// add adds the permissions of an item. It records those that are not added.
func (p *permissions) add(r *Row) {
	if r.Kind == kinds.UIResources.Key {
		return // pages run in the client
	}
	if r.Free {
		p.note("%s is not confined, so its needs are unknown, and nothing is allowed for it", r.Item)
		return
	}
	for _, file := range r.Read {
		p.mount(r, file, &p.read)
	}
	for _, file := range r.Write {
		p.mount(r, file, &p.write)
	}
	for _, host := range r.Hosts {
		if host == anyHost {
			p.anyHost = true
		} else if !slices.Contains(p.hosts, host) {
			p.hosts, p.ports = append(p.hosts, host), append(p.ports, 443)
		}
	}
	for _, port := range r.Connect {
		p.ports, p.anyOnPorts = append(p.ports, int(port)), true
	}
	p.anyHost = p.anyHost || r.Has(access.Network)
	if r.Has(access.FileSystem) {
		p.note("%s may use all files of the user; add the folders that it needs", r.Item)
	} else if r.Has(access.Search) || r.Has(access.Edit) {
		p.note("%s uses its roots, which depend on the client; add these folders", r.Item)
	}
}

// mount adds a path outside the project.
func (p *permissions) mount(r *Row, file string, list *[][2]string) {
	at := [2]string{path.Clean(file), path.Clean(file)}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		at = [2]string{path.Join(p.home, rest), path.Join(imageUserHome, rest)}
	}
	switch {
	case !path.IsAbs(at[0]) && list == &p.write:
		p.note("%s writes %s in the project, which is read-only in an image", r.Item, file)
	case !path.IsAbs(at[0]): // the image contains this file
	case at[0] == "/" || strings.ContainsAny(at[0], ":,\"\n"):
		p.note("%s uses %s, which cannot be mounted", r.Item, file)
	case !slices.Contains(*list, at):
		*list = append(*list, at)
	}
}

// profile returns a permission profile of ToolHive. Its proxy requires a listed port and, if any host is listed, a
// listed host. So if a port allows any host, no hosts are listed.
func (p *permissions) profile() string {
	paths := func(list [][2]string) (all []string) {
		for _, at := range list {
			if at[0] == at[1] {
				at[1] = ""
			}
			all = append(all, strings.TrimSuffix(at[0]+":"+at[1], ":"))
		}
		return all
	}
	if len(p.ports) > 0 && !p.anyHost {
		p.note("ToolHive limits HTTP and HTTPS only, by its proxy; other connections fail")
	}
	var b rawjson.Builder
	b.Object().Name("read").Strings(paths(p.read)).Name("write").Strings(paths(p.write)).
		Name("network").Object().Name("outbound").Object().Name("insecure_allow_all").Bool(p.anyHost)
	if !p.anyHost {
		if p.anyOnPorts {
			p.hosts = nil
		}
		b.Name("allow_host").Strings(p.hosts).Name("allow_port").Array()
		for _, port := range p.ports {
			b.Int(port)
		}
		b.End()
	}
	return string(rawjson.AppendIndent(nil, b.End().End().End().Bytes(), 0)) + "\n"
}

// docker returns a command that starts the image of the project.
func (p *permissions) docker(image string) string {
	lines := []string{"docker run --rm --interactive", "--read-only", "--tmpfs /tmp", "--cap-drop ALL",
		"--security-opt no-new-privileges"}
	if !p.anyHost && len(p.ports) == 0 {
		lines = append(lines, "--network none")
	} else {
		p.note("Docker limits neither hosts nor ports")
	}
	mount := func(at [2]string, end string) {
		lines = append(lines, "--mount "+shell.Quote("type=bind,source="+at[0]+",target="+at[1]+end))
	}
	for _, at := range p.read {
		if !slices.Contains(p.write, at) {
			mount(at, ",readonly")
		}
	}
	for _, at := range p.write {
		mount(at, "")
	}
	return strings.Join(append(lines, shell.Quote(image)), " \\\n  ") + "\n"
}

// claude returns settings of Claude Code. They allow calls of tools that, by their declaration, neither change anything
// nor contact anybody.
func (p *permissions) claude(server string, rows []Row) string {
	client := toolnames.Of("Claude Code")
	var allow, ask []string
	for _, r := range rows {
		if r.Kind != kinds.Tools.Key {
			continue
		}
		name, _ := client.Sent(server, r.Name)
		changes := r.Has(access.Edit) || r.Has(access.FileSystem) || r.Has(access.Network)
		if r.Free || changes || len(r.Write)+len(r.Connect) > 0 {
			ask = append(ask, name)
		} else {
			allow = append(allow, name)
		}
	}
	p.note("Claude Code decides about calls only. The server limits files, hosts and programs, on Linux")
	var b rawjson.Builder
	b.Object().Name("permissions").Object().Name("allow").Strings(allow).Name("ask").Strings(ask).End().End()
	return string(rawjson.AppendIndent(nil, b.Bytes(), 0)) + "\n"
}
