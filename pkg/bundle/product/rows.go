package product

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/registry/lock"
)

// A Row is an item of a project, and what it may do (LOCK-23).
type Row struct {
	Item        string // "tool add", or "project"
	Kind, Name  string // as in the lock
	Description string
	// Free means that nothing confines its scripts, so they may do what the user may.
	Free               bool
	access.Declaration          // of a tool; zero for most others
	Hosts              []string // that it contacts
	Hooks              []string // scripts of the project that no request names
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
			r.Declaration, _ = access.DeclarationOf(item.JSON) // an unreadable one allows nothing
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

// Rows returns the rows of its lock, and of the skills that a plugin has next to its project.
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

// provided adds what the provider of a resource does. One that is not built in is a script.
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

// The words of rows for what cannot be listed. Roots are the folders that a client or the project allows.
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
