package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
)

// A Recorder is a reverse proxy in front of a server over HTTP. It passes on requests and responses unchanged,
// reports each message, and checks those of the server.
type Recorder struct {
	proxy *httputil.ReverseProxy
	// report gets each message and each fault. Its arguments are the session or the number of the request, a mark
	// ('>' to the server, '<' from it, '!' a fault) and the text.
	report func(session string, mark byte, text string)

	mu       sync.Mutex
	requests int
	sessions map[string]*Checker
}

// NewRecorder returns a recorder in front of the server at the URL. report is called by one goroutine at a time.
func NewRecorder(server *url.URL, report func(session string, mark byte, text string)) *Recorder {
	r := &Recorder{report: report, sessions: map[string]*Checker{}}
	r.proxy = &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.Out.URL.Scheme, p.Out.URL.Host = server.Scheme, server.Host
		},
		Transport:      &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100},
		ErrorLog:       log.New(io.Discard, "", 0), // of clients that leave
		ModifyResponse: r.record,
		ErrorHandler: func(w http.ResponseWriter, request *http.Request, err error) {
			if request.Context().Err() == nil { // the client is still there
				r.note(roundTripOf(request).session, '!', err.Error())
			}
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	return r
}

// A roundTrip is a request with its response.
type roundTrip struct {
	session string
	checker *Checker
}

type roundTripKey struct{}

func roundTripOf(r *http.Request) roundTrip { return r.Context().Value(roundTripKey{}).(roundTrip) }

func (r *Recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	r.mu.Lock()
	r.requests++
	e := roundTrip{request.Header.Get("Mcp-Session-Id"), nil}
	if request.Header.Get("Mcp-Protocol-Version") != stateless {
		e.checker = r.sessions[e.session]
	}
	if e.checker == nil { // ids of requests without a session need not differ
		e = roundTrip{fmt.Sprint(r.requests), NewChecker()}
	}
	r.mu.Unlock()
	if len(body) > 0 {
		e.checker.Sent(body)
		r.note(e.session, '>', string(body))
	}
	r.proxy.ServeHTTP(w, request.WithContext(context.WithValue(request.Context(), roundTripKey{}, e)))
}

// record looks at the messages of a response on their way.
func (r *Recorder) record(response *http.Response) error {
	e := roundTripOf(response.Request)
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		r.mu.Lock()
		if r.sessions[id] == nil {
			r.sessions[id] = e.checker
		}
		r.mu.Unlock()
	}
	switch kind := response.Header.Get("Content-Type"); kind {
	case "application/json":
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return err
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
		var batch []json.RawMessage
		if json.Unmarshal(body, &batch) != nil {
			batch = []json.RawMessage{body}
		}
		for _, message := range batch {
			r.received(e, message)
		}
	case "text/event-stream":
		response.Body = &events{ReadCloser: response.Body, message: func(text []byte) { r.received(e, text) }}
	}
	return nil
}

func (r *Recorder) received(e roundTrip, message []byte) {
	message = append(bytes.TrimSuffix(message, []byte("\n")), '\n')
	fault := e.checker.Received(message)
	r.note(e.session, '<', string(message))
	if fault != nil {
		r.note(e.session, '!', fault.Error())
	}
}

func (r *Recorder) note(session string, mark byte, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report(session, mark, strings.TrimSuffix(text, "\n"))
}

// events finds the messages in a stream of events that is read. Each is one line.
type events struct {
	io.ReadCloser
	message func(text []byte)
	rest    []byte
}

func (e *events) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	e.rest = append(e.rest, p[:n]...)
	for {
		line, rest, found := bytes.Cut(e.rest, []byte("\n"))
		if !found {
			return n, err
		}
		if data, is := bytes.CutPrefix(line, []byte("data: ")); is && len(data) > 0 {
			e.message(bytes.Clone(data))
		}
		e.rest = rest
	}
}
