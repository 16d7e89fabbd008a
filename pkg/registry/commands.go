package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/files/atomicfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// RefreshOptions are the options of a refresh.
type RefreshOptions struct {
	// Filter limits the scan to a directory. The default is
	// MCPBASH_REGISTRY_REFRESH_PATH.
	Filter string
	// Strict treats every warning as a failure.
	Strict bool
}

// A Report is the result of a refresh.
type Report struct {
	Kinds   []KindReport // in the order of [kinds.All]
	Minimal bool         // minimal mode: nothing was done
	Warned  bool         // Strict is set and a warning was logged
}

// A KindReport is the part of a [Report] about one kind.
type KindReport struct {
	Kind  *kinds.Kind
	Count int   // of the items in the kind's file
	Err   error // a [*Failure], or nil

	Dropped []string // the reason for each declared entry that was left out
}

// Refresh checks all kinds, also before the end of the TTL and in static mode. If a kind fails, Refresh continues with
// the others. The error is the context's error.
func (c *Catalog) Refresh(ctx context.Context, o RefreshOptions) (*Report, error) {
	report := &Report{Minimal: c.p.Minimal}
	filter := cmp.Or(o.Filter, c.p.Discovery.SubPath)
	bounds := map[*kinds.Kind]string(nil)
	if !report.Minimal {
		bounds = c.bounds(filter)
	}
	c.store.sweep(ctx)
	r := request{asked: c.checks.Load(), force: true}
	for _, s := range c.states {
		k := KindReport{Kind: s.kind}
		var list *List
		if !report.Minimal {
			r.within = bounds[s.kind]
			if list, k.Err = c.refresh(ctx, s, r); ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			k.Dropped = s.last.Load().dropped
			var locked *atomicfile.LockedError
			r.locked = r.locked || errors.As(k.Err, &locked)
		}
		if list != nil {
			k.Count = len(list.Items)
		} else if file, err := c.store.read(s.kind); err == nil {
			k.Count = len(file.items)
		}
		report.Kinds = append(report.Kinds, k)
	}
	report.Warned = o.Strict && c.warnings.Load() > 0
	return report, nil
}

func (c *Catalog) refresh(ctx context.Context, s *state, r request) (*List, error) {
	if err := s.mutex.Lock(ctx); err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	return c.renew(ctx, s, r)
}

// Failed reports whether a kind failed or is incomplete, or a warning counts as a failure.
func (r *Report) Failed() bool {
	return r.Warned || slices.ContainsFunc(r.Kinds, func(k KindReport) bool { return k.Err != nil || k.Dropped != nil })
}

// Fatal reports whether a kind failed because of the lock or the registry directory.
func (r *Report) Fatal() bool {
	return slices.ContainsFunc(r.Kinds, func(k KindReport) bool {
		var f *Failure
		return errors.As(k.Err, &f) && f.Fatal
	})
}

// AppendJSON appends the report in the form of the command's output, without a final newline.
func (r *Report) AppendJSON(dst []byte) []byte {
	dst = append(dst, "{\n"...)
	for _, k := range r.Kinds {
		status, reason := "ok", ""
		switch {
		case r.Minimal:
			status, reason = "skipped", "minimal mode"
		case k.Err != nil:
			status, reason = "failed", k.Err.Error()
		case k.Dropped != nil:
			status, reason = "degraded", someOf(k.Dropped)
		}
		b := rawjson.Over(appendKey(dst, k.Kind.Key))
		b.Object().Name("status").String(status).Name("count").Int(k.Count).Name("error")
		if reason == "" {
			b.Null()
		} else {
			b.String(reason)
		}
		dst = append(b.End().Bytes(), ",\n"...)
	}
	mode := "full"
	if r.Minimal {
		mode = "minimal"
	}
	dst = append(appendKey(dst, "notificationsSent"), "false,\n"...) // a command never notifies
	return append(rawjson.AppendString(appendKey(dst, "mode"), mode), "\n}"...)
}

func appendKey(dst []byte, key string) []byte {
	return append(rawjson.AppendString(append(dst, "  "...), key), ": "...)
}

// someOf returns the first three faults of a list, and the number of the others.
func someOf(faults []string) string {
	const few = 3
	if more := len(faults) - few; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(faults[:few], "; "), more)
	}
	return strings.Join(faults, "; ")
}

// A Status describes the registry directory.
type Status struct {
	ProjectRoot string
	JSONTool    string          // the JSON tool of scripts: jq, gojq or none
	Confine     json.RawMessage // the confinement of scripts, or nil
	Kinds       []KindStatus
}

// A KindStatus is the part of a [Status] about one kind.
type KindStatus struct {
	Kind   *kinds.Kind
	Status string // present, missing or invalid; degraded or failed: see Error
	Path   string
	Count  int
	Hash   string
	Mtime  int64  // seconds since 1970; 0 for a missing file
	Error  string // the fault of the kind's entries in register.json, or ""
}

// Status returns the state of the registry directory. It writes nothing.
func (c *Catalog) Status(jsonTool string) *Status {
	s := &Status{ProjectRoot: c.p.Root, JSONTool: jsonTool}
	doc, fault := c.declared.Read(c.checks.Load(), c.checks.Add(1))
	for _, state := range c.states {
		k := KindStatus{Kind: state.kind, Status: "present", Path: c.store.path(state.kind.File)}
		file, err := c.store.read(state.kind)
		switch {
		case errors.Is(err, errMissing):
			k.Status = "missing"
		case err != nil:
			k.Status = "invalid"
		default:
			k.Count, k.Hash = len(file.items), file.hash
		}
		if state.kind.Build != nil {
			k.addDeclared(c.p, doc, fault)
		}
		k.Mtime = c.store.stamp(state.kind.File).Mtime / int64(time.Second)
		s.Kinds = append(s.Kinds, k)
	}
	return s
}

func (k *KindStatus) addDeclared(p *project.Project, doc *declare.Document, fault error) {
	if fault == nil && doc != nil && doc.Lists[k.Kind.Key] != nil {
		m := doc.Lists[k.Kind.Key]
		fault = m.Err
		if dropped := declare.Build(p, k.Kind, m, nil).Dropped; dropped != nil {
			k.Status, k.Error = "degraded", someOf(dropped)
		}
	}
	if fault != nil {
		k.Status, k.Error = "failed", fault.Error()
	}
}

// Failed reports whether register.json contains invalid entries.
func (s *Status) Failed() bool {
	return slices.ContainsFunc(s.Kinds, func(k KindStatus) bool { return k.Error != "" })
}

// AppendJSON appends the status in the form of the command's output, without a final newline.
func (s *Status) AppendJSON(dst []byte) []byte {
	dst = rawjson.AppendString(appendKey(append(dst, "{\n"...), "projectRoot"), s.ProjectRoot)
	dst = rawjson.AppendString(appendKey(append(dst, ",\n"...), "jsonTool"), s.JSONTool)
	if s.Confine != nil {
		dst = append(appendKey(append(dst, ",\n"...), "confine"), s.Confine...)
	}
	for _, k := range s.Kinds {
		b := rawjson.Over(appendKey(append(dst, ",\n"...), k.Kind.Key))
		b.Object().Name("status").String(k.Status).Name("path").String(k.Path).Name("count").Int(k.Count).
			Name("hash").String(k.Hash).Name("mtime").Int(int(k.Mtime))
		b.Optional("error", k.Error)
		dst = b.End().Bytes()
	}
	return append(dst, "\n}"...)
}

// A Failure is the reason why a kind is not available. Its text is the logged message.
type Failure struct {
	Kind   *kinds.Kind
	Reason string
	Fatal  bool  // the lock or the registry directory failed, not the project
	Err    error // the cause
}

func (f *Failure) Error() string { return f.Reason }

func (f *Failure) Unwrap() error { return f.Err }

// bounds returns the subtree of each kind that a filter selects, relative to the content directory. Kinds that are not
// in the map are scanned completely.
func (c *Catalog) bounds(filter string) map[*kinds.Kind]string {
	if filter == "" {
		return nil
	}
	dir := filter
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(c.p.Root, dir)
	}
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		candidates := []string{filepath.Clean(dir)}
		if physical, err := fsys.Physical(dir); err == nil {
			candidates = append(candidates, physical) // the project's root is physical, too
		}
		for _, dir := range candidates {
			if bounds, ok := c.boundsAt(dir); ok {
				return bounds
			}
		}
	}
	c.messages.report("filter", access.RegistryLogger, []item.Message{
		{Level: mcp.Warning, Text: fmt.Sprintf("registry filter '%s' matches no content directory; ignoring", filter)},
	})
	return nil
}

func (c *Catalog) boundsAt(dir string) (bounds map[*kinds.Kind]string, ok bool) {
	bounds = make(map[*kinds.Kind]string)
	for _, content := range []string{c.p.Tools, c.p.Resources, c.p.Prompts, c.p.UI} {
		below, found := strings.CutPrefix(dir+string(filepath.Separator), content+string(filepath.Separator))
		if !found {
			continue
		}
		ok = true
		for _, s := range c.states {
			if len(s.kind.Trees) == 1 && s.kind.ContentDir(c.p) == content {
				bounds[s.kind] = strings.TrimSuffix(filepath.ToSlash(below), "/")
			}
		}
	}
	return bounds, ok
}
