//go:build unix

package httpd

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol"
	"mcp-bash/pkg/serve/httpd/internal/guard"
)

// bearers is a guard that knows these tokens.
func bearers(tokens map[string]*auth.Identity) func(*Config) {
	return func(c *Config) {
		c.guard = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
				if id := tokens[token]; id != nil {
					r = r.WithContext(auth.WithIdentity(r.Context(), id))
				}
				next.ServeHTTP(w, r)
			})
		}
		c.challenge = func(scope string) string { return `Bearer error="insufficient_scope", scope="` + scope + `"` }
	}
}

// replica makes a server one of those that share a key.
func replica(key byte) func(*Config) {
	return func(c *Config) {
		config := c.Server.Config
		config.Replica = protocol.Replica{
			Keys: [][]byte{[]byte(strings.Repeat(string(rune(key)), 32))},
			URL:  strings.TrimSuffix(c.Listener.URL, "/mcp"),
		}
		c.Server = protocol.NewServer(config)
	}
}

// answerOf returns the answer of a response, which can be a stream.
func answerOf(t *testing.T, r *http.Response) string {
	t.Helper()
	got := text(t, r)
	if i := strings.LastIndex(got, "data: "); i >= 0 {
		got = got[i+len("data: "):]
	}
	return got
}

// stateOf returns the state of a suspended call.
func stateOf(t *testing.T, r *http.Response) string {
	t.Helper()
	got := answerOf(t, r)
	_, rest, ok := strings.Cut(got, `"requestState":"`)
	state, _, _ := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("not suspended: %d %s", r.StatusCode, got)
	}
	return state
}

// H-440 to H-442: the headers for arguments are compared before the tool runs.
func TestParamHeaders(t *testing.T) {
	files := tools(map[string]string{"query": "echo ran"})
	files["tools/query/tool.meta.json"] = `{"name":"query","description":"d","inputSchema":{"type":"object",` +
		`"properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"}}}}`
	s := serve(t, files, nil)
	for _, tc := range []struct {
		arguments string
		lines     headersOf
		want      string
	}{
		{`{"region":"us-west1"}`, headersOf{"mcp-param-region: us-west1"}, ""},
		{`{"region":"ü","n":42}`, headersOf{"Mcp-Param-Region: =?base64?w7w=?=", "Mcp-Param-N: 42.0"}, ""},
		{`{"region":null}`, headersOf{"Mcp-Param-Other: x"}, ""},
		{`{"region":"us-west1"}`, nil, "Mcp-Param-Region is missing"},
		{`{"region":"us-west1"}`, headersOf{"Mcp-Param-Region: eu"}, "but the message has"},
		{`{}`, headersOf{"Mcp-Param-Region: eu"}, "but the argument is not"},
		{`{"n":42}`, headersOf{"Mcp-Param-N: 43"}, "but the message has"},
	} {
		r := s.modern(t.Context(), "1", "tools/call", `"name":"query","arguments":`+tc.arguments, "", tc.lines...)
		status, want := 200, `"text":"ran`
		if tc.want != "" {
			status, want = 400, `"code":-32020,"message":"Header mismatch: header`
		}
		if got := text(t, r); r.StatusCode != status || !strings.Contains(got, want) || !strings.Contains(got, tc.want) {
			t.Errorf("%s with %q: %s %s", tc.arguments, tc.lines, r.Status, got)
		}
	}
	other := &auth.Identity{Name: "ci", Rights: &auth.Rights{Tools: []string{"other"}}}
	restricted := serve(t, files, nil, bearers(map[string]*auth.Identity{"file": other}))
	r := restricted.modern(t.Context(), "1", "tools/call", `"name":"query","arguments":{"region":"x"}`, "",
		"Authorization: Bearer file")
	if got := text(t, r); r.StatusCode != 200 || !strings.Contains(got, "not permitted to this client") { // H-423
		t.Errorf("a caller learns about a tool: %s %s", r.Status, got)
	}
	se := s.open("2025-11-25", "")
	if got := text(t, se.call("1", "query", `,"arguments":{"region":"eu"}`)); !strings.Contains(got, "ran") {
		t.Errorf("a session needs the headers: %s", got)
	}
}

// H-423: a tool that needs another scope is 403 with a challenge, in both protocols. The token file
// has no scopes, so nothing would help.
func TestInsufficientScope(t *testing.T) {
	files := tools(map[string]string{"show": `echo "$MCP_CLIENT_ID $MCP_CLIENT_SCOPES"`, "change": "echo changed"})
	files["server.d/server.meta.json"] = `{"scopes":{"read":["show"],"write":["change"],"docs":{"resources":["note"],
		"prompts":["ask"]}}}`
	files["resources/note.txt"], files["prompts/ask.txt"] = "noted", "asked"
	s := serve(t, files, nil, bearers(map[string]*auth.Identity{
		"oauth": {Name: "app", Issuer: "i", Scopes: []string{"read"}},
		"file":  {Name: "ci", Rights: &auth.Rights{Tools: []string{"show"}}},
	}))
	for _, tc := range []struct {
		token, tool string
		status      int
		want        string
		challenge   string
	}{
		{"oauth", "show", 200, `"text":"app read`, ""},
		{"oauth", "change", 403, `"id":1,"error":{"code":-32602`, `Bearer error="insufficient_scope", scope="write"`},
		{"file", "show", 200, `"text":"ci `, ""},
		{"file", "change", 200, `"error":{"code":-32602`, ""},
		{"", "change", 200, `"text":"changed`, ""},
	} {
		bearer := "Authorization: Bearer " + tc.token
		r := s.modern(t.Context(), "1", "tools/call", `"name":"`+tc.tool+`"`, "", bearer)
		if got := text(t, r); r.StatusCode != tc.status || !strings.Contains(got, tc.want) ||
			r.Header.Get("WWW-Authenticate") != tc.challenge {
			t.Errorf("%s, %s: %s %s %s", tc.token, tc.tool, r.Status, r.Header.Get("WWW-Authenticate"), got)
		}
	}
	note := "file://" + s.root + "/resources/note.txt"
	for method, params := range map[string]string{ // H-424
		"resources/read": `"uri":"` + note + `"`, "prompts/get": `"name":"ask"`,
	} {
		r := s.modern(t.Context(), "1", method, params, "", "Authorization: Bearer oauth")
		if got := text(t, r); r.StatusCode != 403 || !strings.Contains(got, `the token needs the scope \"docs\"`) ||
			r.Header.Get("WWW-Authenticate") != `Bearer error="insufficient_scope", scope="docs"` {
			t.Errorf("%s: %s %s %s", method, r.Status, r.Header.Get("WWW-Authenticate"), got)
		}
	}
}

// H-421: OAuth clients learn which scopes there are.
func TestScopesSupported(t *testing.T) {
	files := map[string]string{"server.d/server.meta.json": `{"scopes":{"write":["*"],"read":["show"]}}`}
	s := serve(t, files, nil, func(c *Config) {
		endpoint, err := url.Parse(c.Listener.URL)
		if err != nil {
			t.Fatal(err)
		}
		resource := &guard.Resource{URL: endpoint, Issuers: []string{"https://i"}}
		g, err := guard.New(guard.Config{Local: true, Resource: resource})
		if err != nil {
			t.Fatal(err)
		}
		c.Gate = &Gate{guard: g}
	})
	r := s.do(t.Context(), "GET /.well-known/oauth-protected-resource", "")
	if got := text(t, r); r.StatusCode != 200 || !strings.Contains(got, `"scopes_supported":["read","write"]`) {
		t.Errorf("%s %s", r.Status, got)
	}
}

// H-503 to H-505: a retry reaches the replica that has its call, with the identity of the caller. The state is invalid
// for another caller, on a server with another key, and after its first use.
func TestForwardedRetry(t *testing.T) {
	files := tools(map[string]string{
		"ask": sourceSDK + `mcp_emit_text "$MCP_CLIENT_SUBJECT got $(mcp_elicit_string Name)"`,
	})
	guard := bearers(map[string]*auth.Identity{
		"anna": {Name: "app", Issuer: "i", Subject: "anna"}, "bert": {Name: "app", Issuer: "i", Subject: "bert"},
	})
	a, b := serve(t, files, nil, guard, replica(1)), serve(t, files, nil, guard, replica(1))
	foreign := serve(t, files, nil, guard, replica(2))
	begin := func(s *testServer, who string) string {
		t.Helper()
		return stateOf(t, s.modern(t.Context(), "1", "tools/call", `"name":"ask"`, "", "Authorization: Bearer "+who))
	}
	retry := func(s *testServer, who, state string, lines ...string) string {
		t.Helper()
		r := s.modern(t.Context(), "2", "tools/call", `"name":"ask","requestState":"`+state+
			`","inputResponses":{"input-1":{"action":"accept","content":{"value":"x"}}}`, "",
			append(lines, "Authorization: Bearer "+who)...)
		got := answerOf(t, r)
		if r.StatusCode != 200 || !strings.Contains(got, `"id":2,`) {
			t.Errorf("%s %s", r.Status, got)
		}
		return got
	}
	expect := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	const forged = "is not one of this server's"
	state := begin(a, "anna")
	expect(retry(b, "bert", state), forged)
	expect(retry(b, "", state), forged)
	expect(retry(foreign, "anna", state), forged)
	expect(retry(b, "anna", state+"A"), forged)
	stated := base64.RawURLEncoding.EncodeToString([]byte(`{"Identity":{"Name":"app","Issuer":"i","Subject":"anna"}}`))
	expect(retry(b, "bert", state, "Mcp-Bash-Caller: "+stated), forged)
	expect(retry(a, "bert", state, "Mcp-Bash-Caller: "+stated), forged)
	expect(retry(b, "anna", state), "anna got")
	expect(retry(b, "anna", state), "used already")
	expect(retry(a, "anna", state), "used already")
	expect(retry(a, "anna", begin(a, "anna")), "anna got")

	state = begin(b, "")
	expect(retry(a, "anna", state), forged)
	expect(retry(a, "", state), `" got`)

	state = begin(a, "anna")
	a.Close()
	expect(retry(b, "anna", state), "cannot be reached; call again")
	for _, secret := range []string{state, "Bearer"} {
		if strings.Contains(a.stderr.String()+b.stderr.String(), secret) {
			t.Errorf("the log contains %s", secret)
		}
	}
}

// H-49: a stream ends when the credential of its request is no longer accepted. The session stays,
// and accepts a new credential of the same caller.
func TestRejectedStreams(t *testing.T) {
	var revoked atomic.Bool
	anna := &auth.Identity{Name: "anna", Accepts: func() bool { return !revoked.Load() }}
	s := serve(t, nil, project.Env{"MCPBASH_HTTP_KEEPALIVE": "0.2"}, func(c *Config) {
		c.guard = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r.WithContext(auth.WithIdentity(r.Context(), anna)))
			})
		}
	})
	se := s.open("2025-11-25", "")
	streams := []*http.Response{
		se.request(t.Context(), "GET", "", "Accept: text/event-stream"),
		s.modern(t.Context(), "1", "subscriptions/listen", `"notifications":{"toolsListChanged":true}`, ""),
	}
	revoked.Store(true)
	for _, r := range streams {
		if got := text(t, r); !strings.Contains(got, ": the credential is no longer accepted") {
			t.Errorf("%d %s", r.StatusCode, got)
		}
	}
	await(t, "end of the streams", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.streams) == 0 })
	revoked.Store(false)
	if got := text(t, se.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)); !strings.Contains(got, `"result"`) {
		t.Error(got)
	}
	again := se.request(t.Context(), "GET", "", "Accept: text/event-stream")
	revoked.Store(true)
	text(t, again)
}
