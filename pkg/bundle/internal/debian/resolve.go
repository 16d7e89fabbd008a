package debian

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An Index contains the packages of one architecture, of all archives.
type Index struct {
	byName    map[string][]*Package // the newest first
	providers map[string][]provided // of virtual packages
}

type provided struct {
	by      *Package
	version string // "" if the provider names none
}

func (x *Index) add(text string, from *Archive, arch string) error {
	if x.byName == nil {
		x.byName, x.providers = map[string][]*Package{}, map[string][]provided{}
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
			name := alternatives[0].name
			x.providers[name] = append(x.providers[name], provided{p, alternatives[0].version})
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
		slices.SortStableFunc(list, func(a, b provided) int {
			return cmp.Or(rank(a.by.priority)-rank(b.by.priority), cmp.Compare(a.by.Name, b.by.Name),
				compareVersions(b.by.Version, a.by.Version))
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

// isForScripts reports whether a package needs another one only for the scripts that dpkg runs. Nothing
// runs them here.
func isForScripts(name, by string) bool {
	switch name {
	case "debconf", "debconf-2.0", "dpkg", "init-system-helpers", "install-info", "ucf":
		return true
	}
	return name == "openssl" && by == "ca-certificates"
}

// A MissingError means that a dependency cannot be fulfilled.
type MissingError struct{ Package, By string }

func (e *MissingError) Error() string {
	if e.By == "" {
		return fmt.Sprintf("Debian has no package %s", e.Package)
	}
	return fmt.Sprintf("package %s needs %s, which the archive does not have", e.By, e.Package)
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
			return nil, &MissingError{Package: name}
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
				return nil, &MissingError{alternatives[0].name, queue[0].Name}
			}
			if other := chosen[p.Name]; other != nil && other != p {
				return nil, fmt.Errorf("package %s needs %s %s, but %s was chosen", queue[0].Name, p.Name, p.Version,
					other.Version)
			}
			take(p)
		}
	}
	list := make([]*Package, 0, len(chosen))
	for _, p := range chosen {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *Package) int { return cmp.Compare(a.Name, b.Name) })
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
		for _, v := range x.providers[r.name] {
			if (r.version == "" || v.version != "" && r.allows(v.version)) && x.byName[v.by.Name][0] == v.by {
				return v.by
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
