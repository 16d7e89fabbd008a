package httpd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
		if _, ok := errors.AsType[*remedied](err); !ok {
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

// CLI-1206: a server is asked at its address, with TLS and without, and only 200 counts.
func TestAlive(t *testing.T) {
	status := http.StatusOK
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" || r.Method != http.MethodGet {
			t.Error(r.Method, r.URL)
		}
		w.WriteHeader(status)
	})
	plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	defer plain.Close()
	defer secure.Close()
	local, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	atSocket := &httptest.Server{Listener: local, Config: &http.Server{Handler: handler}}
	atSocket.Start()
	defer atSocket.Close()
	servers := map[string]bool{
		plain.Listener.Addr().String(): false, secure.Listener.Addr().String(): true, "unix:" + local.Addr().String(): false,
	}
	for addr, overTLS := range servers {
		if err := Alive(t.Context(), addr, overTLS); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	status = http.StatusServiceUnavailable
	for addr, overTLS := range servers {
		if err := Alive(t.Context(), addr, overTLS); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for _, addr := range []string{"unix:" + t.TempDir() + "/none", "a:b:c"} {
		if err := Alive(t.Context(), addr, false); err == nil {
			t.Errorf("%s is alive", addr)
		}
	}
}

// CLI-1202: nobody waits for a server that accepts connections and never answers.
func TestAliveSilent(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, late)
	defer cancel()
	if err := Alive(ctx, silent.Addr().String(), false); !errors.Is(err, late) {
		t.Error(err)
	}
}

// H-1, CLI-1206: a server on all addresses is reached at one of this machine.
func TestReach(t *testing.T) {
	for addr, want := range map[string]string{
		"": "tcp4 127.0.0.1:8000", "9000": "tcp4 127.0.0.1:9000", ":9000": "tcp4 127.0.0.1:9000",
		"0.0.0.0:80": "tcp4 127.0.0.1:80", "[::]:80": "tcp localhost:80", "10.1.2.3:80": "tcp4 10.1.2.3:80",
		"[::1]:80": "tcp [::1]:80", "name:80": "tcp name:80", "unix:/run/s": "unix /run/s",
	} {
		network, address, err := reach(addr)
		if got := network + " " + address; got != want || err != nil {
			t.Errorf("%q: %s, %v; want %s", addr, got, err, want)
		}
	}
}
