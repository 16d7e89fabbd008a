package registry

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/registry/kinds"
)

// A Status is what lies in the registry directory.
type Status struct {
	ProjectRoot string
	JSONTool    string          // what scripts are given: jq, gojq or none
	Confine     json.RawMessage // what is confined (CF-33), nil: it is not said
	Kinds       []KindStatus
}

// A KindStatus is the part of a [Status] about one kind.
type KindStatus struct {
	Kind   *kinds.Kind
	Status string // present, missing or invalid; degraded or failed: see Error
	Path   string
	Count  int
	Hash   string
	Mtime  int64 // seconds since 1970; 0 for a missing file
	// Error is what is wrong with what register.json declares of the kind, "" for
	// nothing.
	Error string
}

// Status returns what lies in the registry directory. It changes nothing.
func (c *Catalog) Status(jsonTool string) *Status {
	s := &Status{ProjectRoot: c.p.Root, JSONTool: jsonTool}
	said, fault := c.declared.Read(c.checks.Load(), c.checks.Add(1))
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
			k.addDeclared(c.p, said, fault)
		}
		k.Mtime = c.store.stamp(state.kind.File).Mtime / int64(time.Second)
		s.Kinds = append(s.Kinds, k)
	}
	return s
}

// addDeclared adds what is wrong with what register.json declares of the kind.
func (k *KindStatus) addDeclared(p *project.Project, said *declare.Document, fault error) {
	if fault == nil && said != nil && said.Lists[k.Kind.Key] != nil {
		m := said.Lists[k.Kind.Key]
		fault = m.Err
		if dropped := declare.Build(p, k.Kind, m, nil).Dropped; dropped != nil {
			k.Status, k.Error = "degraded", someOf(dropped)
		}
	}
	if fault != nil {
		k.Status, k.Error = "failed", fault.Error()
	}
}

// Failed reports whether register.json says anything of a kind that cannot be used.
func (s *Status) Failed() bool {
	return slices.ContainsFunc(s.Kinds, func(k KindStatus) bool { return k.Error != "" })
}

// AppendJSON appends the status as the command prints it, without a
// final newline.
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
		if k.Error != "" {
			b.Name("error").String(k.Error)
		}
		dst = b.End().Bytes()
	}
	return append(dst, "\n}"...)
}
