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

// A Status describes the registry directory.
type Status struct {
	ProjectRoot string
	JSONTool    string          // the JSON tool of scripts: jq, gojq or none
	Confine     json.RawMessage // the confinement of scripts (CF-33), or nil
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

// AppendJSON appends the status in the form of the command's output, without a final
// newline.
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
