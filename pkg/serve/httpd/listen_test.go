package httpd

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"mcp-bash/pkg/text/weburl"
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

// H-1: a port is 0 to 65535, in one spelling.
func TestPorts(t *testing.T) {
	for _, addr := range []string{"127.0.0.1:65536", "99999", ":99999", "-1", ":-1", ":+1", ":080", "00", "localhost",
		":http", "127.0.0.1:", ":18446744073709551616"} {
		l, err := Listen(addr, nil)
		if err == nil {
			l.Close()
		}
		if _, ok := errors.AsType[*formError](err); !ok {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for _, port := range []string{"99999", "0", ""} {
		url := "https://mcp.example.com:" + port
		if _, err := (&Access{PublicURL: url}).endpoint(&Listener{URL: "http://127.0.0.1:1/mcp"}); !errors.Is(err,
			weburl.ErrPort) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// H-1: the server has a URL on an address with a zone, and on each other name that the system knows.
func TestZones(t *testing.T) {
	for host, want := range map[string]string{"::1%lo": "[::1%25lo]", "fe80::1%eth0": "[fe80::1%25eth0]",
		"vm_1": "vm_1", "a b": "a%20b", "a%b": "a%25b"} {
		plain, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		l := onTCP(plain, host)
		_, port, _ := net.SplitHostPort(plain.Addr().String())
		if l.URL != "http://"+want+":"+port+"/mcp" {
			t.Error(l.URL)
		}
		if _, err := NewGate(t.Context(), l, Access{}, func(line string) { t.Error(line) }); err != nil {
			t.Error(host, err)
		}
	}
}

// CLI-1206: the health of a server on an address with a zone.
func TestHealthOfZone(t *testing.T) {
	for _, at := range interfaces(t) {
		l, err := Listen("[::1%"+at+"]:0", nil)
		if err != nil {
			t.Skip("left out: this machine has no IPv6")
		}
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		s.Listener.Close()
		s.Listener = l.Listener
		s.Start()
		defer s.Close()
		if err := Alive(t.Context(), "[::1%"+at+"]:"+fmt.Sprint(l.Addr().(*net.TCPAddr).Port), false); err != nil {
			t.Error(err)
		}
	}
}

// interfaces returns the names of the interfaces that reach this machine alone.
func interfaces(t *testing.T) (names []string) {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&(net.FlagLoopback|net.FlagUp) == net.FlagLoopback|net.FlagUp {
			names = append(names, i.Name)
		}
	}
	return names
}
