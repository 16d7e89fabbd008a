package ui

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/text/ascii"
)

var (
	errDenied   = &provider.Failure{Status: provider.Denied}
	errNotFound = &provider.Failure{Status: provider.NotFound}
	errScheme   = &provider.Failure{Status: provider.Invalid, Message: "Invalid URI scheme: expected ui://"}
)

// Name returns the name of the page that a URI means: the path, or the authority if there is no
// path (RES-320). It may have several segments. No segment may be hidden or lead upwards.
func Name(uri string) (string, error) {
	const scheme = "ui://"
	if len(uri) < len(scheme) || !ascii.EqualFold(uri[:len(scheme)], scheme) {
		return "", errScheme
	}
	name := uri[len(scheme):]
	if at := strings.IndexAny(name, "?#"); at >= 0 {
		name = name[:at]
	}
	if _, path, found := strings.Cut(name, "/"); found {
		name = path
	}
	if leavesOut(name) {
		return "", errDenied
	}
	name, err := url.PathUnescape(name)
	switch {
	case err != nil || name == "":
		return "", errNotFound
	case leavesOut(name):
		return "", errDenied
	}
	for segment := range strings.SplitSeq(name, "/") {
		if segment == "" || segment[0] == '.' {
			return "", errNotFound
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", errDenied // device names on Windows
	}
	return name, nil
}

func leavesOut(name string) bool {
	if strings.HasPrefix(name, "/") || strings.ContainsAny(name, "\\\x00") {
		return true
	}
	return slices.Contains(strings.Split(name, "/"), "..")
}
