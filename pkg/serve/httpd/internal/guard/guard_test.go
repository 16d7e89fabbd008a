package guard

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/serve/httpd/internal/proxies"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/text/weburl"
	"mcp-bash/pkg/wire/mcp"
)

const secret = "a-very-secret-token"

// tokens accepts "TOKEN-NAME" for each name.
type tokens struct{ asked int }

func (a *tokens) Authenticate(_ context.Context, token string) (*auth.Identity, error) {
	a.asked++
	name, ok := strings.CutPrefix(token, secret+"-")
	switch {
	case ok:
		return &auth.Identity{Name: name}, nil
	case token == "down":
		return nil, &auth.Error{Kind: auth.Unavailable, Reason: "not now"}
	}
	return nil, &auth.Error{Kind: auth.Invalid, Reason: "unknown token"}
}

func newGuard(t *testing.T, c Config) *Guard {
	t.Helper()
	g, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// endpoint is a handler that reads the body and answers with it and the identity.
func endpoint(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "body", http.StatusBadRequest)
		return
	}
	name := "nobody"
	if i := auth.IdentityOf(r.Context()); i != nil {
		name = i.Name
	}
	fmt.Fprintf(w, "%s %s", name, body)
}

// ask sends a request to a guard without a connection.
func ask(g *Guard, method, target string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	r.Host = "localhost:8000"
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		} else {
			r.Header.Add(header[i], header[i+1])
		}
	}
	w := httptest.NewRecorder()
	g.Wrap(http.HandlerFunc(endpoint)).ServeHTTP(w, r)
	return w
}

func resource(t *testing.T) *Resource {
	t.Helper()
	u, err := url.Parse("https://mcp.example.com/team/mcp")
	if err != nil {
		t.Fatal(err)
	}
	return &Resource{URL: u, Issuers: []string{"https://login.example.com"}, Scopes: []string{"read"}}
}

// H-200: a server for other machines needs authentication.
func TestNoAuthentication(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("open to everybody")
	}
	newGuard(t, Config{Local: true})
	newGuard(t, Config{Auth: &tokens{}})
	newGuard(t, Config{Certificates: true})
}

// AUD-5: the cause of a refusal depends on whose fault it is: the client's or the server's.
func TestCauses(t *testing.T) {
	var got []mcp.Cause
	g := newGuard(t, Config{
		Local: true, Auth: &tokens{}, Resource: resource(t), Limits: Limits{Requests: 1, ClientRequests: 1, Failures: 1},
		Refused: func(_ http.ResponseWriter, _ *http.Request, cause mcp.Cause) { got = append(got, cause) },
	})
	ada := "Bearer " + secret + "-ada"
	running := g.begin("other")
	for _, test := range []struct {
		target string
		header []string
		want   mcp.Cause
	}{
		{"http://localhost/mcp", nil, mcp.CauseInvalid}, {"/mcp", []string{"Host", "evil.example"}, mcp.CauseOrigin},
		{"/mcp", []string{"Origin", "http://evil.example"}, mcp.CauseOrigin}, {wellKnown, nil, mcp.CauseInvalid},
		{"/mcp", nil, mcp.CauseCredential}, {"/mcp", []string{"Authorization", "Bearer x"}, mcp.CauseCredential},
		{"/mcp", []string{"Authorization", "Bearer x"}, mcp.CauseCredential},
		{"/mcp", []string{"Authorization", "Bearer down"}, mcp.CauseInternal},
		{"/mcp", []string{"Authorization", ada}, mcp.CauseBusy},
	} {
		got = nil
		if w := ask(g, "POST", test.target, test.header...); w.Code < 400 || !slices.Equal(got, []mcp.Cause{test.want}) {
			t.Errorf("%s %q: %d %q, want %s", test.target, test.header, w.Code, got, test.want)
		}
	}
	g.Limits.Requests = 0
	if e := g.begin("other"); running != nil || e == nil || e.cause != mcp.CauseRate {
		t.Error(running, e)
	}
}

// H-202, H-203, H-205: a web page reaches no server of this machine.
func TestHost(t *testing.T) {
	g := newGuard(t, Config{Local: true, Hosts: []string{"tunnel.example.com"}})
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:1": 200, "127.0.0.1:8000": 200, "127.1.2.3": 200, "[::1]:8000": 200, "[::1]": 200,
		"tunnel.example.com": 200, "Tunnel.example.com:443": 200,
		"evil.example": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example:8000": 403, "": 403,
		"evil@localhost":              403,
		"localhost:8000@evil.example": 403, "localhost:80x": 403, "0.0.0.0:8000": 403, "[::1": 403, "::1]": 403,
		"localhost.":      403,
		"169.254.169.254": 403, "[localhost]": 403, "[::ffff:10.0.0.1]": 403, "tunnel.example.com.": 403,
	} {
		if got := ask(g, "POST", "/mcp", "Host", host).Code; got != want {
			t.Errorf("Host %q: %d, not %d", host, got, want)
		}
	}
	public := newGuard(t, Config{Auth: &tokens{}})
	if got := ask(public, "POST", "/mcp", "Host", "any.example", "Authorization",
		"Bearer "+secret+"-a").Code; got != 200 {
		t.Errorf("another host: %d", got)
	}
	named := newGuard(t, Config{Auth: &tokens{}, Hosts: []string{"mcp.example.com"}})
	if got := ask(named, "POST", "/mcp", "Host", "any.example", "Authorization",
		"Bearer "+secret+"-a").Code; got != 403 {
		t.Errorf("a host that is not named: %d", got)
	}
	for _, host := range []string{"10.1.2.3:8000", ""} { // probes of Kubernetes, and of HAProxy
		if got := ask(named, "GET", "/readyz", "Host", host).Code; got != 200 {
			t.Errorf("a probe with Host %q: %d", host, got)
		}
	}
	for _, bad := range []string{"", "*", "http://x", "a/b", "x:y"} {
		if _, err := New(Config{Local: true, Hosts: []string{bad}}); err == nil {
			t.Errorf("host %q is accepted", bad)
		}
	}
}

// H-204: pages of other origins are refused, even for health.
func TestOrigin(t *testing.T) {
	g := newGuard(t, Config{Local: true, Origins: []string{"https://App.example.com", "https://kiosk.example"},
		Resource: resource(t)})
	for origin, want := range map[string]int{
		"https://KIOSK.example": 200, "https://\u212Aio\u017Fk.example": 403, "https://\u212Aiosk.example": 403,
		"http://localhost": 200, "http://localhost:6274": 200, "https://127.0.0.1:1": 200, "http://[::1]:3": 200,
		"https://app.example.com": 200, "https://mcp.example.com": 200,
		"null": 403, "": 403, "https://evil.example": 403, "http://app.example.com": 403,
		"https://app.example.com:444":          403,
		"https://app.example.com.evil.example": 403, "file://localhost": 403, "http://localhost.evil.example": 403,
		"http://localhost:1/../evil": 403, "http://evil@localhost": 403, "localhost": 403, "*": 403,
	} {
		for _, path := range []string{"/mcp", "/healthz"} {
			if got := ask(g, "POST", path, "Origin", origin).Code; got != want {
				t.Errorf("Origin %q: %d, not %d", origin, got, want)
			}
		}
	}
	if got := ask(g, "POST", "/mcp", "Origin", "http://localhost", "Origin", "https://evil.example").Code; got != 403 {
		t.Errorf("two origins: %d", got)
	}
	for site, want := range map[string]int{"cross-site": 403, "same-site": 403, "same-origin": 200, "none": 200} {
		if got := ask(g, "GET", "/mcp", "Sec-Fetch-Site", site).Code; got != want {
			t.Errorf("%s: %d, not %d", site, got, want)
		}
	}
	public := newGuard(t, Config{Auth: &tokens{}, Resource: resource(t)})
	for origin, want := range map[string]int{"http://localhost": 403, "https://mcp.example.com": 200} {
		if got := ask(public, "GET", "/mcp", "Origin", origin, "Authorization",
			"Bearer "+secret+"-a").Code; got != want {
			t.Errorf("Origin %q elsewhere: %d, not %d", origin, got, want)
		}
	}
	for _, bad := range []string{"", "example.com", "https://x/", "ftp://x", "https://a b", "null",
		"https://x:99999", "https://x:0", "https://x:"} {
		if _, err := New(Config{Local: true, Origins: []string{bad}}); err == nil {
			t.Errorf("origin %q is accepted", bad)
		}
	}
	if _, err := New(Config{Local: true, Origins: []string{"*"}}); err == nil {
		t.Error("every page may use a server without tokens")
	}
}

// H-206: only pages of named origins read responses.
func TestCORS(t *testing.T) {
	const app = "https://app.example.com"
	g := newGuard(t, Config{Local: true, Origins: []string{app}})
	w := ask(g, "OPTIONS", "/mcp", "Origin", app, "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers",
		"authorization, Mcp-Session-Id,mcp-param-Region,x-evil,mcp-param-a b")
	h := w.Header()
	if w.Code != 204 || h.Get("Access-Control-Allow-Origin") != app || h.Get("Vary") != "Origin" ||
		h.Get("Access-Control-Allow-Headers") != "authorization, mcp-session-id, mcp-param-region" ||
		h.Get("Access-Control-Allow-Methods") != "GET, POST, DELETE" ||
		h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("%d %v", w.Code, h)
	}
	w = ask(g, "POST", "/mcp", "Origin", app)
	if h := w.Header(); w.Code != 200 || h.Get("Access-Control-Allow-Origin") != app ||
		h.Get("Access-Control-Expose-Headers") != "Mcp-Session-Id, WWW-Authenticate, Retry-After" {
		t.Errorf("%d %v", w.Code, h)
	}
	for _, origin := range []string{"http://localhost:1", "https://evil.example"} {
		w = ask(g, "OPTIONS", "/mcp", "Origin", origin, "Access-Control-Request-Method", "POST")
		if w.Code == 204 || w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", origin, w.Code, w.Header())
		}
	}
	// A preflight has no credential; the request after it has.
	g = newGuard(t, Config{Auth: &tokens{}, Origins: []string{"*"}})
	if w := ask(g, "OPTIONS", "/mcp", "Origin", "https://x.example", "Access-Control-Request-Method",
		"POST"); w.Code != 204 {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	w = ask(g, "POST", "/mcp", "Origin", "https://x.example")
	if w.Code != 401 || w.Header().Get("Access-Control-Allow-Origin") != "https://x.example" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	if w := ask(g, "POST", "/mcp", "Origin", "null"); w.Code != 403 {
		t.Errorf("origin null: %d", w.Code)
	}
}

// H-210 to H-214: status and challenge of each failure.
func TestAuthentication(t *testing.T) {
	g := newGuard(t, Config{Auth: &tokens{}, Resource: resource(t)})
	const metadata = `resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/team/mcp"`
	for _, test := range []struct {
		name, target string
		header       []string
		want         int
		challenge    string
	}{
		{"none", "/mcp", nil, 401, `Bearer scope="read", ` + metadata},
		{"unknown", "/mcp", []string{"Authorization", "Bearer x"}, 401,
			`Bearer error="invalid_token", error_description="unknown token", scope="read", ` + metadata},
		{"right", "/mcp", []string{"Authorization", "bearer " + secret + "-ada"}, 200, ""},
		{"another path", "/secret", nil, 401, `Bearer scope="read", ` + metadata},
		{"health", "/healthz", nil, 200, ""},
		{"basic", "/mcp", []string{"Authorization", "Basic " + secret + "-ada"}, 401,
			`Bearer error="invalid_token", error_description="Authorization has another scheme than Bearer", ` +
				`scope="read", ` + metadata},
		{"two", "/mcp", []string{"Authorization", "Bearer " + secret + "-ada", "Authorization", "Bearer x"}, 400,
			`Bearer error="invalid_request", error_description="more than one Authorization header", ` + metadata},
		{"query", "/mcp?access_token=" + secret + "-ada", nil, 400,
			`Bearer error="invalid_request", error_description="a token in a URL is not accepted; send it in ` +
				`Authorization", ` + metadata},
		{"query and header", "/mcp?a=b&ACCESS_TOKEN=x", []string{"Authorization", "Bearer " + secret + "-ada"}, 400,
			`Bearer error="invalid_request", error_description="a token in a URL is not accepted; send it in ` +
				`Authorization", ` + metadata},
		{"empty", "/mcp", []string{"Authorization", "Bearer "}, 400,
			`Bearer error="invalid_request", error_description="the token has an invalid form", ` + metadata},
		{"quotes", "/mcp", []string{"Authorization", `Bearer a"b`}, 400,
			`Bearer error="invalid_request", error_description="the token has an invalid form", ` + metadata},
		{"long", "/mcp", []string{"Authorization", "Bearer " + strings.Repeat("a", maxToken+1)}, 400,
			`Bearer error="invalid_request", error_description="the token has an invalid form", ` + metadata},
		{"down", "/mcp", []string{"Authorization", "Bearer down"}, 503, ""},
	} {
		w := ask(g, "POST", test.target, test.header...)
		if got := w.Header().Get("WWW-Authenticate"); w.Code != test.want || got != test.challenge {
			t.Errorf("%s: %d, not %d\n%s\n%s", test.name, w.Code, test.want, got, test.challenge)
		}
		var answer struct{ Error struct{ Message string } }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); w.Code != 200 && (err != nil || answer.Error.Message == "") {
			t.Errorf("%s: %s: %v", test.name, w.Body, err)
		}
		if strings.Contains(w.Body.String(), secret) {
			t.Errorf("%s: the response contains the token", test.name)
		}
	}
	if got := ask(g, "POST", "/mcp", "Authorization", "Bearer "+secret+"-ada").Body.String(); got != "ada " {
		t.Errorf("identity: %q", got)
	}
}

// H-230: clients of OAuth find the authorization servers.
func TestMetadata(t *testing.T) {
	g := newGuard(t, Config{Auth: &tokens{}, Resource: resource(t)})
	for _, path := range []string{wellKnown, wellKnown + "/team/mcp", wellKnown + "/mcp", wellKnown + "/",
		wellKnown + "/team/mcp/", wellKnown + "/mcp/"} {
		w := ask(g, "GET", path)
		var got map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 ||
			got["resource"] != "https://mcp.example.com/team/mcp" ||
			fmt.Sprint(got["authorization_servers"]) != "[https://login.example.com]" ||
			fmt.Sprint(got["scopes_supported"]) != "[read]" ||
			fmt.Sprint(got["bearer_methods_supported"]) != "[header]" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	if w := ask(g, "POST", wellKnown); w.Code != 405 {
		t.Error(w.Code)
	}
	for _, path := range []string{wellKnown + "/other", wellKnown + "x"} {
		if w := ask(g, "GET", path); w.Code != 401 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	if w := ask(newGuard(t, Config{Auth: &tokens{}}), "GET", wellKnown); w.Code != 401 {
		t.Error(w.Code)
	}
}

// H-216: nothing in the reason that is logged is taken for a secret, which would hide the reason.
func TestReasonsAreLogged(t *testing.T) {
	var log []string
	g := newGuard(t, Config{Auth: &tokens{}, Limits: Limits{Failures: 100, Clients: 10},
		Log: func(line string) { log = append(log, line) }})
	for _, values := range [][]string{{"Bearer "}, {`Bearer a"b`}, {"Basic x"}, {"Bearer guess"},
		{"Bearer a", "Bearer b"}} {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.Header["Authorization"] = values
		n := len(log)
		g.Wrap(http.HandlerFunc(endpoint)).ServeHTTP(httptest.NewRecorder(), r)
		if len(log) != n+1 || secrets.Text(log[n]) != log[n] {
			t.Errorf("%q: %q is logged as %q", values, log[n:], secrets.Text(strings.Join(log[n:], "\n")))
		}
	}
}

// H-215: failures of one address are throttled; valid tokens pass, and other addresses are not concerned.
func TestFailures(t *testing.T) {
	now := time.Unix(0, 0)
	var log []string
	a := &tokens{}
	g := newGuard(t, Config{Auth: a, Limits: Limits{Failures: 3, Clients: 10}, Now: func() time.Time { return now },
		Log: func(line string) { log = append(log, line) }})
	from := func(address, token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/mcp", nil)
		r.RemoteAddr = address
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		g.Wrap(http.HandlerFunc(endpoint)).ServeHTTP(w, r)
		return w
	}
	for i, want := range []int{401, 401, 401, 429, 429} {
		if w := from(fmt.Sprintf("[2001:db8::%d]:1", i), "guess"); w.Code != want || want == 429 &&
			w.Header().Get("Retry-After") == "" {
			t.Errorf("attempt %d: %d %v", i, w.Code, w.Header())
		}
	}
	if w := from("[2001:db8::9]:1", secret+"-ada"); w.Code != 200 {
		t.Errorf("a valid token: %d", w.Code)
	}
	if w := from("[2001:db8:0:1::9]:1", "guess"); w.Code != 401 {
		t.Errorf("another network: %d", w.Code)
	}
	now = now.Add(20 * time.Second)
	if w := from("[2001:db8::9]:1", "guess"); w.Code != 401 {
		t.Errorf("later: %d", w.Code)
	}
	if text := strings.Join(log, "\n"); strings.Contains(text, "guess") || strings.Contains(text, secret) ||
		len(log) > 6 {
		t.Error(text)
	}
	for i := range 100 { // as many addresses as an attacker has
		from(fmt.Sprintf("10.0.0.%d:1", i), "guess")
	}
	if n := len(g.failures.entries); n > 10 {
		t.Errorf("%d addresses are remembered", n)
	}
}

// H-215, H-218, H-220: behind a trusted proxy, failures and requests count for its clients, and the log has them.
func TestClientsOfProxy(t *testing.T) {
	trusted, err := proxies.Parse([]string{"10.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Unix(0, 0) }
	var log []string
	for name, c := range map[string]struct {
		config Config
		token  string
		first  int
	}{
		"failures": {Config{Auth: &tokens{}, Limits: Limits{Failures: 2, Clients: 10}}, "guess", 401},
		"requests": {Config{Local: true, Public: true, Limits: Limits{Rate: 1, Burst: 2, Clients: 10}}, "", 200},
	} {
		c.config.Proxies, c.config.Now = trusted, now
		c.config.Log = func(line string) { log = append(log, line) }
		g := newGuard(t, c.config)
		from := func(peer, client string) int {
			r := httptest.NewRequest("POST", "/mcp", nil)
			r.Host, r.RemoteAddr = "localhost", peer
			r.Header.Set("X-Forwarded-For", client)
			r.Header.Set("Authorization", "Bearer "+c.token)
			w := httptest.NewRecorder()
			g.Wrap(http.HandlerFunc(endpoint)).ServeHTTP(w, r)
			return w.Code
		}
		for client, peer := range map[string]string{
			"203.0.113.1": "10.0.0.1:1", "203.0.113.2": "10.0.0.1:2", "2001:db8::1": "10.0.0.1:3", "x": "10.0.0.1:4",
			"203.0.113.3": "10.0.0.2:1", // not trusted
		} {
			for i, want := range []int{c.first, c.first, 429, 429} {
				if got := from(peer, client); got != want {
					t.Errorf("%s, %s, request %d: %d", name, client, i, got)
				}
			}
		}
		if got := from("10.0.0.2:2", "203.0.113.4"); got != 429 {
			t.Errorf("%s, the header of a stranger: %d", name, got)
		}
	}
	text := strings.Join(log, "\n")
	for _, want := range []string{"203.0.113.1: ", "203.0.113.2: ", "2001:db8::1: ", "10.0.0.1:4: ", "10.0.0.2:1: "} {
		if !strings.Contains(text, "from "+want) {
			t.Errorf("%s: %s", want, text)
		}
	}
}

// H-220, H-221: a rate and a number of requests for each identity.
func TestClientLimits(t *testing.T) {
	now := time.Unix(0, 0)
	g := newGuard(t, Config{Auth: &tokens{}, Now: func() time.Time { return now },
		Limits: Limits{Rate: 2, Burst: 3, ClientRequests: 5, Requests: 6, Clients: 3}})
	as := func(name string) *httptest.ResponseRecorder {
		return ask(g, "POST", "/mcp", "Authorization", "Bearer "+secret+"-"+name)
	}
	for i, want := range []int{200, 200, 200, 429} {
		if w := as("ada"); w.Code != want || want == 429 && w.Header().Get("Retry-After") != "1" {
			t.Errorf("request %d: %d %v", i, w.Code, w.Header())
		}
	}
	if w := as("bob"); w.Code != 200 {
		t.Errorf("another client: %d", w.Code)
	}
	now = now.Add(time.Second)
	for i, want := range []int{200, 200, 429} {
		if w := as("ada"); w.Code != want {
			t.Errorf("later, request %d: %d", i, w.Code)
		}
	}
	now = now.Add(time.Hour)
	for range 3 {
		if e := g.begin("x"); e != nil {
			t.Error(e.reason)
		}
	}
	now = now.Add(time.Hour)
	for range 2 {
		if e := g.begin("x"); e != nil {
			t.Error(e.reason)
		}
	}
	now = now.Add(time.Hour)
	if e := g.begin("x"); e == nil || e.status != 429 {
		t.Errorf("six requests of a client at once: %v", e)
	}
	if e := g.begin("y"); e != nil {
		t.Errorf("another client: %v", e)
	}
	if e := g.begin("z"); e == nil || e.status != 503 || e.retry == 0 {
		t.Errorf("seven requests at once: %v", e)
	}
	for range 5 {
		g.end("x")
	}
	g.end("y")
	for i := range 100 {
		as(fmt.Sprint(i))
	}
	if n := len(g.clients.entries); n > 3 {
		t.Errorf("%d clients are remembered", n)
	}
	if g.running.Load() != 0 {
		t.Errorf("%d requests are left", g.running.Load())
	}
}

// H-220: strangers without a credential have limits by their address. Programs of this machine have no limit.
func TestAnonymousLimits(t *testing.T) {
	now := time.Unix(0, 0)
	limits := Limits{Rate: 1, Burst: 2, Clients: 10}
	for name, c := range map[string]struct {
		config    Config
		header    string
		addresses []string
		want      []int
	}{
		"programs": {Config{Local: true}, "Accept", []string{"127.0.0.1:1"}, []int{200, 200, 200}},
		"strangers": {Config{Local: true, Public: true}, "Accept", []string{"127.0.0.1:1", "127.0.0.1:2"},
			[]int{200, 200, 429}},
		"other addresses": {Config{Local: true, Public: true}, "Accept", []string{"127.0.0.1:1", "127.0.0.2:1"},
			[]int{200, 200, 200}},
		"a proxy":     {Config{Local: true}, "Via", []string{"127.0.0.1:1"}, []int{200, 200, 429}},
		"socket file": {Config{Local: true, Socket: true}, "Accept", []string{"@"}, []int{200, 200, 200}},
	} {
		c.config.Limits, c.config.Now = limits, func() time.Time { return now }
		g := newGuard(t, c.config)
		for i, want := range c.want {
			r := httptest.NewRequest("POST", "/mcp", nil)
			r.Host, r.RemoteAddr = "localhost", c.addresses[i%len(c.addresses)]
			r.Header.Set(c.header, "x")
			w := httptest.NewRecorder()
			g.Wrap(http.HandlerFunc(endpoint)).ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s, request %d: %d", name, i, w.Code)
			}
		}
	}
}

// A listening is a server with a guard.
type listening struct {
	*httptest.Server
	guard *Guard
}

func serve(t *testing.T, c Config, most int, next http.HandlerFunc) *listening {
	t.Helper()
	l := &listening{guard: newGuard(t, c)}
	l.Server = httptest.NewUnstartedServer(l.guard.Wrap(next))
	l.Config.ReadHeaderTimeout = 300 * time.Millisecond
	l.Config.MaxHeaderBytes = 8 << 10
	l.Config.DisableGeneralOptionsHandler = true
	l.Config.ConnState = NewConnections(most).State
	l.URL = "http://" + l.Listener.Addr().String()
	go l.Config.Serve(l.Listener) // Start would call ConnState with a lock, and State can wait
	t.Cleanup(func() { l.Config.Close() })
	return l
}

func (l *listening) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", l.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	return conn
}

// raw sends bytes and returns the status lines of all responses, until the server closes.
func (l *listening) raw(t *testing.T, text string) (statuses []int) {
	t.Helper()
	conn := l.dial(t)
	io.WriteString(conn, text)
	conn.(*net.TCPConn).CloseWrite()
	in := bufio.NewReader(conn)
	for {
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			return statuses
		}
		io.Copy(io.Discard, response.Body)
		statuses = append(statuses, response.StatusCode)
	}
}

// H-201, H-207: no request hides in another one.
func TestSmuggling(t *testing.T) {
	var mu sync.Mutex
	var reached []string
	l := serve(t, Config{Local: true}, 100, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		reached = append(reached, r.Method+" "+r.URL.Path+" "+string(body))
		mu.Unlock()
	})
	const hidden = "GET /hidden HTTP/1.1\r\nHost: localhost\r\n\r\n"
	const post = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
	for name, test := range map[string]struct {
		text string
		want []int
	}{
		"plain":     {post + "Content-Length: 2\r\n\r\nok", []int{200}},
		"pipelined": {post + "Content-Length: 2\r\n\r\nok" + post + "Content-Length: 2\r\n\r\nok", []int{200, 200}},
		// The chunked body ends before the hidden request. The connection ends with it.
		"TE and CL": {post + "Transfer-Encoding: chunked\r\nContent-Length: 300\r\n\r\n0\r\n\r\n" + hidden, []int{200}},
		"CL and TE": {post + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n", 5+len(hidden)) +
			"0\r\n\r\n" + hidden, []int{200}},
		"two CL":      {post + "Content-Length: 2\r\nContent-Length: 40\r\n\r\nok" + hidden, []int{400}},
		"list of CL":  {post + "Content-Length: 2, 40\r\n\r\nok" + hidden, []int{400}},
		"signed CL":   {post + "Content-Length: +2\r\n\r\nok" + hidden, []int{400}},
		"negative CL": {post + "Content-Length: -1\r\n\r\nok" + hidden, []int{400}},
		"two TE": {post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" +
			hidden, []int{501}},
		"unknown TE":    {post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden, []int{501}},
		"TE with a tab": {post + "Transfer-Encoding:\tchunked, identity\r\n\r\n0\r\n\r\n" + hidden, []int{501}},
		"TE of HTTP/1.0": {"POST /mcp HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + hidden,
			[]int{200}},
		"TE of a kept HTTP/1.0": {"POST /mcp HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n" + hidden, []int{200}},
		"TE of HTTP/2":      {"PRI * HTTP/2.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + hidden, []int{400}},
		"space before :":    {post + "Content-Length : 40\r\n\r\n" + hidden, []int{400}},
		"bare CR":           {post + "X: a\rContent-Length: 40\r\n\r\n" + hidden, []int{400}},
		"NUL":               {post + "X: a\x00b\r\n\r\n" + hidden, []int{400}},
		"bare LF in chunk":  {post + "Transfer-Encoding: chunked\r\n\r\n2\nok\r\n0\r\n\r\n" + hidden, []int{400}},
		"bad chunk size":    {post + "Transfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n" + hidden, []int{400}},
		"two hosts":         {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", []int{400}},
		"no host":           {"POST /mcp HTTP/1.1\r\n\r\n", []int{400}},
		"host with a space": {"POST /mcp HTTP/1.1\r\nHost: local host\r\n\r\n", []int{400}},
		"absolute":          {"POST http://localhost/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{400}},
		"absolute, forged":  {"POST http://localhost/mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n", []int{400}},
		"absolute, evil":    {"POST http://evil.example/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{400}},
		"authority":         {"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{400}},
		"asterisk":          {"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{400}},
		"scheme-relative":   {"POST //evil.example/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", []int{200}},
	} {
		reached = nil
		got := l.raw(t, test.text)
		if fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%s: %v, not %v", name, got, test.want)
		}
		mu.Lock()
		for _, r := range reached {
			if strings.Contains(r, "/hidden") && !strings.HasPrefix(r, "POST") {
				t.Errorf("%s: %q reached the endpoint", name, reached)
			}
		}
		mu.Unlock()
	}
	// A folded header is one header: its second line is neither a header nor a request.
	reached = nil
	if got := l.raw(t, post+"X: a\r\n Content-Length: 40\r\n\r\n"); len(got) != 1 || len(reached) > 1 {
		t.Errorf("folded: %v %v", got, reached)
	}
}

// H-223: slow headers, slow bodies and idle connections keep nobody out.
func TestSlowClients(t *testing.T) {
	l := serve(t, Config{Local: true}, 4, endpoint)
	var slow []net.Conn
	for range 20 {
		conn := l.dial(t)
		io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: loc")
		slow = append(slow, conn)
	}
	response, err := http.Post(l.URL+"/mcp", "application/json", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(response.Body)
	if response.Body.Close(); string(text) != "nobody hello" {
		t.Errorf("%s", text)
	}
	for i, conn := range slow { // closed as the oldest, or after the time for headers
		if _, err := io.Copy(io.Discard, conn); isTimeout(err) {
			t.Errorf("slow connection %d is open", i)
		}
	}
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

// H-223: connections with running requests are not closed for new ones, which wait.
func TestConnectionsInUse(t *testing.T) {
	inside, leave, most := make(chan bool, 9), make(chan bool), 2
	var running atomic.Int64
	l := serve(t, Config{Local: true}, most, func(w http.ResponseWriter, r *http.Request) {
		if n := running.Add(1); n > int64(most)+1 {
			t.Errorf("%d connections", n)
		}
		inside <- true
		<-leave
		running.Add(-1)
	})
	var busy []net.Conn
	for i := range most + 2 { // one is above the limit, and the last one waits
		conn := l.dial(t)
		io.WriteString(conn, "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if busy = append(busy, conn); i <= most {
			<-inside
		}
	}
	close(leave)
	for _, conn := range busy {
		if response, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || response.StatusCode != 200 {
			t.Error(response, err)
		}
	}
	// In the place of an idle one. The server learns that a connection is idle after the client has the response.
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		response, err := http.Get(l.URL + "/healthz")
		if err == nil {
			response.Body.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// H-223: headers over the limit are refused, and a refused body is not waited for.
func TestOversized(t *testing.T) {
	l := serve(t, Config{Auth: &tokens{}}, 100, endpoint)
	if got := l.raw(t, "GET /mcp HTTP/1.1\r\nHost: localhost\r\nX: "+strings.Repeat("a",
		64<<10)+"\r\n\r\n"); fmt.Sprint(got) != "[431]" {
		t.Errorf("a large header: %v", got)
	}
	if got := l.raw(t, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n"+strings.Repeat("X: a\r\n",
		20_000)+"\r\n"); fmt.Sprint(got) != "[431]" {
		t.Errorf("many headers: %v", got)
	}
	if got := l.raw(t, "GET /"+strings.Repeat("a",
		64<<10)+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); fmt.Sprint(got) != "[431]" {
		t.Errorf("a long target: %v", got)
	}
	conn := l.dial(t) // more than net/http reads before it answers
	io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != 401 || !response.Close {
		t.Error(response, err)
	}
}

// No limit, host, header or credential of a client ends in a panic.
func FuzzPlace(f *testing.F) {
	for _, host := range []string{"localhost", "[::1]:80", "[", "a:b", ":", "[]:1", "127.0.0.1:99999"} {
		f.Add(host, "http://"+host, "Bearer x")
	}
	g, err := New(Config{Local: true, Auth: &tokens{}, Hosts: []string{"example.com"},
		Origins: []string{"https://example.com"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, host, origin, credential string) {
		w := ask(g, "POST", "/mcp", "Host", host, "Origin", origin, "Authorization", credential)
		if w.Code == 200 {
			name, ok := hostName(host)
			if !ok || name != "example.com" && !weburl.IsLoopback(name) || !strings.Contains(credential, secret) {
				t.Errorf("%q %q %q passed", host, origin, credential)
			}
		}
		if bytes.ContainsAny([]byte(w.Header().Get("WWW-Authenticate")), "\r\n") {
			t.Error("a header with line breaks")
		}
	})
}

func BenchmarkGuard(b *testing.B) {
	g, err := New(Config{Auth: &tokens{}, Limits: Limits{
		Requests: 100, ClientRequests: 10, Rate: 1 << 30, Burst: 1 << 30,
		Failures: 10, Clients: 100,
	}})
	if err != nil {
		b.Fatal(err)
	}
	handler := g.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.Header.Set("Authorization", "Bearer "+secret+"-ada")
	w := httptest.NewRecorder()
	for b.Loop() {
		handler.ServeHTTP(w, r)
	}
}

// H-217, H-221: two tokens of one person have one share.
func TestLimitOfPerson(t *testing.T) {
	g := newGuard(t, Config{Local: true, Limits: Limits{ClientRequests: 1}})
	as := func(id *auth.Identity, next http.HandlerFunc) int {
		w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/mcp", nil)
		g.Count(w, r.WithContext(auth.WithIdentity(r.Context(), id)), next)
		return w.Code
	}
	var same, other int
	none := func(http.ResponseWriter, *http.Request) {}
	as(&auth.Identity{Name: "anna", Rights: &auth.Rights{Tools: []string{"a"}}}, func(http.ResponseWriter, *http.Request) {
		same = as(&auth.Identity{Name: "anna", Rights: &auth.Rights{Tools: []string{"b"}}}, none)
		other = as(&auth.Identity{Name: "bert"}, none)
	})
	if same != http.StatusTooManyRequests || other != http.StatusOK {
		t.Error(same, other)
	}
}
