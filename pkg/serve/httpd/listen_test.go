package httpd

import (
	"net"
	"testing"
)

// H-1: 0.0.0.0 is all addresses of IPv4, and [::] those of IPv6 and IPv4.
func TestFamilies(t *testing.T) {
	if l, err := net.Listen("tcp6", "[::1]:0"); err != nil {
		t.Skip("left out: this machine has no IPv6")
	} else {
		l.Close()
	}
	for host, onIPv6 := range map[string]bool{"0.0.0.0": false, "127.0.0.1": false, "[::]": true} {
		l, err := Listen(host+":0", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil || l.URL != "http://"+host+":"+port+"/mcp" {
			t.Error(l.URL, err)
		}
		for address, want := range map[string]bool{"127.0.0.1": true, "::1": onIPv6} {
			c, err := net.Dial("tcp", net.JoinHostPort(address, port))
			if (err == nil) != want {
				t.Errorf("%s accepts connections to %s: %v", host, address, !want)
			}
			if err == nil {
				c.Close()
			}
		}
	}
}
