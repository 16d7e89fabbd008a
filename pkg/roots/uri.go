package roots

import (
	"errors"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

//lint:file-ignore ST1005 the words of the reasons are those of P-2103

// The reasons to refuse a client's root.
var (
	ErrScheme    = errors.New("Unsupported URI scheme")
	ErrNoPath    = errors.New("Malformed file URI (no path)")
	ErrAuthority = errors.New("Rejecting non-local file URI authority")
	ErrRelative  = errors.New("Rejecting file URI with relative path")
)

// ParseFileURI returns the path of a file: URI: local, absolute, its escapes
// undone once.
func ParseFileURI(uri string) (string, error) {
	scheme, rest, found := strings.Cut(uri, ":")
	if !found || !strings.EqualFold(scheme, "file") {
		return "", ErrScheme
	}
	if after, hasAuthority := strings.CutPrefix(rest, "//"); hasAuthority {
		authority, path, hasPath := strings.Cut(after, "/")
		if authority != "" && !strings.EqualFold(authority, "localhost") {
			return "", ErrAuthority
		}
		if !hasPath {
			return "", ErrNoPath
		}
		rest = "/" + path
	}
	if rest == "" {
		return "", ErrNoPath
	}
	path, err := url.PathUnescape(rest)
	if err != nil || strings.ContainsRune(path, 0) {
		return "", ErrNoPath
	}
	if runtime.GOOS == "windows" {
		path = filepath.FromSlash(strings.TrimPrefix(path, "/"))
	}
	if !filepath.IsAbs(path) {
		return "", ErrRelative
	}
	return path, nil
}
