// Package location parses the URIs of the built-in providers. It imports no network client, so
// programs that only check URIs stay small.
package location

import (
	"strings"

	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/echo"
	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/pkg/provider/ui"
)

// Check returns an error for a URI that the built-in provider of a name can never read. It does
// not check the URIs of files.
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
