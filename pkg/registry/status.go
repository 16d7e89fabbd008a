package registry

import (
	"errors"
	"time"

	"mcp-bash/pkg/rawjson"
)

// A Status says what lies in the registry directory (registry R-164).
type Status struct {
	ProjectRoot string
	JSONTool    string // what scripts are given: jq, gojq or none
	Kinds       []KindStatus
}

// A KindStatus is the part of a [Status] about one kind.
type KindStatus struct {
	Kind   *Kind
	Status string // present, missing or invalid
	Path   string
	Count  int
	Hash   string
	Mtime  int64 // seconds since 1970; 0 for a missing file
}

// Status looks at the registry files and changes nothing.
func (c *Catalog) Status(jsonTool string) *Status {
	s := &Status{ProjectRoot: c.p.Root, JSONTool: jsonTool}
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
		k.Mtime = c.store.stamp(state.kind.File).mtime / int64(time.Second)
		s.Kinds = append(s.Kinds, k)
	}
	return s
}

// AppendJSON appends the status as the command prints it, without a
// final newline.
func (s *Status) AppendJSON(dst []byte) []byte {
	dst = rawjson.AppendString(appendKey(append(dst, "{\n"...), "projectRoot"), s.ProjectRoot)
	dst = rawjson.AppendString(appendKey(append(dst, ",\n"...), "jsonTool"), s.JSONTool)
	for _, k := range s.Kinds {
		b := rawjson.Over(appendKey(append(dst, ",\n"...), k.Kind.Key))
		dst = b.Object().Name("status").String(k.Status).Name("path").String(k.Path).Name("count").Int(k.Count).
			Name("hash").String(k.Hash).Name("mtime").Int(int(k.Mtime)).End().Bytes()
	}
	return append(dst, "\n}"...)
}
