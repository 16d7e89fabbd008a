package item

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// ProviderOf names the provider that a URI asks for by its scheme (registry
// There need not be one of that name.
func ProviderOf(uri string) string {
	scheme, _, found := strings.Cut(uri, "://")
	switch scheme = strings.ToLower(scheme); {
	case !found:
		return "file"
	case scheme == "git+https":
		return "git"
	}
	return scheme
}

// URI is the URI of a resource as this project has it: one that was derived
// from where the project lay belongs to where it lies now, and two names of
// directories are filled in (R-18, R-52, RES-15a). It is ""
// for an item without one.
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
		"${MCPBASH_PROJECT_ROOT}", percentEncode(slashed(p.Root), uriPath),
		"${MCPBASH_RESOURCES_DIR}", percentEncode(slashed(p.Resources), uriPath),
	).Replace(uri)
}

// FileURI is the URI of a file at a path below a directory.
func FileURI(dir, path string) string {
	return "file://" + percentEncode(slashed(filepath.Join(dir, filepath.FromSlash(path))), uriPath)
}

// slashed is an absolute path as it stands in a URI: /C:/dir/file on Windows.
func slashed(path string) string {
	if path = filepath.ToSlash(path); !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path
}

// PathOf is the path in a URI, or what has the place of one.
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

// What stands in a URI as it is besides letters and digits: in one name
// (RES-305), and in a path.
const (
	uriName = ".~_-"
	uriPath = uriName + "/:"
)

func percentEncode(s, plain string) string {
	const hex = "0123456789ABCDEF"
	var out []byte
	for _, c := range []byte(s) {
		if isLetter(c) || isDigit(c) || strings.IndexByte(plain, c) >= 0 {
			out = append(out, c)
		} else {
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(out)
}

// PageURI names a page of this server (RES-305).
func PageURI(server, name string) string {
	return "ui://" + percentEncode(server, uriName) + "/" + percentEncode(name, uriName)
}
