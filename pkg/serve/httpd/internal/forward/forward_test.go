package forward

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const patience = 10 * time.Second

// replicas starts an owner, and a replica that passes everything on to it.
func replicas(t *testing.T, owner http.HandlerFunc) (replica, ownerURL string) {
	t.Helper()
	o := httptest.NewServer(owner)
	t.Cleanup(o.Close)
	return passer(t, o.URL), o.URL
}

// passer starts a replica that passes everything on.
func passer(t *testing.T, owner string) string {
	t.Helper()
	f := New(200*time.Millisecond, nil)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Access-Control-Allow-Origin", "https://own.example")
		f.Pass(w, r, body, owner, func() { fmt.Fprint(w, "gone") })
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func post(t *testing.T, url, body string, header http.Header) (*http.Response, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", url+"/mcp?x=1", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header, r.Host = header, "public.example"
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

// H-504: the owner gets the request as it was, and the client its answer.
func TestPass(t *testing.T) {
	var seen *http.Request
	replica, ownerURL := replicas(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = r
		w.Header().Set("Access-Control-Allow-Origin", "https://owner.example")
		w.Header().Set("Location", "http://elsewhere.example")
		w.WriteHeader(http.StatusFound)
		fmt.Fprintf(w, "%s of %s", body, r.RequestURI)
	})
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	answer, text := post(t, replica, "hello", http.Header{
		"Authorization": {"Bearer secret"}, "Mcp-Name": {"a"}, "Connection": {"Upgrade"}, "Upgrade": {"websocket"},
		"X-Forwarded-For": {"1.2.3.4"},
	})
	if text != "hello of /mcp?x=1" || answer.StatusCode != http.StatusFound {
		t.Errorf("%d %s", answer.StatusCode, text)
	}
	if got := answer.Header.Values("Access-Control-Allow-Origin"); len(got) != 1 || got[0] != "https://owner.example" {
		t.Errorf("%q", got)
	}
	h := seen.Header
	if h.Get("Authorization") != "Bearer secret" || h.Get("Mcp-Name") != "a" || h.Get("Upgrade") != "" ||
		seen.Host != "public.example" || seen.ContentLength != 5 || !Forwarded(seen) || ownerURL == "" {
		t.Errorf("%+v", seen)
	}
}

// Events arrive as the owner sends them. The end of the client's connection ends the owner's request.
func TestStream(t *testing.T) {
	next, ended := make(chan struct{}), make(chan struct{})
	replica, _ := replicas(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-next
		fmt.Fprint(w, "data: 2\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(ended)
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "POST", replica, strings.NewReader("x"))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(answer.Body)
	for _, want := range []string{"data: 1\n", "\n", "data: 2\n"} {
		if want == "data: 2\n" {
			close(next)
		}
		if got, err := lines.ReadString('\n'); got != want || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the owner's request goes on")
	}
}

// H-505: an owner that is gone, or does not answer as a server.
func TestGone(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := "http://" + free.Addr().String()
	free.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // its connections wait for nobody
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	killed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer killed.Close()
	go func() {
		for {
			conn, err := killed.Accept()
			if err != nil {
				return
			}
			bufio.NewReader(conn).ReadString('\n')
			conn.Close()
		}
	}()
	for _, owner := range []string{closed, "https://" + silent.Addr().String(), "http://" + killed.Addr().String(),
		"http://nobody.invalid", "http://a b"} {
		if _, text := post(t, passer(t, owner), "x", http.Header{}); text != "gone" {
			t.Errorf("%s: %s", owner, text)
		}
	}
}

// An answer that ends early is not a complete answer.
func TestCutAnswer(t *testing.T) {
	replica, _ := replicas(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	answer, err := http.Post(replica, "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(answer.Body); err == nil {
		t.Errorf("it looks complete: %s", text)
	}
}
