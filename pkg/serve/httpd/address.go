package httpd

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"syscall"

	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/serve/httpd/internal/socket"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/text/weburl"
)

// DefaultAddr is the address without another one.
const DefaultAddr = "127.0.0.1:8000"

// An AddressError means that a server cannot listen at an address.
type AddressError struct {
	Addr  string
	Cause error
}

func (e *AddressError) Error() string { return fmt.Sprintf("listen %s: %v", e.Addr, e.Cause) }

func (e *AddressError) Unwrap() error { return e.Cause }

// Remedy returns what to do, or "" (H-2).
func (e *AddressError) Remedy() string {
	host, port, _ := net.SplitHostPort(e.Addr)
	path, isUnix := strings.CutPrefix(e.Addr, "unix:")
	switch {
	case errors.As(e.Cause, new(*socket.InUseError)):
		return "end it, or choose another path"
	case errors.Is(e.Cause, syscall.EADDRINUSE):
		return "end the program that uses it, or choose another port; port 0 is any free one"
	case errors.Is(e.Cause, syscall.EADDRNOTAVAIL):
		return "choose an address of this machine, such as 127.0.0.1:" + port
	case isUnix && errors.Is(e.Cause, fs.ErrNotExist):
		return "run mkdir -p " + shell.Quote(filepath.Dir(path))
	case isUnix && errors.Is(e.Cause, fs.ErrPermission):
		return "choose a folder that you can write to, such as $XDG_RUNTIME_DIR"
	case errors.Is(e.Cause, fs.ErrPermission):
		return "choose a port above 1023, such as 8000"
	case host == "*":
		return "write 0.0.0.0:" + port + " for all addresses of IPv4"
	case errors.As(e.Cause, new(*net.DNSError)):
		return "choose a name or an address of this machine, such as localhost:" + port
	}
	form, isForm := e.Cause.(*formError)
	if !isForm {
		return ""
	}
	return "write " + form.instead
}

// A formError means that a text is not an address.
type formError struct{ reason, instead string }

func (e *formError) Error() string { return e.reason }

// parseAddr parses an address of [Listen].
func parseAddr(addr string) (network, address string, err error) {
	addr = cmp.Or(addr, DefaultAddr)
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return "unix", path, nil
	}
	host, port, err := net.SplitHostPort(addr)
	if !strings.Contains(addr, ":") {
		port, err = addr, nil
	}
	if err != nil || port != "0" && !weburl.IsPort(port) {
		return "", "", &AddressError{addr, misread(addr)}
	}
	network, host = "tcp", cmp.Or(host, "127.0.0.1")
	if ip, err := netip.ParseAddr(host); err == nil && ip.Is4() {
		network = "tcp4" // 0.0.0.0 would also be all addresses of IPv6
	}
	return network, net.JoinHostPort(host, port), nil
}

// misread returns the reason why a text is not an address, and the address that was probably meant.
func misread(addr string) *formError {
	_, usual, _ := net.SplitHostPort(DefaultAddr)
	scheme, rest, isURL := strings.Cut(addr, "://")
	host, _, _ := strings.Cut(rest, "/")
	colon := strings.LastIndexByte(addr, ':')
	switch {
	case isURL:
		if _, _, err := net.SplitHostPort(host); err != nil {
			port := cmp.Or(map[string]string{"http": "80", "https": "443"}[scheme], usual)
			host = net.JoinHostPort(strings.Trim(host, "[]"), port)
		}
		return &formError{"this is a URL", host}
	case strings.Contains(addr, "/"):
		return &formError{"this is a path", "unix:" + addr}
	case addr == "*":
		return &formError{"the port is missing", "0.0.0.0:" + usual + " for all addresses of IPv4"}
	case net.ParseIP(strings.Trim(addr, "[]")) != nil, colon < 0 && strings.Trim(addr[:1], "0123456789") != "":
		return &formError{"the port is missing", net.JoinHostPort(strings.Trim(addr, "[]"), usual)}
	case strings.Count(addr, ":") > 1 && !strings.Contains(addr, "["):
		return &formError{"an address of IPv6 needs brackets", net.JoinHostPort(addr[:colon], addr[colon+1:])}
	}
	return &formError{"the port is not a number from 0 to 65535", addr[:colon+1] + usual}
}

// causeOf returns the reason of an error of package net, without the address.
func causeOf(err error) error {
	if named, ok := errors.AsType[*net.DNSError](err); ok {
		return named
	}
	return fsys.Cause(err)
}

// A remedied error has a remedy (H-2).
type remedied struct {
	error
	remedy string
}

func (e *remedied) Unwrap() error { return e.error }

// Remedy returns what to do.
func (e *remedied) Remedy() string { return e.remedy }

// FileError adds the remedy to an error about a file of the operator that cannot be read (H-2). create is the command
// that makes such a file, or "".
func FileError(err error, create string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist) && create != "":
		return &remedied{err, "correct the path, or make the file: " + create}
	case errors.Is(err, fs.ErrNotExist):
		return &remedied{err, "correct the path"}
	case errors.Is(err, fs.ErrPermission):
		return &remedied{err, "let the user of the server read the file"}
	}
	return err
}
