package debian

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An Index contains the packages of one architecture, of all archives.
type Index struct {
	byName    map[string][]*Package // the newest first
	providers map[string][]*Package // of virtual packages
}

func (x *Index) add(text string, from *Archive, arch string) error {
	if x.byName == nil {
		x.byName, x.providers = map[string][]*Package{}, map[string][]*Package{}
	}
	return paragraphs(text, func(f map[string]string) error {
		p := &Package{
			Name: f["Package"], Version: f["Version"], Architecture: f["Architecture"], Filename: f["Filename"],
			SHA256: f["SHA256"], Homepage: f["Homepage"], priority: f["Priority"], provides: f["Provides"], archive: from,
			depends: join(f["Pre-Depends"], f["Depends"]), conflicts: join(f["Conflicts"], f["Breaks"]),
		}
		if p.Architecture != arch && p.Architecture != "all" {
			return nil
		}
		var err error
		if p.Size, err = strconv.ParseInt(f["Size"], 10, 64); err != nil || p.Size <= 0 || p.Name == "" ||
			p.Version == "" || !isSHA256(p.SHA256) {
			return fmt.Errorf("package %q: a field is missing or invalid", p.Name)
		}
		if name, err := localName(p.Filename); err != nil || name == "" || name != p.Filename {
			return fmt.Errorf("package %q: invalid file name %q", p.Name, p.Filename)
		}
		name, version, _ := strings.Cut(f["Source"], " (") // such as "glibc (2.41-12)"
		p.Source = cmp.Or(strings.TrimSpace(name), p.Name)
		p.SourceVersion = cmp.Or(strings.TrimSuffix(strings.TrimSpace(version), ")"), p.Version)
		x.byName[p.Name] = append(x.byName[p.Name], p)
		for _, alternatives := range parseRelations(p.provides) {
			x.providers[alternatives[0].name] = append(x.providers[alternatives[0].name], p)
		}
		return nil
	})
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ", " + b
}

// sort makes the order independent of the order of indexes.
func (x *Index) sort() {
	for _, list := range x.byName {
		slices.SortStableFunc(list, func(a, b *Package) int { return compareVersions(b.Version, a.Version) })
	}
	for _, list := range x.providers {
		slices.SortStableFunc(list, func(a, b *Package) int {
			return cmp.Or(rank(a.priority)-rank(b.priority), cmp.Compare(a.Name, b.Name), compareVersions(b.Version, a.Version))
		})
	}
}

// rank orders priorities: packages of a usual system come first.
func rank(priority string) int {
	if i := slices.Index([]string{"required", "important", "standard", "optional"}, priority); i >= 0 {
		return i
	}
	return 4
}

// Has reports whether there is a package with a name.
func (x *Index) Has(name string) bool { return len(x.byName[name]) > 0 }

// isForScripts reports whether a package needs another one only for the scripts that dpkg runs. This package runs no
// scripts.
func isForScripts(name, by string) bool {
	tools := []string{"debconf", "debconf-2.0", "dpkg", "init-system-helpers", "install-info", "ucf"}
	return slices.Contains(tools, name) || name == "openssl" && by == "ca-certificates"
}

// Resolve returns packages and their dependencies, ordered by name. The same index and names
// give the same result.
func (x *Index) Resolve(names []string) ([]*Package, error) {
	chosen := map[string]*Package{}
	var queue []*Package
	take := func(p *Package) {
		if chosen[p.Name] == nil {
			chosen[p.Name] = p
			queue = append(queue, p)
		}
	}
	for _, name := range names {
		p := x.best([]relation{{name: name}})
		if p == nil {
			return nil, fmt.Errorf("package %s is not in Debian", name)
		}
		take(p)
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, alternatives := range parseRelations(queue[0].depends) {
			if slices.ContainsFunc(alternatives, func(r relation) bool {
				return isForScripts(r.name, queue[0].Name) || fulfilled(chosen, r)
			}) {
				continue
			}
			p := x.best(alternatives)
			if p == nil {
				return nil, fmt.Errorf("package %s needs %s, which the archive does not have", queue[0].Name,
					alternatives[0].name)
			}
			if other := chosen[p.Name]; other != nil && other != p {
				return nil, fmt.Errorf("package %s needs %s %s, but %s was chosen", queue[0].Name, p.Name, p.Version,
					other.Version)
			}
			take(p)
		}
	}
	list := slices.SortedFunc(maps.Values(chosen), func(a, b *Package) int { return cmp.Compare(a.Name, b.Name) })
	return list, checkConflicts(list)
}

func fulfilled(chosen map[string]*Package, r relation) bool {
	if p := chosen[r.name]; p != nil && r.allows(p.Version) {
		return true
	}
	for _, p := range chosen {
		if p.isProvider(r) {
			return true
		}
	}
	return false
}

// isProvider reports whether a package provides a virtual package. A version is required of the
// provider only if the relation has one.
func (p *Package) isProvider(r relation) bool {
	return strings.Contains(p.provides, r.name) &&
		slices.ContainsFunc(parseRelations(p.provides), func(alternatives []relation) bool {
			v := alternatives[0]
			return v.name == r.name && (r.version == "" || v.version != "" && r.allows(v.version))
		})
}

// best returns the package for the first alternative that the archive has, or nil.
func (x *Index) best(alternatives []relation) *Package {
	for _, r := range alternatives {
		for _, p := range x.byName[r.name] {
			if r.allows(p.Version) {
				return p
			}
		}
		for _, p := range x.providers[r.name] {
			if p.isProvider(r) && x.byName[p.Name][0] == p {
				return p
			}
		}
	}
	return nil
}

func checkConflicts(list []*Package) error {
	for _, p := range list {
		for _, alternatives := range parseRelations(p.conflicts) {
			r := alternatives[0]
			for _, other := range list {
				if other != p && (other.Name == r.name && r.allows(other.Version) || other.Name != r.name && other.isProvider(r)) {
					return fmt.Errorf("packages %s and %s cannot be in one system", p.Name, other.Name)
				}
			}
		}
	}
	return nil
}

// paragraphs calls yield with each paragraph of a control file: the values of its fields. A value of several lines
// keeps its line breaks. Of two fields with one name, the last counts.
func paragraphs(text string, yield func(fields map[string]string) error) error {
	fields, last, number := map[string]string{}, "", 0
	end := func() error {
		if len(fields) == 0 {
			return nil
		}
		err := yield(fields)
		clear(fields)
		return err
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		number++
		switch {
		case strings.TrimLeft(line, " \t") == "":
			if err := end(); err != nil {
				return err
			}
		case line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			if len(fields) == 0 {
				return fmt.Errorf("line %d: a continuation without a field", number)
			}
			fields[last] += "\n" + strings.TrimSpace(line)
		default:
			name, value, found := strings.Cut(line, ":")
			if !found || name == "" || strings.ContainsAny(name, " \t") {
				return fmt.Errorf("line %d: not a field", number)
			}
			fields[name], last = strings.TrimSpace(value), name
		}
	}
	return end()
}

// A Package is a package of an index.
type Package struct {
	Name, Version, Architecture string
	Source, SourceVersion       string
	Filename, SHA256            string
	Size                        int64
	Homepage                    string

	depends, provides, conflicts string
	priority                     string
	archive                      *Archive
}

// A relation is a package that another one names, such as "libc6 (>= 2.36)".
type relation struct{ name, operator, version string }

// parseRelations parses a list of dependencies. Each has one or more alternatives.
func parseRelations(text string) (list [][]relation) {
	for clause := range strings.SplitSeq(text, ",") {
		var alternatives []relation
		for word := range strings.SplitSeq(clause, "|") {
			name, restriction, _ := strings.Cut(strings.TrimSpace(word), "(")
			name, _, _ = strings.Cut(strings.TrimSpace(name), ":") // name:any
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			restriction, _, _ = strings.Cut(restriction, ")")
			r := relation{name: name}
			restriction = strings.TrimSpace(restriction)
			r.version = strings.TrimSpace(strings.TrimLeft(restriction, "<>="))
			r.operator = strings.TrimSpace(restriction[:len(restriction)-len(strings.TrimLeft(restriction, "<>="))])
			alternatives = append(alternatives, r)
		}
		if len(alternatives) > 0 {
			list = append(list, alternatives)
		}
	}
	return list
}

func (r *relation) allows(version string) bool {
	if r.version == "" {
		return true
	}
	c := compareVersions(version, r.version)
	switch r.operator {
	case "<<":
		return c < 0
	case "<=", "<":
		return c <= 0
	case "=":
		return c == 0
	case ">=", ">":
		return c >= 0
	case ">>":
		return c > 0
	}
	return false
}

//go:embed programs.txt
var programs string

// PackageOf returns the package that contains a program. Most packages have the name of their program.
func PackageOf(program string) string {
	for line := range strings.Lines(programs) {
		name, list, _ := strings.Cut(line, ":")
		if slices.Contains(strings.Fields(list), program) {
			return name
		}
	}
	return program
}

// compareVersions compares two versions as dpkg does: [epoch:]upstream[-revision].
func compareVersions(a, b string) int {
	epochA, a := splitEpoch(a)
	epochB, b := splitEpoch(b)
	upstreamA, revisionA := splitRevision(a)
	upstreamB, revisionB := splitRevision(b)
	return cmp.Or(compareDigits(epochA, epochB), compareParts(upstreamA, upstreamB), compareParts(revisionA, revisionB))
}

func splitEpoch(v string) (epoch, rest string) {
	if epoch, rest, found := strings.Cut(v, ":"); found {
		return epoch, rest
	}
	return "0", v
}

func splitRevision(v string) (upstream, revision string) {
	if i := strings.LastIndexByte(v, '-'); i >= 0 {
		return v[:i], v[i+1:]
	}
	return v, "0"
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// compareParts compares texts and numbers alternately. A tilde sorts before the end.
func compareParts(a, b string) int {
	for a != "" || b != "" {
		for a != "" && !isDigit(a[0]) || b != "" && !isDigit(b[0]) {
			if c := cmp.Compare(weight(a), weight(b)); c != 0 {
				return c
			}
			a, b = a[1:], b[1:] // equal weights: both have a character
		}
		numberA, numberB := digits(a), digits(b)
		if c := compareDigits(numberA, numberB); c != 0 {
			return c
		}
		a, b = a[len(numberA):], b[len(numberB):]
	}
	return 0
}

// weight returns the rank of the first character: tilde, end or digit, letter, other.
func weight(text string) int {
	switch {
	case text == "" || isDigit(text[0]):
		return 0
	case text[0] == '~':
		return -1
	case 'A' <= text[0] && text[0] <= 'Z' || 'a' <= text[0] && text[0] <= 'z':
		return int(text[0])
	}
	return int(text[0]) + 256
}

func digits(text string) string {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return text[:n]
}

func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
