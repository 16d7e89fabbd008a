package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
)

// A draft is register.json on its way to another state.
type draft struct {
	*manuscript
	r      *Project
	fresh  bool       // there was no file
	before []standing // the tools as they are
}

// draft reads what there is.
func (r *Project) draft(ctx context.Context) (*draft, error) {
	text, err := readDeclared(r.p)
	if err != nil {
		return nil, err
	}
	d := &draft{r: r, fresh: text == nil}
	var said *declarations
	if d.fresh {
		text = []byte(`{"version":1}`)
	} else if said, err = r.parse(text); err != nil {
		return nil, err
	}
	d.manuscript = newManuscript(text)
	d.before, err = r.catalog.Preview(ctx, said)
	return d, err
}

// enter adds a registration.
func (d *draft) enter(reg *registration, replace bool) error {
	if err := d.allowed(reg.id); err != nil {
		return err
	}
	target := -1 // the entry in whose place it goes
	var dead []int
	for _, match := range []func(id, name string) bool{
		func(id, _ string) bool { return id == reg.id },
		func(_, name string) bool { return name == reg.Name },
	} {
		for i, entry := range d.elements(Tools.Key) {
			id, name := knownBy(entry)
			switch {
			case !match(id, name) || i == target || slices.Contains(dead, i):
			case target < 0:
				target = i
			default:
				dead = append(dead, i)
			}
		}
	}
	if err := d.collision(reg, replace); err != nil {
		return err
	}
	if !d.has(Tools.Key) {
		if merge, _ := rawjson.Strings(d.member("merge")); !slices.Contains(merge, Tools.Key) {
			d.add("merge", rawjson.Quote(Tools.Key))
		}
	}
	if target >= 0 {
		d.put(Tools.Key, target, reg.entry)
	} else {
		d.add(Tools.Key, reg.entry)
	}
	slices.Sort(dead)
	for _, i := range slices.Backward(dead) {
		d.cut(Tools.Key, i)
	}
	d.drop("exclude", reg.id, reg.Name)
	return nil
}

// knownBy returns the id and the name of an entry.
func knownBy(entry json.RawMessage) (id, name string) {
	name = rawjson.TextOf(entry, "name")
	if v := rawjson.Get(entry, "id"); isID(v) {
		id, _ = rawjson.Text(v)
		return id, name
	}
	return name, name
}

// collision returns the error for a registration whose id or name is taken
// . One may replace a tool, not two: when its id is that of one and its
// name that of another, it cannot be both.
func (d *draft) collision(reg *registration, replace bool) error {
	var one *standing
	for i := range d.before {
		s := &d.before[i]
		if !reg.collides(s.found) || s.path == path.Clean(reg.path) && isBare(d.r.p, s) {
			continue
		}
		if !replace {
			return reg.duplicateOf(s.found, Tools.shown(d.r.p, s.found))
		}
		if one != nil {
			other := s
			if other.id == reg.id {
				other = one
			}
			return reg.duplicateOf(other.found, Tools.shown(d.r.p, other.found))
		}
		one = s
	}
	return nil
}

// remove takes a tool out.
func (d *draft) remove(ctx context.Context, gone found) error {
	if err := d.allowed(gone.id); err != nil {
		return err
	}
	for i, entry := range slices.Backward(d.elements(Tools.Key)) {
		if id, name := knownBy(entry); id == gone.id || name == gone.Name {
			d.cut(Tools.Key, i)
		}
	}
	for range 2 { // by its id, by its name
		after, err := d.judge(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(after, func(s standing) bool { return s.id == gone.id || s.Name == gone.Name })
		if at < 0 {
			return nil
		}
		// Its id, unless that takes out another tool as well: one of that name.
		named, stays := gone.id, after[at]
		if stays.id != named || slices.ContainsFunc(after, func(s standing) bool { return s.Name == named && s.id != named }) {
			named = stays.Name
		}
		d.add("exclude", rawjson.Quote(named))
	}
	return nil
}

// allowed reports whether there may be a register.json: a new one would end
// what register.sh registers.
func (d *draft) allowed(id string) error {
	if !d.fresh || !d.r.p.Discovery.Hooks {
		return nil
	}
	if !d.r.catalog.HasHook() {
		return nil
	}
	return newError(ErrInvalidRegistration, id, fmt.Sprintf("a new %s would switch off %s, which registers this project's tools; change it there", jsonFile, hookFile))
}

// judge returns what the tools will be with the changed text. A text that could
// not be read again is an error.
func (d *draft) judge(ctx context.Context) ([]standing, error) {
	if max := d.r.p.Discovery.MaxManual; len(d.text) > max {
		return nil, newError(ErrInvalidRegistration, "", fmt.Sprintf("%s would exceed %d bytes (MCPBASH_MAX_MANUAL_REGISTRY_BYTES)", jsonFile, max))
	}
	said, err := d.r.parse(d.text)
	if err != nil {
		return nil, explain(err)
	}
	return d.r.catalog.Preview(ctx, said)
}

// parse reads a text as the programs of the project would.
func (r *Project) parse(text []byte) (*declarations, error) {
	said, err := parseDeclarations(text)
	if err != nil {
		return nil, err
	}
	if m := said.kinds[Tools.Key]; m != nil && m.fault != nil {
		return nil, m.fault
	}
	return said, nil
}

// warn tells which described tools a registration hides without being meant to
// replace them: those of the same script.
func (d *draft) warn(reg *registration, after []standing) {
	for i := range d.before {
		s := &d.before[i]
		stays := slices.ContainsFunc(after, func(a standing) bool { return a.Name == s.Name })
		if !stays && !reg.collides(s.found) && !isBare(d.r.p, s) {
			d.r.log(mcp.Warning, registryLogger, fmt.Sprintf("tool '%s' is no longer offered: '%s' takes its place (%s)", s.Name, reg.Name, Tools.shown(d.r.p, s.found)))
		}
	}
}
