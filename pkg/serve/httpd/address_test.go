package httpd

import (
	"errors"
	"net"
	"strings"
	"testing"
)

// H-1, H-2: any text is an address, or has an error with a remedy.
func FuzzAddress(f *testing.F) {
	for _, addr := range []string{"", "8000", ":8000", "localhost", "[::1]:80", "::1", "*", "a:b:c", "http://[::1]/x",
		"unix:s", "./s", "x:", "65536", "[", "]:1", "://", "http:///", ":"} {
		f.Add(addr)
	}
	f.Fuzz(func(t *testing.T, addr string) {
		network, address, err := parseAddr(addr)
		if err != nil {
			wrong, ok := errors.AsType[*AddressError](err)
			if !ok || !strings.HasPrefix(wrong.Remedy(), "write ") {
				t.Errorf("%q: %v", addr, err)
			}
			return
		}
		if _, _, err := net.SplitHostPort(address); network != "unix" && err != nil {
			t.Errorf("%q: %s %q: %v", addr, network, address, err)
		}
	})
}
