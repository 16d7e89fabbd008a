package registration

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

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

// A Project lists all tools of a project, declared and discovered. It registers a tool by
// writing server.d/register.json. It is safe for concurrent use, also by several
// processes.
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

// explain returns an [*Error] for a fault of register.json, and other errors unchanged
//
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
