// Package weburl parses the addresses of servers over HTTP.
package weburl

import (
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
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

// CheckPort returns ErrPort for a URL with another port than 1 to 65535.
func CheckPort(u *url.URL) error {
	if port := u.Port(); strings.HasSuffix(u.Host, ":") || port != "" && !IsPort(port) {
		return ErrPort
	}
	return nil
}

// CheckImage returns ErrPort for the name of an image whose registry has another port than 1 to 65535.
func CheckImage(name string) error {
	registry, _, _ := strings.Cut(name, "/")
	if _, port, found := strings.Cut(registry, ":"); found && registry != name && !IsPort(port) {
		return ErrPort
	}
	return nil
}

// IsPort reports whether a text is a number from 1 to 65535 without a leading zero. Some programs read that as octal
// (RES-110).
func IsPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && text[0] != '0'
}
