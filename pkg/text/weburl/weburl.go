// Package weburl parses the addresses of servers over HTTP.
package weburl

import (
	"cmp"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// The errors of [Parse]. They do not repeat the text, which can contain a secret.
var (
	ErrForm = errors.New("not a URL that begins with http:// or https:// and has a host")
	ErrPort = errors.New("the port is not 1 to 65535")
)

// Parse parses an absolute URL with the scheme http or https, a host, and a port from 1 to 65535 or none. With ErrPort,
// Parse also returns the URL.
func Parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, ErrForm
	}
	return u, CheckPort(u)
}

// IsLoopback reports whether a host is this machine: localhost, or a loopback address.
func IsLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// CheckPort returns ErrPort for a URL whose port is not from 1 to 65535.
func CheckPort(u *url.URL) error {
	if port := u.Port(); strings.HasSuffix(u.Host, ":") || port != "" && !IsPort(port) {
		return ErrPort
	}
	return nil
}

// ErrImage is the error of [CheckImage] for a text that is not the name of an image.
var ErrImage = errors.New("not a name of an image such as example.com/team/demo:1.0.0")

// imageName matches the name of an image: a registry with or without a port, a path, a tag and a digest.
var imageName = lazyregexp.New(`^([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?` +
	`(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*(:[0-9]{1,5})?/)?` +
	`[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*(/[a-z0-9]+(([._]|__|-+)[a-z0-9]+)*)*` +
	`(:[A-Za-z0-9_][A-Za-z0-9._-]{0,127})?(@sha256:[0-9a-f]{64})?$`)

// CheckImage returns an error unless a text is the name of an image, with or without a tag and a digest. It returns
// ErrPort if the registry's port is not from 1 to 65535.
func CheckImage(name string) error {
	registry, _, _ := strings.Cut(name, "/")
	if _, port, found := strings.Cut(registry, ":"); found && registry != name && !IsPort(port) {
		return ErrPort
	}
	if !imageName.MatchString(name) {
		return ErrImage
	}
	return nil
}

var (
	otherThanName = lazyregexp.New(`[^a-z0-9]+`)
	otherThanTag  = lazyregexp.New(`[^A-Za-z0-9._-]`)
)

// ImageName returns the name of the image of a project with a name and a version, such as demo:1.0.0.
func ImageName(name, version string) string {
	name = strings.Trim(otherThanName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	tag := strings.TrimLeft(otherThanTag.ReplaceAllString(version, "-"), ".-")
	return cmp.Or(name, "server") + ":" + cmp.Or(tag[:min(len(tag), 128)], "latest")
}

// IsPort reports whether a text is a number from 1 to 65535 without a leading zero, which can mean an octal number.
func IsPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && text[0] != '0'
}
