//go:build unix

package replicas

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"
)

// A balancer passes requests on to the replicas that are ready, in turn. It asks /readyz of each, and
// repeats a request elsewhere only if the replica did not accept the connection.
type balancer struct {
	url       string
	transport *http.Transport

	mu       sync.Mutex
	changed  sync.Cond
	backends []*backend
	next     int
}

// A backend is one replica, as the balancer sees it.
type backend struct {
	url   *url.URL
	ready bool
	open  int // requests
	done  int // answers
}

const probePace = 20 * time.Millisecond

// newBalancer returns a balancer of these replicas.
func newBalancer(t *testing.T, urls ...string) *balancer {
	b := &balancer{transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.changed.L = &b.mu
	probe := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ctx, stop := context.WithCancel(context.Background())
	var probing sync.WaitGroup
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		be := &backend{url: u}
		b.backends = append(b.backends, be)
		probing.Go(func() {
			ticker := time.NewTicker(probePace)
			defer ticker.Stop()
			for ctx.Err() == nil {
				b.probe(ctx, probe, be)
				select {
				case <-ticker.C:
				case <-ctx.Done():
				}
			}
		})
	}
	front := httptest.NewServer(b)
	b.url = front.URL + "/mcp"
	t.Cleanup(func() {
		front.Close()
		stop()
		probing.Wait()
		b.transport.CloseIdleConnections()
	})
	return b
}

func (b *balancer) probe(ctx context.Context, client *http.Client, be *backend) {
	r, err := http.NewRequestWithContext(ctx, "GET", be.url.String()+"/readyz", nil)
	if err != nil {
		return
	}
	ready := false
	if answer, err := client.Do(r); err == nil {
		answer.Body.Close()
		ready = answer.StatusCode == http.StatusOK
	}
	b.mu.Lock()
	be.ready = ready
	b.changed.Broadcast()
	b.mu.Unlock()
}

// await waits until a condition of the backends is true.
func (b *balancer) await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		b.mu.Lock()
		late = true
		b.changed.Broadcast()
		b.mu.Unlock()
	})
	defer timer.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for !condition() {
		if late {
			t.Fatalf("not within %v: %s", patience, what)
		}
		b.changed.Wait()
	}
}

// awaitReady waits until a replica is ready, or is not.
func (b *balancer) awaitReady(t *testing.T, n int, ready bool) {
	t.Helper()
	b.await(t, "the state of a replica", func() bool { return b.backends[n].ready == ready })
}

// choose returns the next backend that is ready and is not in a list.
func (b *balancer) choose(tried []*backend) *backend {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range b.backends {
		be := b.backends[b.next%len(b.backends)]
		b.next++
		if be.ready && !slices.Contains(tried, be) {
			be.open++
			return be
		}
	}
	return nil
}

func (b *balancer) release(be *backend) {
	b.mu.Lock()
	be.open--
	be.done++
	b.changed.Broadcast()
	b.mu.Unlock()
}

// ServeHTTP passes a request on. The header Backend of the answer names the replica.
func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var tried []*backend
	for {
		be := b.choose(tried)
		if be == nil {
			http.Error(w, "no replica is ready", http.StatusServiceUnavailable)
			return
		}
		refused := b.pass(w, r, body, be)
		b.release(be)
		if !refused {
			return
		}
		tried = append(tried, be)
	}
}

// pass reports whether the replica refused the connection. Then nothing was answered.
func (b *balancer) pass(w http.ResponseWriter, r *http.Request, body []byte, be *backend) (refused bool) {
	proxy := httputil.ReverseProxy{
		Transport: b.transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(be.url) },
		ModifyResponse: func(answer *http.Response) error {
			answer.Header.Set("Backend", be.url.Host)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			var op *net.OpError
			if refused = errors.As(err, &op) && op.Op == "dial"; !refused {
				w.Header().Set("Backend", be.url.Host)
				w.WriteHeader(http.StatusBadGateway)
			}
		},
	}
	proxy.ServeHTTP(w, withBody(r, body))
	return refused
}
