// Package reach keeps the programs of a test from the network: they reach this machine only.
package reach

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Guard returns the environment with which programs send the requests to all other machines to a proxy. Each such
// request fails the test. Programs in Go send no request for a loopback address to a proxy.
//
// A test that has its own network namespace gets no proxy, because its addresses lead nowhere else.
func Guard(t testing.TB) map[string]string {
	t.Helper()
	if isAlone(t) {
		return nil
	}
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.Host)
		http.Error(w, "tests reach this machine only", http.StatusForbidden)
	}))
	t.Cleanup(func() {
		proxy.Close()
		for _, request := range asked {
			t.Errorf("a request left this machine: %s; name an address on loopback, or run in a network namespace", request)
		}
	})
	const here = "localhost,127.0.0.1,::1"
	env := map[string]string{"NO_PROXY": here, "no_proxy": here}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		env[name] = proxy.URL
	}
	return env
}

// isAlone reports whether there is no interface but loopback.
func isAlone(t testing.TB) bool {
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		if one.Flags&net.FlagLoopback == 0 {
			return false
		}
	}
	return true
}
