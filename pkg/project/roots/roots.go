// Package roots knows the directories a client, or else the operator, wants
// tools to keep to (protocol section 21).
package roots

import (
	"encoding/json"
	"strings"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
)

// A Root is one of them.
type Root struct {
	URI  string // as the client sent it, or file:// and the path
	Name string
	Path string // canonical: absolute, links resolved, no slash at the end
}

// A List is an ordered set of roots. It is not changed once made.
type List []Root

// A Scope is the roots in force for a call.
type Scope struct {
	List
	// Given reports that the client or the operator named roots. Then an empty list allows no path;
	// else tools decide for themselves (P-2108).
	Given bool
}

// JSON returns the list as tools get it in MCP_ROOTS_JSON (P-2107).
func (l List) JSON() string {
	var b rawjson.Builder
	b.Array()
	for _, r := range l {
		b.Object().Name("uri").String(r.URI).Name("name").String(r.Name).Name("path").String(r.Path).End()
	}
	return string(b.End().Bytes())
}

// Paths returns the paths, one a line, without a line end after the last.
func (l List) Paths() string {
	paths := make([]string, len(l))
	for i, r := range l {
		paths[i] = r.Path
	}
	return strings.Join(paths, "\n")
}

// OfPaths returns directories as roots.
func OfPaths(paths []string) List {
	list := make(List, 0, len(paths))
	for _, path := range paths {
		list = append(list, Root{URI: "file://" + path, Path: path})
	}
	return list
}

// Contains reports whether a canonical path is a root or lies below one. Names
// are compared component by component and literally.
func (l List) Contains(path string) bool {
	for _, r := range l {
		if fsys.Within(r.Path, path) {
			return true
		}
	}
	return false
}

// add appends a root unless it is there already.
func (l List) add(r Root) List {
	for _, have := range l {
		if have.Path == r.Path {
			return l
		}
	}
	return append(l, r)
}

// A Refused is a root of the client that cannot be used.
type Refused struct {
	URI string // as the client sent it
	Err error
}

// FromClient reads the result of roots/list. ok is false when it is not a
// proper answer, which leaves the roots as they were (P-2104). Entries that
// cannot be used are left out of the list (P-2103).
func FromClient(result json.RawMessage) (list List, refused []Refused, ok bool) {
	entries := rawjson.Get(result, "roots")
	if rawjson.KindOf(entries) != rawjson.Array {
		return nil, nil, false
	}
	for e := range rawjson.Elements(entries) {
		uri := rawjson.TextOf(e, "uri")
		path, err := parseFileURI(uri)
		if err == nil {
			path, err = canonical(path)
		}
		if err != nil {
			refused = append(refused, Refused{uri, err})
			continue
		}
		list = list.add(Root{uri, rawjson.TextOf(e, "name"), path})
	}
	return list, refused, true
}
