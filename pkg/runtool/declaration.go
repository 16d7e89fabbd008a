package runtool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/run/observe"
	"mcp-bash/pkg/text/shell"
)

type declaration struct {
	capabilities []access.Capability // in the order of the metadata
	extras       map[string][]string // the lists of "confine", by name
	reasons      []reason            // one for each capability and entry
	never        []string            // accesses that no declaration permits
	beforehand   []beforehand        // entries that must exist before the tool runs with the declaration
}

// A beforehand is an entry that the call created in a directory that contains too much to be declared.
type beforehand struct {
	path string
	made observe.Made
	dir  string // the directory
}

func (b *beforehand) command() string {
	if b.made == observe.Directory {
		return "mkdir -p " + shell.Quote(b.path)
	}
	return "touch " + shell.Quote(b.path)
}

func (b *beforehand) String() string {
	return fmt.Sprintf("create the %s %s beforehand: %s; a tool that may create it may change all of %s",
		b.made, b.path, b.command(), b.dir)
}

type reason struct {
	declared string // "Search", or `read "data"`
	first    observe.Access
	more     int // number of further accesses
}

const (
	readList    = "read"
	writeList   = "write"
	execList    = "exec"
	connectList = "connect"
)

var extraLists = []string{readList, writeList, connectList, execList}

// mostOf is the maximum number of entries of a list.
const mostOf = 64

// surroundings are the directories to which paths are related.
type surroundings struct {
	project   string
	home      string                   // "" if unknown
	homes     fsys.Homes               // of the user
	state     string                   // state directory of the server, with the private directory of the script
	reach     []string                 // roots of the call, to which Search and Edit apply
	roots     []string                 // the same if roots were given, otherwise empty
	secret    []string                 // directories that no tool may read
	protected []string                 // directories with code that the server runs, which no tool may write
	processes []string                 // directories that control processes
	lookPath  func(name string) string // returns the program that PATH finds, without links, or ""
	// brings returns the paths that a declared program permits: itself, its installation and its interpreter.
	brings func(program string) []string
}

// A need is the declaration that would permit an access: an entry of a list, or capabilities.
type need struct {
	list, entry  string // "" for none; an entry is a path or a port
	capabilities []access.Capability
	never        string // why no declaration permits the access
	beforehand   *beforehand
}

func (s *surroundings) need(a observe.Access) need {
	takes := func(list, entry string, c ...access.Capability) need {
		return need{list: list, entry: entry, capabilities: c}
	}
	inRoot := within(s.roots, a.Path)
	switch {
	case !utf8.ValidString(a.Path):
		return need{never: "its name is not valid UTF-8"}
	case a.Kind == observe.Read && within(s.secret, a.Path):
		return need{never: "it is what is the server's own; only FileSystem reads that"}
	case a.Kind == observe.Read && (inRoot || slices.Contains(s.reach, a.Path)):
		return takes("", "", access.Search)
	case a.Kind == observe.Read && isTooBroad(s.homes, a.Path):
		return need{never: a.Path + " contains too much to be declared"}
	case a.Kind == observe.Read && within(s.reach, a.Path):
		return takes(readList, a.Path, access.Search)
	case a.Kind == observe.Read:
		return takes(readList, a.Path, access.FileSystem)
	case a.Kind == observe.Start:
		return takes(execList, a.Path, access.Process)
	case a.Kind == observe.Write, a.Kind == observe.Change, a.Kind == observe.Modes:
		return s.needOfWriting(a, inRoot)
	case a.Name == "unix":
		return takes("", "", access.Process, access.Network)
	case a.Kind == observe.Connect && a.Name == "tcp", a.Name == "udp" && a.Port == dns:
		return takes(connectList, strconv.Itoa(a.Port), access.Network)
	case a.Kind == observe.Signal:
		return need{never: "no process but the script's own is signalled"}
	case a.Name == "tcp", a.Name == "udp", a.Name == "netlink":
		return takes("", "", access.Network)
	case a.Name == "inotify_init", a.Name == "fanotify_init":
		return need{never: "only FileSystem watches files; most programs then poll"}
	case a.Kind == observe.Call:
		if c, ok := ofCalls[a.Name]; ok {
			return takes("", "", c)
		}
	}
	return need{never: "no confined tool may do this"}
}

const dns = 53

var ofCalls = map[string]access.Capability{
	"add_key": access.FileSystem, "request_key": access.FileSystem, "keyctl": access.FileSystem,
	"ptrace": access.Process, "process_vm_readv": access.Process, "process_vm_writev": access.Process,
	"process_madvise": access.Process, "pidfd_getfd": access.Process, "kcmp": access.Process,
	"memfd_create": access.Process, "listen": access.Network,
}

func (s *surroundings) needOfWriting(a observe.Access, inRoot bool) need {
	dir := a.Path // the directory or file that must be writable
	if a.Kind == observe.Change {
		dir = filepath.Dir(a.Path)
		inRoot = inRoot && !slices.Contains(s.roots, a.Path)
	}
	switch {
	case strings.HasPrefix(a.Path, "/proc/"):
		return need{never: "its path differs in each run"}
	case within(s.processes, dir):
		return need{never: "it controls processes, also those of others"}
	case a.Kind == observe.Modes && s.state != "" && fsys.Within(s.state, a.Path):
		return need{capabilities: []access.Capability{access.Edit}}
	case within(s.protected, a.Path):
		return need{never: "the server runs it later"}
	case a.Kind == observe.Change && s.containsTooMuch(dir) && !(inRoot && !overlaps(dir, s.protected)):
		return s.needOfEntry(a, dir, inRoot)
	case inRoot, a.Kind == observe.Modes:
		return need{capabilities: []access.Capability{access.Edit}}
	}
	if within(s.reach, dir) {
		return need{list: writeList, entry: dir, capabilities: []access.Capability{access.Edit}}
	}
	return need{list: writeList, entry: dir, capabilities: []access.Capability{access.FileSystem}}
}

// needOfEntry returns the declaration for creating an entry in a directory that contains too much
// to be declared. It is the entry alone, which must then exist beforehand.
func (s *surroundings) needOfEntry(a observe.Access, dir string, inRoot bool) need {
	if a.Made == "" {
		return need{never: "its directory, " + dir + ", contains too much to be declared; use $TMPDIR, or a directory made " +
			"beforehand"}
	}
	n := need{beforehand: &beforehand{a.Path, a.Made, dir}, capabilities: []access.Capability{access.Edit}}
	if !inRoot {
		n.list, n.entry = writeList, a.Path
		if !within(s.reach, dir) {
			n.capabilities[0] = access.FileSystem
		}
	}
	return n
}

// containsTooMuch reports whether a directory contains too much to be declared: nearly everything, a
// home directory, the project, or code that the server runs.
func (s *surroundings) containsTooMuch(dir string) bool {
	return isTooBroad(s.homes, dir) || fsys.Within(dir, s.project) || overlaps(dir, s.protected)
}

// isTooBroad reports whether a directory is too broad for a declaration: it is /etc, or it is or
// contains a home directory.
func isTooBroad(homes fsys.Homes, dir string) bool { return dir == "/etc" || homes.Hold(dir) }

func within(list []string, path string) bool { return covered(path, list) != "" }

func overlaps(path string, list []string) bool {
	return slices.ContainsFunc(list, func(dir string) bool {
		return fsys.Within(dir, path) || fsys.Within(path, dir)
	})
}

func (s *surroundings) remedy(a observe.Access) string {
	n := s.need(a)
	if n.never != "" {
		return "cannot be allowed: " + n.never
	}
	capabilities, extra := strings.Join(names(n.capabilities), " and "), ""
	if n.list != "" {
		extra = fmt.Sprintf(`"confine": %s`, extrasJSON(map[string][]string{n.list: {s.spell(n.list, n.entry)}}))
	}
	text := "takes " + capabilities
	switch {
	case n.list == execList:
		text = "takes " + extra + ", or " + capabilities // as in access.ProgramRemedy
	case a.Kind == observe.Socket && a.Name == "tcp":
		text += `, or "confine": {"connect": [PORT]}`
	case extra != "":
		text += ", or " + extra
	}
	if n.beforehand != nil {
		text += fmt.Sprintf(", and the %s to be created beforehand", n.beforehand.made)
	}
	return text
}

// usualNames are program names that are links to different programs on different systems.
var usualNames = []string{"sh", "awk", "python3", "python", "node", "nc"}

// spell returns an entry in the form of metadata. Paths below the project or the home directory are
// relative to it. Programs that PATH finds are names.
func (s *surroundings) spell(list, entry string) string {
	if list == connectList {
		return entry
	}
	if list == execList {
		for _, name := range append(usualNames, filepath.Base(entry)) {
			if s.lookPath(name) == entry {
				return name
			}
		}
	}
	if entry == s.project {
		return "."
	}
	if rest, ok := strings.CutPrefix(entry, s.project+"/"); ok {
		return access.Spell("./"+rest, list == execList)
	}
	if rest, ok := strings.CutPrefix(entry, s.home+"/"); ok && s.home != "" && s.home != "/" {
		return "~/" + rest
	}
	return entry
}

// resolve returns the file that an entry of a list means.
func (s *surroundings) resolve(list, entry string) string {
	if list == execList && !strings.Contains(entry, "/") {
		return cmp.Or(s.lookPath(entry), entry)
	}
	return access.Resolve(entry, s.project, s.home)
}

// has reports whether an entry of a list means the same as another, or a directory that contains it.
func (s *surroundings) has(list, there, entry string) bool {
	switch list {
	case readList, writeList:
		return fsys.Within(s.resolve(list, there), s.resolve(list, entry))
	case execList:
		return s.resolve(list, there) == s.resolve(list, entry)
	}
	return there == entry
}

// declare proposes a declaration that permits these accesses: a capability or an entry for each, without entries that
// others cover.
func (s *surroundings) declare(accesses []observe.Access) declaration {
	d := declaration{extras: map[string][]string{}}
	has := map[access.Capability]bool{}
	type done struct {
		observe.Access
		need
	}
	var all []done
	removed := map[string]bool{}
	for _, a := range accesses {
		removed[a.Path] = removed[a.Path] || a.Kind == observe.Change && a.Made == ""
	}
	for _, a := range accesses {
		if isOptional(a, accesses) {
			continue
		}
		if removed[a.Path] {
			a.Made = "" // an entry that is removed cannot be created beforehand
		}
		n := s.need(a)
		if n.never != "" {
			if text := describe(a) + ": " + n.never; !slices.Contains(d.never, text) {
				d.never = append(d.never, text)
			}
			continue
		}
		if b := n.beforehand; b != nil && !slices.Contains(d.beforehand, *b) {
			d.beforehand = append(d.beforehand, *b)
		}
		all = append(all, done{a, n})
		if n.list == "" {
			for _, c := range n.capabilities {
				has[c] = true
			}
		} else if list := d.extras[n.list]; !slices.Contains(list, n.entry) {
			d.extras[n.list] = append(list, n.entry)
		}
	}
	s.limit(d.extras, has)
	for _, list := range extraLists {
		sortEntries(d.extras[list])
		if n := len(d.extras[list]) - mostOf; n > 0 {
			d.never = append(d.never, fmt.Sprintf("%d entries of %s: it can have %d; declare directories, or a capability",
				n, list, mostOf))
			d.extras[list] = d.extras[list][:mostOf]
		}
	}
	for _, c := range access.Capabilities {
		if has[c] {
			d.capabilities = append(d.capabilities, c)
		}
	}
	if has[access.FileSystem] { // FileSystem permits creating entries everywhere
		d.beforehand = nil
	}
	for _, one := range all {
		for _, declared := range s.partsFor(one.need, &d) {
			at := slices.IndexFunc(d.reasons, func(r reason) bool { return r.declared == declared })
			if at < 0 {
				d.reasons = append(d.reasons, reason{declared, one.Access, 0})
			} else {
				d.reasons[at].more++
			}
		}
	}
	for list, entries := range d.extras {
		for i, entry := range entries {
			entries[i] = s.spell(list, entry)
		}
		sortEntries(entries)
		if len(entries) == 0 {
			delete(d.extras, list)
		}
	}
	return d
}

// limit removes entries and capabilities that others cover.
func (s *surroundings) limit(lists map[string][]string, has map[access.Capability]bool) {
	if has[access.Network] {
		lists[connectList] = nil
	}
	started := lists[execList]
	slices.SortFunc(started, func(a, b string) int { // a program with an interpreter comes before it
		return cmp.Or(len(s.brings(b))-len(s.brings(a)), strings.Compare(a, b))
	})
	lists[execList] = nil
	for _, program := range started {
		if !s.brought(program, lists[execList]) {
			lists[execList] = append(lists[execList], program)
		}
	}
	lists[writeList] = outermost(lists[writeList])
	lists[readList] = outermost(slices.DeleteFunc(lists[readList], func(path string) bool {
		return within(lists[writeList], path) || s.brought(path, lists[execList]) ||
			has[access.Search] && !has[access.Edit] && fsys.Within(s.project, path)
	}))
	if has[access.FileSystem] {
		lists[readList], lists[writeList] = nil, nil
		delete(has, access.Search)
		delete(has, access.Edit)
	}
	if has[access.Edit] {
		delete(has, access.Search)
	}
}

// brought reports whether one of the declared programs permits a path.
func (s *surroundings) brought(path string, programs []string) bool {
	return slices.ContainsFunc(programs, func(program string) bool {
		return path == program || within(s.brings(program), path)
	})
}

// outermost returns the paths, sorted, without those below other ones.
func outermost(paths []string) []string {
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return slices.ContainsFunc(paths, func(dir string) bool { return dir != path && fsys.Within(dir, path) })
	})
}

// covered returns the entry of a list that contains a path, or "".
func covered(path string, list []string) string {
	at := slices.IndexFunc(list, func(dir string) bool { return fsys.Within(dir, path) })
	if at < 0 {
		return ""
	}
	return list[at]
}

// partsFor returns the parts of a declaration for a need. It returns nil if the parts of other needs cover n.
func (s *surroundings) partsFor(n need, d *declaration) (parts []string) {
	if entry := covered(n.entry, d.extras[n.list]); n.list != "" && entry != "" {
		return []string{s.part(n.list, entry)}
	}
	for _, c := range n.capabilities {
		if n.list == "" && slices.Contains(d.capabilities, c) {
			parts = append(parts, string(c))
		}
	}
	return parts
}

func (s *surroundings) part(list, entry string) string {
	if list == connectList {
		return list + " " + entry
	}
	return fmt.Sprintf("%s %q", list, s.spell(list, entry))
}

// isOptional reports whether an access is optional for its program. The C library tries UDP sockets
// and netlink to choose among addresses, and asks daemons for names before it looks them up itself.
// Python stores compiled files.
func isOptional(a observe.Access, all []observe.Access) bool {
	among := func(is func(b observe.Access) bool) bool {
		return slices.ContainsFunc(all, func(b observe.Access) bool { return b.Program == a.Program && is(b) })
	}
	switch {
	case a.Kind == observe.Change || a.Kind == observe.Write:
		return strings.Contains(a.Path, "/__pycache__") // compiled Python files
	case a.Name == "udp" && a.Kind == observe.Listen:
		return a.Port == 0
	case a.Name == "udp" && a.Kind == observe.Connect && a.Port != dns:
		return a.Port == 0 || among(func(b observe.Access) bool {
			return b.Kind == observe.Connect && b.Name == "tcp" && b.Port == a.Port
		})
	case a.Name == "netlink":
		return among(func(b observe.Access) bool { return b.Name == "tcp" || b.Name == "udp" })
	case a.Name == "unix":
		return slices.Contains(askedForNames, a.Path) || strings.HasPrefix(a.Path, "/run/systemd/userdb/")
	}
	return false
}

var askedForNames = []string{
	"/run/nscd/socket", "/var/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve", "/run/systemd/journal/dev-log",
	"/dev/log",
}

func describe(a observe.Access) string {
	words := []string{string(a.Kind), a.Name, a.Path}
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
	if a.Port != 0 {
		words = append(words, strconv.Itoa(a.Port))
	}
	return strings.Join(words, " ") + " (" + a.Program + ")"
}

func (r reason) String() string {
	text := r.declared + ": " + describe(r.first)
	if r.more > 0 {
		text += fmt.Sprintf(" and %d more", r.more)
	}
	return text
}

func sortEntries(entries []string) {
	slices.SortFunc(entries, func(a, b string) int { return cmp.Or(number(a)-number(b), strings.Compare(a, b)) })
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// JSON returns the declaration in the form of metadata.
func (d *declaration) JSON() json.RawMessage {
	var b rawjson.Builder
	b.Object().Name("capabilities").Strings(names(d.capabilities))
	if len(d.extras) > 0 {
		b.Name("confine").Raw(extrasJSON(d.extras))
	}
	return b.End().Bytes()
}

func names(capabilities []access.Capability) []string {
	list := make([]string, len(capabilities))
	for i, c := range capabilities {
		list[i] = string(c)
	}
	return list
}

func extrasJSON(extras map[string][]string) json.RawMessage {
	var b rawjson.Builder
	b.Object()
	for _, list := range extraLists {
		switch entries := extras[list]; {
		case len(entries) == 0:
		case list == connectList:
			b.Name(list).Array()
			for _, port := range entries {
				b.Int(number(port))
			}
			b.End()
		default:
			b.Name(list).Strings(entries)
		}
	}
	return b.End().Bytes()
}
