package registration

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"mcp-bash/pkg/json/jsonedit"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

type edit struct {
	*jsonedit.Document
	project *Project
	fresh   bool                   // there was no file
	before  []registry.SourcedTool // the tools before the change
}

// edit begins a change of the text of register.json, or of no file if text is nil.
func (r *Project) edit(ctx context.Context, text []byte) (e *edit, err error) {
	e = &edit{project: r, fresh: text == nil}
	var doc *declare.Document
	if e.fresh {
		text = []byte(`{"version":1}`)
	} else if doc, err = r.parse(text); err != nil {
		return nil, err
	}
	e.Document = jsonedit.New(text)
	e.before, err = r.catalog.PreviewTools(ctx, doc)
	return e, err
}

func (e *edit) add(reg *registration, replace bool) error {
	if err := e.allowed(reg.ID); err != nil {
		return err
	}
	target := -1   // the entry that the registration replaces
	var dead []int // other entries with the same id or name
	for _, match := range []func(id, name string) bool{
		func(id, _ string) bool { return id == reg.ID },
		func(_, name string) bool { return name == reg.Name },
	} {
		for i, entry := range e.Elements(kinds.Tools.Key) {
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
	if err := e.collision(reg, replace); err != nil {
		return err
	}
	if !e.HasArray(kinds.Tools.Key) {
		if merge, _ := rawjson.Strings(e.Member("merge")); !slices.Contains(merge, kinds.Tools.Key) {
			e.Append("merge", rawjson.Quote(kinds.Tools.Key))
		}
	}
	if target >= 0 {
		e.ReplaceElement(kinds.Tools.Key, target, reg.entry)
	} else {
		e.Append(kinds.Tools.Key, reg.entry)
	}
	slices.Sort(dead)
	for _, i := range slices.Backward(dead) {
		e.Delete(kinds.Tools.Key, i)
	}
	e.DeleteStrings("exclude", reg.ID, reg.Name)
	return nil
}

func knownBy(entry json.RawMessage) (id, name string) {
	name = rawjson.TextOf(entry, "name")
	if v := rawjson.Get(entry, "id"); item.IsID(v) {
		id, _ = rawjson.Text(v)
		return id, name
	}
	return name, name
}

// collision returns the error for a registration whose id or name belongs to another tool.
// A registration cannot replace two tools, one by its id and one by its name (R-206,
// R-206a).
func (e *edit) collision(reg *registration, replace bool) error {
	var one *registry.SourcedTool
	for i := range e.before {
		s := &e.before[i]
		if !reg.collides(s.Candidate) || s.Path == path.Clean(reg.Path) && isBare(e.project.p, s) {
			continue
		}
		if !replace {
			return reg.duplicateOf(s.Candidate, kinds.Tools.Label(e.project.p, s.Candidate))
		}
		if one != nil {
			other := s
			if other.ID == reg.ID {
				other = one
			}
			return reg.duplicateOf(other.Candidate, kinds.Tools.Label(e.project.p, other.Candidate))
		}
		one = s
	}
	return nil
}

// remove removes the entries of a tool, and excludes tools that discovery still finds
//
func (e *edit) remove(ctx context.Context, gone item.Candidate) error {
	if err := e.allowed(gone.ID); err != nil {
		return err
	}
	for i, entry := range slices.Backward(e.Elements(kinds.Tools.Key)) {
		if id, name := knownBy(entry); id == gone.ID || name == gone.Name {
			e.Delete(kinds.Tools.Key, i)
		}
	}
	for range 2 { // by its id, by its name
		after, err := e.result(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(after, func(s registry.SourcedTool) bool { return s.ID == gone.ID || s.Name == gone.Name })
		if at < 0 {
			return nil
		}
		// Exclude the id, unless another tool has the id as its name.
		named, stays := gone.ID, after[at]
		another := func(s registry.SourcedTool) bool { return s.Name == named && s.ID != named }
		if stays.ID != named || slices.ContainsFunc(after, another) {
			named = stays.Name
		}
		e.Append("exclude", rawjson.Quote(named))
	}
	return nil
}

// allowed returns an error if a new register.json would disable register.sh.
func (e *edit) allowed(id string) error {
	if !e.fresh || !e.project.p.Discovery.Hooks || !e.project.catalog.HasHook() {
		return nil
	}
	return refuse(ErrInvalidRegistration, id, "a new %s would switch off %s, which registers this project's tools; "+
		"change it there", declare.JSONFile, declare.HookFile)
}

// result returns the tools after the change. If the new text is invalid, it returns an
// error.
func (e *edit) result(ctx context.Context) ([]registry.SourcedTool, error) {
	if max := e.project.p.Discovery.MaxManual; len(e.Text) > max {
		return nil, refuse(ErrInvalidRegistration, "",
			"%s would exceed %d bytes (MCPBASH_MAX_MANUAL_REGISTRY_BYTES)", declare.JSONFile, max)
	}
	doc, err := e.project.parse(e.Text)
	if err != nil {
		return nil, explain(err)
	}
	return e.project.catalog.PreviewTools(ctx, doc)
}

// parse parses a register.json. A fault that makes the tools unavailable is an error.
func (r *Project) parse(text []byte) (*declare.Document, error) {
	doc, err := declare.Parse(text)
	if err != nil {
		return nil, err
	}
	if m := doc.Lists[kinds.Tools.Key]; m != nil && m.Err != nil {
		return nil, m.Err
	}
	return doc, nil
}

// warn logs a warning for each tool with metadata that the registration hides because it
// names the same script.
func (e *edit) warn(reg *registration, after []registry.SourcedTool) {
	for i := range e.before {
		s := &e.before[i]
		stays := slices.ContainsFunc(after, func(a registry.SourcedTool) bool { return a.Name == s.Name })
		if !stays && !reg.collides(s.Candidate) && !isBare(e.project.p, s) {
			e.project.log(mcp.Warning, access.RegistryLogger,
				fmt.Sprintf("tool '%s' is no longer offered: '%s' takes its place (%s)",
					s.Name, reg.Name, kinds.Tools.Label(e.project.p, s.Candidate)))
		}
	}
}
