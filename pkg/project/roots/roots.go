// Package roots reads the directories to which a client or the operator limits tools (protocol section 21).
//
// A [Scope] is the roots of one call, and whether somebody gave them. They come from the client ([FromClient]), from an
// option or variable ([Explicit], [Listed]), or from the project ([Fallback]). A root that
// does not exist is refused: else a tool could have fewer limits than its user expects.
package roots

import (
	"encoding/json"
	"slices"
	"strings"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
)

// A Root is one of these directories.
type Root struct {
	URI  string // as the client sent it, or file:// and the path
	Name string
	Path string // canonical: absolute, without links, without a final slash
}

// A List is an ordered set of roots. It is immutable.
type List []Root

// A Scope is the roots of a call.
type Scope struct {
	List
	// Given means that the client or the operator named roots. Then an empty list allows no path. Otherwise tools
	// decide themselves (P-2108).
	Given bool
}

// JSON returns the list for MCP_ROOTS_JSON (P-2107).
func (l List) JSON() string {
	var b rawjson.Builder
	b.Array()
	for _, r := range l {
		b.Object().Name("uri").String(r.URI).Name("name").String(r.Name).Name("path").String(r.Path).End()
	}
	return string(b.End().Bytes())
}

// Paths returns the paths, separated by line breaks.
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

// Contains reports whether a canonical path is a root or below one.
func (l List) Contains(path string) bool {
	return slices.ContainsFunc(l, func(r Root) bool { return fsys.Within(r.Path, path) })
}

// add appends a root unless the list contains its path.
func (l List) add(r Root) List {
	if slices.ContainsFunc(l, func(have Root) bool { return have.Path == r.Path }) {
		return l
	}
	return append(l, r)
}

// A Refused is a root of the client that cannot be used.
type Refused struct {
	URI string // as the client sent it
	Err error
}

// FromClient parses the result of roots/list. ok is false for an invalid result, which does not change the roots
// (P-2104). refused are the unusable entries (P-2103).
func FromClient(result json.RawMessage) (list List, refused []Refused, ok bool) {
	entries := rawjson.Get(result, "roots")
	if rawjson.KindOf(entries) != rawjson.Array {
		return nil, nil, false
	}
	for e := range rawjson.Elements(entries) {
		uri := rawjson.TextOf(e, "uri")
		path, err := fsys.PathOfURI(uri)
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
