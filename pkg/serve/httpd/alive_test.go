package httpd

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

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
