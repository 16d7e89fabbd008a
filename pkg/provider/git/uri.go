package git

import (
	"net/url"
	"slices"
	"strings"

	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/hosts"
)

// A location is a parsed URI.
type location struct {
	origin hosts.Origin
	repo   string // path of the repository, with the escapes of the URI
	ref    string // branch, tag, refs/..., commit id, or HEAD
	path   string // of the file in the tree
}

// url returns the URL of the repository for messages.
func (l location) url() string {
	return "https://" + l.origin.String() + l.repo
}

func invalid(message string) error {
	return &provider.Failure{Status: provider.Invalid, Message: message}
}

var errURI = invalid("Invalid git+https URI")

// parse reads git+https://HOST[:PORT]/REPOSITORY#[REF:]PATH (RES-121).
func parse(uri string) (l location, err error) {
	authority, rest, ok, err := hosts.Cut(uri, "git+https")
	if !ok {
		return l, errURI
	}
	if err != nil {
		return l, err
	}
	repo, fragment, ok := strings.Cut(rest, "#")
	if !ok {
		return l, invalid("git resources must include #ref:path")
	}
	if l.origin, err = hosts.ParseOrigin(authority); err != nil {
		return l, err
	}
	l.repo = strings.TrimRight(repo, "/")
	if l.repo == "" || strings.Contains(l.repo, "?") {
		return l, errURI
	}
	ref, path, hasRef := strings.Cut(fragment, ":")
	if !hasRef {
		ref, path = "HEAD", fragment
	}
	if l.ref, ok = decode(ref); !ok || !isRef(l.ref) {
		return l, invalid("git resource has an invalid ref; expected a branch, a tag, refs/... or a commit id")
	}
	if l.path, ok = decode(strings.TrimPrefix(path, "/")); !ok || !isPath(l.path) {
		return l, invalid("git resource has an invalid path; it must not have .. in it")
	}
	if l.path == "" {
		return l, invalid("git resource missing path")
	}
	return l, nil
}

func decode(text string) (string, bool) {
	decoded, err := url.PathUnescape(text)
	return decoded, err == nil && !strings.Contains(decoded, "\x00")
}

func isPath(path string) bool {
	return !slices.Contains(strings.Split(path, "/"), "..")
}

// isRef reports whether a ref name is valid. An empty name means HEAD.
func isRef(ref string) bool {
	if strings.HasPrefix(ref, "-") || strings.HasPrefix(ref, "/") || strings.Contains(ref, "..") || len(ref) > 1000 {
		return false
	}
	for i := range len(ref) {
		if c := ref[i]; c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0 {
			return false
		}
	}
	return true
}

// isID reports whether a ref is a complete or abbreviated commit id (RES-123).
func isID(ref string) bool {
	return len(ref) >= 7 && len(ref) <= 64 && strings.Trim(ref, "0123456789abcdefABCDEF") == ""
}
