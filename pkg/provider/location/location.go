// Package location parses the URIs of the built-in providers. It imports no network client, so
// programs that only check URIs stay small.
package location

import (
	"net/url"
	"slices"
	"strings"

	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/echo"
	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/pkg/provider/ui"
)

// Check returns an error for a URI that the built-in provider with a name can never read. It does not check the URIs of
// files.
func Check(name, uri string) (err error) {
	switch name {
	case "echo":
		err = echo.Check(uri)
	case "https":
		_, _, err = ParseHTTPS(uri)
	case "git":
		_, err = ParseGit(uri)
	case "ui":
		_, err = ui.Name(uri)
	}
	return err
}

// ParseHTTPS returns the server of an https URI, and the target of a request to it.
func ParseHTTPS(uri string) (o hosts.Origin, target string, err error) {
	authority, rest, ok, err := hosts.Cut(uri, "https")
	switch {
	case !ok:
		return o, "", &provider.Failure{Status: provider.Invalid, Message: "HTTPS provider requires https:// URI"}
	case err != nil:
		return o, "", err
	}
	if o, err = hosts.ParseOrigin(authority); err != nil {
		return o, "", err
	}
	target, _, _ = strings.Cut(rest, "#")
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return o, target, nil
}

// Git is the location of a file in a Git repository.
type Git struct {
	Origin hosts.Origin
	Repo   string // the path of the repository, as in the URI
	Ref    string // a branch, tag, refs/..., commit id, or HEAD
	Path   string // the path of the file in the tree
}

// URL returns the address of the repository, for messages.
func (l Git) URL() string {
	return "https://" + l.Origin.String() + l.Repo
}

func invalid(message string) error {
	return &provider.Failure{Status: provider.Invalid, Message: message}
}

var errURI = invalid("Invalid git+https URI")

// ParseGit parses git+https://HOST[:PORT]/REPOSITORY#[REF:]PATH.
func ParseGit(uri string) (l Git, err error) {
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
	if l.Origin, err = hosts.ParseOrigin(authority); err != nil {
		return l, err
	}
	l.Repo = strings.TrimRight(repo, "/")
	if l.Repo == "" || strings.Contains(l.Repo, "?") {
		return l, errURI
	}
	ref, path, hasRef := strings.Cut(fragment, ":")
	if !hasRef {
		ref, path = "HEAD", fragment
	}
	if l.Ref, ok = decode(ref); !ok || !isRef(l.Ref) {
		return l, invalid("git resource has an invalid ref; expected a branch, a tag, refs/... or a commit id")
	}
	if l.Path, ok = decode(strings.TrimPrefix(path, "/")); !ok || slices.Contains(strings.Split(l.Path, "/"), "..") {
		return l, invalid("git resource has an invalid path; it must not have .. in it")
	}
	if l.Path == "" {
		return l, invalid("git resource missing path")
	}
	return l, nil
}

func decode(text string) (string, bool) {
	decoded, err := url.PathUnescape(text)
	return decoded, err == nil && !strings.Contains(decoded, "\x00")
}

// isRef reports whether a ref name is valid. An empty name means HEAD.
func isRef(ref string) bool {
	isOdd := func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune(`~^:?*[\`, c) }
	return !strings.HasPrefix(ref, "-") && !strings.HasPrefix(ref, "/") && !strings.Contains(ref, "..") &&
		len(ref) <= 1000 && !strings.ContainsFunc(ref, isOdd)
}

// IsCommit reports whether a ref is a complete or abbreviated commit id.
func IsCommit(ref string) bool {
	return len(ref) >= 7 && len(ref) <= 64 && strings.Trim(ref, "0123456789abcdefABCDEF") == ""
}
