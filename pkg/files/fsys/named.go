package fsys

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

//lint:file-ignore ST1005 P-2103 fixes the texts of errors

// Named returns the path that a person, a client or a setting names (E-12). "~" stands for home, which may be "".
// A file: URI names its path. Other URIs and the homes of others are errors, because no path has their form by
// accident. Every other text is the path itself; "./~" is the name of a file.
func Named(text, home string) (string, error) {
	switch scheme, isURI := schemeOf(text); {
	case strings.EqualFold(scheme, "file") && (isURI || strings.HasPrefix(text[len(scheme)+1:], "/")):
		path, err := PathOfURI(text)
		if err != nil {
			return "", fmt.Errorf("%s: %w", text, err)
		}
		return path, nil
	case isURI:
		return "", fmt.Errorf("%s is a URL, not a path", text)
	}
	rest, ok := strings.CutPrefix(text, "~")
	name, _, hasSlash := strings.Cut(filepath.ToSlash(rest), "/")
	switch {
	case !ok || name != "" && !hasSlash:
		return text, nil
	case name != "":
		return "", fmt.Errorf("~%s is not expanded; write the whole path, or ./~%s for a file of that name", name, name)
	case home == "":
		return "", errors.New("~ stands for HOME, which is not set")
	}
	return home + rest, nil
}

// schemeOf returns the scheme before the first colon, or "". isURI reports whether "//" follows it. A single letter is
// a drive of Windows.
func schemeOf(text string) (scheme string, isURI bool) {
	scheme, rest, _ := strings.Cut(text, ":")
	if len(scheme) < 2 || len(scheme) == len(text) {
		return "", false
	}
	for i, c := range []byte(scheme) {
		isLetter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !isLetter && (i == 0 || strings.IndexByte("0123456789+-.", c) < 0) {
			return "", false
		}
	}
	return scheme, strings.HasPrefix(rest, "//")
}

// SplitNamed splits a list of paths as [filepath.SplitList] does, but keeps file: URIs.
func SplitNamed(list string) (paths []string) {
	for _, item := range filepath.SplitList(list) {
		last := len(paths) - 1
		if strings.HasPrefix(item, "//") && last >= 0 && isWord(paths[last]) {
			paths[last] += ":" + item
			continue
		}
		paths = append(paths, item)
	}
	return paths
}

func isWord(text string) bool {
	scheme, _ := schemeOf(text + ":")
	return scheme != ""
}

// Errors of [PathOfURI].
var (
	ErrScheme    = errors.New("Unsupported URI scheme")
	ErrNoPath    = errors.New("Malformed file URI (no path)")
	ErrAuthority = errors.New("Rejecting non-local file URI authority")
	ErrRelative  = errors.New("Rejecting file URI with relative path")
)

// PathOfURI returns the path of a local, absolute file: URI. It decodes escapes once.
func PathOfURI(uri string) (string, error) {
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
