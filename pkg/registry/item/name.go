package item

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/wire/mcp"
)

const maxName = 128 // bytes

// CheckName reports whether an item may have a name. If not, CheckName logs the reason, and
// the caller leaves the item out.
func (s *Input) CheckName(name string) bool {
	fault := ""
	switch {
	case strings.TrimSpace(name) == "":
		fault = "is empty"
	case len(name) > maxName:
		fault = fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		fault = "contains control characters"
	default:
		return true
	}
	if s.Reject != nil {
		s.Reject("name", "name: "+fault)
		return true // continue, to find all faults
	}
	s.Log(Message{Level: mcp.Err, Topic: UnusableName, At: s.Label, Text: "its name " + fault,
		Logged: fmt.Sprintf("Skipping %s %s: its name %s", s.Noun, s.Label, fault)})
	return false
}

// MaxPlainName is the maximum length of a name that all clients accept.
const MaxPlainName = 64

// IsPlainName reports whether clients accept the name of a tool. The protocol allows dots.
// Some clients do not, which "validate" reports.
func IsPlainName(name string) bool {
	return name != "" && len(name) <= MaxPlainName && strings.Trim(name, plain) == ""
}

// plain are the characters of ids and of names that all clients accept.
const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."

// TypeDeclared is the member of a resource whose author gave its MIME type. Only registry files have it
// (R-54a).
const TypeDeclared = "mimeTypeDeclared"

// ProviderOf returns the name of the provider for the scheme of a URI. A provider with this
// name need not exist.
func ProviderOf(uri string) string {
	scheme, _, found := strings.Cut(uri, "://")
	if !found {
		return "file"
	}
	switch known := strings.ToLower(scheme); known {
	case "file", "https", "git", "echo", "ui":
		return known
	case "git+https":
		return "git"
	}
	return scheme // the script's file name has the same case
}

// URI returns the URI of a resource in this project, or "". A URI that was derived from the
// path of the project is derived again. The names of two directories are expanded (R-18,
// R-52, RES-15a).
func URI(p *project.Project, item json.RawMessage) string {
	if rawjson.True(rawjson.Get(item, "uriAuto")) {
		return FileURI(p.Resources, rawjson.TextOf(item, "path"))
	}
	return expandURI(p, rawjson.TextOf(item, "uri"))
}

func expandURI(p *project.Project, uri string) string {
	if !strings.Contains(uri, "${") {
		return uri
	}
	return strings.NewReplacer(
		"${MCPBASH_PROJECT_ROOT}", strings.TrimPrefix(project.FileURI(p.Root), "file://"),
		"${MCPBASH_RESOURCES_DIR}", strings.TrimPrefix(project.FileURI(p.Resources), "file://"),
	).Replace(uri)
}

// FileURI returns the URI of a file at a path below a directory.
func FileURI(dir, path string) string {
	return project.FileURI(filepath.Join(dir, filepath.FromSlash(path)))
}

// PathOf returns the path in a URI, or the whole URI without query and fragment if it has no scheme.
func PathOf(uri string) string {
	uri, _, _ = strings.Cut(uri, "#")
	uri, _, _ = strings.Cut(uri, "?")
	_, rest, absolute := strings.Cut(uri, "://")
	if !absolute {
		return uri
	}
	_, path, _ := strings.Cut(rest, "/")
	return path
}

// PageURI returns the URI of a page of a server. Everything but letters, digits and ".~_-" is encoded (RES-305).
func PageURI(server, name string) string {
	escape := func(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
	return "ui://" + escape(server) + "/" + escape(name)
}
