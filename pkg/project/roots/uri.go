package roots

import (
	"errors"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

//lint:file-ignore ST1005 P-2103 fixes the texts

var (
	errScheme    = errors.New("Unsupported URI scheme")
	errNoPath    = errors.New("Malformed file URI (no path)")
	errAuthority = errors.New("Rejecting non-local file URI authority")
	errRelative  = errors.New("Rejecting file URI with relative path")
)

// parseFileURI returns the path of a local, absolute file: URI. It decodes escapes once.
func parseFileURI(uri string) (string, error) {
	scheme, rest, found := strings.Cut(uri, ":")
	if !found || !strings.EqualFold(scheme, "file") {
		return "", errScheme
	}
	if after, hasAuthority := strings.CutPrefix(rest, "//"); hasAuthority {
		authority, path, hasPath := strings.Cut(after, "/")
		if authority != "" && !strings.EqualFold(authority, "localhost") {
			return "", errAuthority
		}
		if !hasPath {
			return "", errNoPath
		}
		rest = "/" + path
	}
	if rest == "" {
		return "", errNoPath
	}
	path, err := url.PathUnescape(rest)
	if err != nil || strings.ContainsRune(path, 0) {
		return "", errNoPath
	}
	if runtime.GOOS == "windows" {
		path = filepath.FromSlash(strings.TrimPrefix(path, "/"))
	}
	if !filepath.IsAbs(path) {
		return "", errRelative
	}
	return path, nil
}
