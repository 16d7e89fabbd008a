// Package registration registers tools in a project for the commands of mcp-registry.
//
// [NewProject] opens the registry of a project. A registered tool becomes an entry of
// server.d/register.json. The package edits the file under a lock and keeps the bytes of
// everything else in it.
//
// A registration is checked before the file is written. The Details of the [*Error] list
// every fault. The capabilities of a tool determine the security level that it needs.
package registration

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/internal/ctxlock"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// A Project lists all tools of a project, declared and discovered. It registers a tool by writing
// server.d/register.json. It is safe for concurrent use, also by several processes.
type Project struct {
	p       *project.Project
	catalog *registry.Catalog
	level   access.Level
	log     mcp.LogFunc
	mutex   ctxlock.Mutex // locked while register.json changes
	wait    time.Duration // for the lock of server.d
}

// NewProject returns the registry of a project. Without a Runner in the options, it does not
// contain the tools that register.sh registers.
func NewProject(p *project.Project, o registry.Options) *Project {
	log := o.Log
	if log == nil {
		log = func(mcp.Level, string, string) {}
	}
	wait := cmp.Or(o.LockWait, registry.DefaultLockWait)
	return &Project{
		p: p, catalog: registry.NewCatalog(p, o), level: access.EffectiveLevel(p, o.Log), log: log, mutex: ctxlock.New(),
		wait: wait,
	}
}

// Level returns the security level in effect.
func (r *Project) Level() access.Level { return r.level }

// Tool checks the project and returns a tool, given its id or else its name. The error is an
// [*Error], a [*registry.Failure] or the context's error.
func (r *Project) Tool(ctx context.Context, id string) (RegisteredTool, error) {
	all, err := r.catalog.SourcedTools(ctx)
	if err != nil {
		return RegisteredTool{}, explain(err)
	}
	at := lookUp(all, id)
	if at < 0 {
		return RegisteredTool{}, notFound(id, all)
	}
	return registeredTool(&all[at], r.level), nil
}

// Tools checks the project and returns all tools, sorted by name. It returns the same errors
// as [Project.Tool].
func (r *Project) Tools(ctx context.Context) ([]RegisteredTool, error) {
	all, err := r.catalog.SourcedTools(ctx)
	if err != nil {
		return nil, explain(err)
	}
	list := make([]RegisteredTool, len(all))
	for i := range all {
		list[i] = registeredTool(&all[i], r.level)
	}
	slices.SortStableFunc(list, func(a, b RegisteredTool) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// Items checks the project and returns the items of a kind, with expanded URIs. It returns
// the same errors as [Project.Tool].
func (r *Project) Items(ctx context.Context, kind *kinds.Kind) ([]json.RawMessage, error) {
	list, err := r.catalog.Fresh(ctx, kind)
	if err != nil {
		return nil, explain(err)
	}
	items := make([]json.RawMessage, len(list.Items))
	for i, entry := range list.Items {
		items[i] = rawjson.With(rawjson.With(entry.JSON, "uriAuto", nil), item.TypeDeclared, nil)
		if rawjson.Get(entry.JSON, "uri") != nil {
			items[i] = rawjson.With(items[i], "uri", rawjson.Quote(item.URI(r.p, entry.JSON)))
		}
	}
	return items, nil
}

// explain returns an [*Error] for a fault of register.json, and other errors unchanged.
func explain(err error) error {
	var fault *declare.Fault
	switch {
	case !errors.As(err, &fault):
		return err
	case fault.Insecure:
		return refuse(ErrPermissionDenied, "", "%s", fault.Text)
	default:
		e := refuse(ErrInvalidRegistration, "", "%s", fault.Text)
		e.Details = []string{fault.Text}
		return e
	}
}

// A RegisteredTool is a tool of a project.
type RegisteredTool struct {
	ToolRegistration
	Source        string       // "discovered", "register.json" or "register.sh"
	Unreadable    string       // why the declaration cannot be read; such a tool does not run
	RequiredLevel access.Level
	Allowed       bool         // the tool runs at the effective level

	item json.RawMessage
}

func registeredTool(s *registry.SourcedTool, level access.Level) RegisteredTool {
	needed := access.LevelOf(s.JSON)
	t := RegisteredTool{ToolRegistration: registrationOf(s.JSON), Source: s.Source, RequiredLevel: needed, item: s.JSON}
	if _, err := access.DeclarationOf(s.JSON); err != nil {
		t.Unreadable = err.Error()
	}
	t.Allowed = t.Unreadable == "" && level.Allows(needed)
	return t
}

// isBare reports whether a tool was discovered and has no metadata. A registration for its file then describes the tool
// and is not a duplicate.
func isBare(p *project.Project, s *registry.SourcedTool) bool {
	if s.Source != registry.DiscoveredSource {
		return false
	}
	dir, base := path.Split(s.Path)
	parent, err := folder.Open(filepath.Join(p.Tools, filepath.FromSlash(dir)))
	if err != nil {
		return false
	}
	defer parent.Close()
	return !item.IsDescribed(parent, base)
}

// AppendJSON appends the tool on one line.
func (t *RegisteredTool) AppendJSON(dst []byte) []byte {
	b := rawjson.Over(dst)
	b.Object().Name("id").String(t.ID).Name("name").String(t.Name).Name("description").String(t.Description).
		Name("version").String(t.Version).Name("capabilities")
	if t.Capabilities == nil {
		b.Null()
	} else {
		b.Array()
		for _, c := range t.Capabilities {
			b.String(string(c))
		}
		b.End()
	}
	if t.Confine != nil {
		b.Name("confine").Raw(t.Confine.JSON())
	}
	b.Optional("securityLevel", string(t.SecurityLevel)).Optional("unreadable", t.Unreadable).Name("parameters").Object()
	putParameters(b.Name("required"), t.Parameters.Required)
	putParameters(b.Name("optional"), t.Parameters.Optional)
	b.End().Name("path").String(t.Path).Name("source").String(t.Source)
	return b.Name("requiredLevel").String(string(t.RequiredLevel)).Name("allowed").Bool(t.Allowed).End().Bytes()
}

func putParameters(b *rawjson.Builder, list []Parameter) {
	b.Array()
	for _, one := range list {
		b.Object().Name("name").String(one.Name).Name("description").String(one.Description).
			Name("type").String(one.Type).Name("required").Bool(one.Required).End()
	}
	b.End()
}

// AppendWhole is [RegisteredTool.AppendText] with all other fields of the tool, so that a registration loses none.
func (t *RegisteredTool) AppendWhole(dst []byte) []byte {
	list := rawjson.Members(t.AppendJSON(nil))
	for _, m := range rawjson.Members(t.item) {
		printed := slices.ContainsFunc(list, func(other rawjson.Member) bool { return other.Name == m.Name })
		if !printed && slices.Contains(kinds.ToolFields, m.Name) && !rawjson.Absent(m.Value) {
			list = append(list, m)
		}
	}
	return appendLines(dst, "", list)
}

// AppendText appends the tool in the form that the commands print: one member on each line.
// indent begins each line except the first.
func (t *RegisteredTool) AppendText(dst []byte, indent string) []byte {
	return appendLines(dst, indent, rawjson.Members(t.AppendJSON(nil)))
}

func appendLines(dst []byte, indent string, members []rawjson.Member) []byte {
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, '\n'), indent...)
		dst = append(rawjson.AppendString(append(dst, "  "...), m.Name), ": "...)
		if rawjson.KindOf(m.Value) == rawjson.Object {
			dst = appendLines(dst, indent+"  ", rawjson.Members(m.Value))
		} else {
			dst = append(dst, m.Value...)
		}
	}
	return append(append(append(dst, '\n'), indent...), '}')
}
