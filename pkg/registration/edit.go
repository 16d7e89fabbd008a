package registration

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"mcp-bash/pkg/jsonedit"
	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
)

// A edit is register.json on its way to another state.
type edit struct {
	*jsonedit.Document
	project *Project
	fresh   bool                   // there was no file
	before  []registry.SourcedTool // the tools as they are
}

// edit reads what there is.
func (r *Project) edit(ctx context.Context) (*edit, error) {
	text, err := declare.ReadFile(r.p)
	if err != nil {
		return nil, err
	}
	d := &edit{project: r, fresh: text == nil}
	var said *declare.Document
	if d.fresh {
		text = []byte(`{"version":1}`)
	} else if said, err = r.parse(text); err != nil {
		return nil, err
	}
	d.Document = jsonedit.New(text)
	d.before, err = r.catalog.PreviewTools(ctx, said)
	return d, err
}

// add adds a registration.
func (d *edit) add(reg *registration, replace bool) error {
	if err := d.allowed(reg.ID); err != nil {
		return err
	}
	target := -1 // the entry in whose place it goes
	var dead []int
	for _, match := range []func(id, name string) bool{
		func(id, _ string) bool { return id == reg.ID },
		func(_, name string) bool { return name == reg.Name },
	} {
		for i, entry := range d.Elements(kinds.Tools.Key) {
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
	if !d.HasArray(kinds.Tools.Key) {
		if merge, _ := rawjson.Strings(d.Member("merge")); !slices.Contains(merge, kinds.Tools.Key) {
			d.Append("merge", rawjson.Quote(kinds.Tools.Key))
		}
	}
	if target >= 0 {
		d.ReplaceElement(kinds.Tools.Key, target, reg.entry)
	} else {
		d.Append(kinds.Tools.Key, reg.entry)
	}
	slices.Sort(dead)
	for _, i := range slices.Backward(dead) {
		d.Delete(kinds.Tools.Key, i)
	}
	d.DeleteStrings("exclude", reg.ID, reg.Name)
	return nil
}

// knownBy returns the id and the name of an entry.
func knownBy(entry json.RawMessage) (id, name string) {
	name = rawjson.TextOf(entry, "name")
	if v := rawjson.Get(entry, "id"); item.IsID(v) {
		id, _ = rawjson.Text(v)
		return id, name
	}
	return name, name
}

// collision returns the error for a registration whose id or name is taken
// . One may replace a tool, not two: when its id is that of one and its
// name that of another, it cannot be both.
func (d *edit) collision(reg *registration, replace bool) error {
	var one *registry.SourcedTool
	for i := range d.before {
		s := &d.before[i]
		if !reg.collides(s.Candidate) || s.Path == path.Clean(reg.Path) && isBare(d.project.p, s) {
			continue
		}
		if !replace {
			return reg.duplicateOf(s.Candidate, kinds.Tools.Label(d.project.p, s.Candidate))
		}
		if one != nil {
			other := s
			if other.ID == reg.ID {
				other = one
			}
			return reg.duplicateOf(other.Candidate, kinds.Tools.Label(d.project.p, other.Candidate))
		}
		one = s
	}
	return nil
}

// remove takes a tool out.
func (d *edit) remove(ctx context.Context, gone item.Candidate) error {
	if err := d.allowed(gone.ID); err != nil {
		return err
	}
	for i, entry := range slices.Backward(d.Elements(kinds.Tools.Key)) {
		if id, name := knownBy(entry); id == gone.ID || name == gone.Name {
			d.Delete(kinds.Tools.Key, i)
		}
	}
	for range 2 { // by its id, by its name
		after, err := d.result(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(after, func(s registry.SourcedTool) bool { return s.ID == gone.ID || s.Name == gone.Name })
		if at < 0 {
			return nil
		}
		// Its id, unless that takes out another tool as well: one of that name.
		named, stays := gone.ID, after[at]
		if stays.ID != named || slices.ContainsFunc(after, func(s registry.SourcedTool) bool { return s.Name == named && s.ID != named }) {
			named = stays.Name
		}
		d.Append("exclude", rawjson.Quote(named))
	}
	return nil
}

// allowed reports whether there may be a register.json: a new one would end
// what register.sh registers.
func (d *edit) allowed(id string) error {
	if !d.fresh || !d.project.p.Discovery.Hooks {
		return nil
	}
	if !d.project.catalog.HasHook() {
		return nil
	}
	return newError(ErrInvalidRegistration, id, fmt.Sprintf("a new %s would switch off %s, which registers this project's tools; change it there", declare.JSONFile, declare.HookFile))
}

// result returns what the tools will be with the changed text. A text that could
// not be read again is an error.
func (d *edit) result(ctx context.Context) ([]registry.SourcedTool, error) {
	if max := d.project.p.Discovery.MaxManual; len(d.Text) > max {
		return nil, newError(ErrInvalidRegistration, "", fmt.Sprintf("%s would exceed %d bytes (MCPBASH_MAX_MANUAL_REGISTRY_BYTES)", declare.JSONFile, max))
	}
	said, err := d.project.parse(d.Text)
	if err != nil {
		return nil, explain(err)
	}
	return d.project.catalog.PreviewTools(ctx, said)
}

// parse reads a text as the programs of the project would.
func (r *Project) parse(text []byte) (*declare.Document, error) {
	said, err := declare.Parse(text)
	if err != nil {
		return nil, err
	}
	if m := said.Lists[kinds.Tools.Key]; m != nil && m.Err != nil {
		return nil, m.Err
	}
	return said, nil
}

// warn tells which described tools a registration hides without being meant to
// replace them: those of the same script.
func (d *edit) warn(reg *registration, after []registry.SourcedTool) {
	for i := range d.before {
		s := &d.before[i]
		stays := slices.ContainsFunc(after, func(a registry.SourcedTool) bool { return a.Name == s.Name })
		if !stays && !reg.collides(s.Candidate) && !isBare(d.project.p, s) {
			d.project.log(mcp.Warning, access.RegistryLogger, fmt.Sprintf("tool '%s' is no longer offered: '%s' takes its place (%s)", s.Name, reg.Name, kinds.Tools.Label(d.project.p, s.Candidate)))
		}
	}
}
