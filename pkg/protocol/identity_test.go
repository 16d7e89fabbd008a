//go:build unix

package protocol

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/protocol/internal/seal"
	"mcp-bash/pkg/wire/mcp"
)

// as connects a client with an identity.
func as(t *testing.T, s *Server, id *auth.Identity, stateless bool) *memory {
	t.Helper()
	m := &memory{t: t, name: "client", stateless: stateless, lines: make(chan string, 1000), ended: make(chan Ending, 1)}
	m.client = s.NewClient(m, Caller{Identity: id, Owner: id.Owner()})
	t.Cleanup(m.close)
	if !stateless {
		m.request("0", "initialize", `"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}}`)
		m.accept(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
	return m
}

// scoped is a project whose tools report who calls, with scopes for two of them.
var scoped = map[string]string{
	"server.d/server.meta.json": `{"scopes":{"read":["show"],"write":["change","show"]}}`,
	"tools/show/tool.sh": `printf '%s|' "$MCP_CLIENT_ID" "$MCP_CLIENT_ISSUER" "$MCP_CLIENT_SUBJECT" ` +
		`"$MCP_CLIENT_SCOPES"`,
	"tools/change/tool.sh": `echo changed`,
	"tools/other/tool.sh":  `echo other`,
}

var (
	reader  = &auth.Identity{Name: "app", Issuer: "https://i.example", Subject: "anna", Scopes: []string{"read", "mail"}}
	writer  = &auth.Identity{Name: "app", Issuer: "https://i.example", Subject: "bert", Scopes: []string{"write"}}
	limited = &auth.Identity{Name: "backup", Rights: &auth.Rights{Tools: []string{"other"}}}
)

// toolNames returns the names that a client's tools/list has.
func (m *memory) toolNames() (names []string) {
	m.t.Helper()
	line, err := rawjson.Check([]byte(m.request(`"list"`, "tools/list", "")))
	if err != nil {
		m.t.Fatal(err)
	}
	for tool := range rawjson.Elements(rawjson.Path(line, "result", "tools")) {
		names = append(names, rawjson.TextOf(tool, "name"))
	}
	return names
}

// H-400, H-420 to H-422: two clients of one process see and call what their identities permit, and
// scripts learn who calls.
func TestPermissions(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		t.Run(fmt.Sprintf("stateless=%v", stateless), func(t *testing.T) {
			server, _ := newServer(t, scoped, nil)
			for _, tc := range []struct {
				id    *auth.Identity
				lists string // the names in tools/list
				show  string // of the result or the error of the call
				needs string // for the tool change
			}{
				{nil, "change other show", `"text":"||||"`, ""},
				{reader, "show", `"text":"app|https://i.example|anna|read mail|"`, "write"},
				{writer, "change show", `"text":"app|https://i.example|bert|write|"`, ""},
				{limited, "other", "not permitted to this client", ""},
			} {
				m := as(t, server, tc.id, stateless)
				if got := strings.Join(m.toolNames(), " "); got != tc.lists {
					t.Errorf("%+v: tools/list has %s", tc.id, got)
				}
				if got := m.request("2", "tools/call", `"name":"show"`); !strings.Contains(got, tc.show) {
					t.Errorf("%+v: %s", tc.id, got)
				}
				want := `"text":"changed`
				if !strings.Contains(tc.lists, "change") {
					want = "not permitted to this client"
				}
				got := m.request("3", "tools/call", `"name":"change"`)
				if !strings.Contains(got, want) || strings.Contains(got, "scope") != (tc.needs != "") {
					t.Errorf("%+v: %s", tc.id, got)
				}
				if got := m.request("4", "tools/call", `"name":"chang"`); tc.id != nil && strings.Contains(got, "'change'") {
					t.Errorf("%+v: a name that the caller cannot see is suggested: %s", tc.id, got)
				}
				if scope := `"cacheScope":"private"`; stateless && tc.id != nil != strings.Contains(m.await(`"list"`), scope) {
					t.Errorf("%+v: %s", tc.id, m.await(`"list"`))
				}
				m.close()
			}
		})
	}
}

// H-422: a cursor of one caller's list is not valid in another one.
func TestCursorOfAnotherPermission(t *testing.T) {
	server, _ := newServer(t, scoped, nil)
	first := as(t, server, writer, true)
	page, err := rawjson.Check([]byte(first.request("1", "tools/list", `"limit":1`)))
	if err != nil {
		t.Fatal(err)
	}
	cursor := rawjson.TextOf(rawjson.Get(page, "result"), "nextCursor")
	if cursor == "" {
		t.Fatalf("no cursor: %s", page)
	}
	if got := first.request("2", "tools/list", `"cursor":"`+cursor+`"`); !strings.Contains(got, `"name":"show"`) {
		t.Error(got)
	}
	got := as(t, server, nil, true).request("1", "tools/list", `"cursor":"`+cursor+`"`)
	if !strings.Contains(got, "error") {
		t.Errorf("another caller uses it: %s", got)
	}
}

// H-422: callers with more permissions than the server keeps lists for get their own tools.
func TestManyPermissions(t *testing.T) {
	server, _ := newServer(t, scoped, nil)
	for n := range 200 {
		m := as(t, server, &auth.Identity{Name: "n", Rights: &auth.Rights{Tools: []string{"show", fmt.Sprint("t", n)}}}, true)
		if got := m.toolNames(); len(got) != 1 || got[0] != "show" {
			t.Fatalf("%d: %q", n, got)
		}
		m.close()
	}
}

// H-423: the project's policy applies in addition, and learns who calls.
func TestPolicyLearnsCaller(t *testing.T) {
	files := map[string]string{
		"server.d/server.meta.json": `{}`, "tools/show/tool.sh": "echo shown",
		"server.d/policy.sh": `mcp_tools_policy_check() {
[ "$MCP_CLIENT_SUBJECT $MCP_CLIENT_SCOPES" = "anna read mail" ] && return 0
mcp_tools_error -32602 "not for ${MCP_CLIENT_ID:-nobody}"; return 1
}`,
	}
	server, _ := newServer(t, files, project.Env{"MCP_CLIENT_SUBJECT": "anna", "MCP_CLIENT_SCOPES": "read mail"})
	for id, want := range map[*auth.Identity]string{
		reader: "shown", writer: "not for app", limited: "not permitted", nil: "not for nobody",
	} {
		if got := as(t, server, id, true).request("1", "tools/call", `"name":"show"`); !strings.Contains(got, want) {
			t.Errorf("%+v: %s", id, got)
		}
	}
}

// H-421: a mapping that cannot be used permits nothing, and names its fault.
func TestBadScopes(t *testing.T) {
	for mapping, want := range map[string]string{
		`[]`:                       "must be an object",
		`null`:                     "must be an object",
		`{"a b":[]}`:               `"a b" is not a scope`,
		`{"":[]}`:                  `"" is not a scope`,
		`{"a":"show"}`:             "must be a list of names",
		`{"a":[1]}`:                "must be a list of names",
		`{"a":["show"],"a":["*"]}`: "given twice",
		manyScopes():               "more than 256",
	} {
		server, _ := newServer(t, map[string]string{
			"server.d/server.meta.json": `{"scopes":` + mapping + `}`, "tools/show/tool.sh": "echo shown",
		}, nil)
		if err := server.Project.Meta.BadScopes; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", mapping, err)
		}
		for id, want := range map[*auth.Identity]string{reader: "not permitted", nil: "shown"} {
			if got := as(t, server, id, true).request("1", "tools/call", `"name":"show"`); !strings.Contains(got, want) {
				t.Errorf("%s: %+v: %s", mapping, id, got)
			}
		}
	}
}

func manyScopes() string {
	scopes := map[string][]string{}
	for n := range 257 {
		scopes[fmt.Sprint("s", n)] = []string{"show"}
	}
	text, _ := json.Marshal(scopes)
	return string(text)
}

// H-502 to H-505: a suspended call is resumed by its own caller, where its script runs. Any other
// replica names the one that has it, and nobody else gets anything out of the state.
func TestReplicas(t *testing.T) {
	key := [][]byte{make([]byte, seal.KeySize)}
	start := func(replica Replica) *Server {
		server, _ := newReplica(t, isolated, nil, replica)
		return server
	}
	a, b := start(Replica{Keys: key, URL: "http://a:1"}), start(Replica{Keys: key, URL: "http://b:1"})
	silent, foreign := start(Replica{Keys: key}), start(Replica{URL: "http://c:1"})
	anna := as(t, a, reader, true)
	suspend := func(m *memory, id, who string) (retry string) {
		m.name = who
		m.send(id, "tools/call", `"name":"ask","arguments":{"":"`+who+`"}`)
		_, state := m.question()
		return `"name":"ask","arguments":{"":"` + who + `"},"requestState":"` + state +
			`","inputResponses":{"input-1":{"action":"accept","content":{"from":"` + who + `"}}}`
	}
	retry := suspend(anna, "1", "alpha")
	params := mcp.ReadParams([]byte("{" + retry + "}"))
	for _, tc := range []struct {
		at     *Server
		caller *auth.Identity
		owner  string
		answer string
	}{
		{b, reader, "http://a:1", "belongs to another server, which has ended; call again"},
		{b, writer, "", "is not one of this server's"},
		{b, nil, "", "is not one of this server's"},
		{a, writer, "", "is not one of this server's"},
		{foreign, reader, "", "is not one of this server's"},
		{silent, reader, "http://a:1", "belongs to another server"},
	} {
		if got, _ := tc.at.Owner(tc.caller, "tools/call", &params); got.URL != tc.owner {
			t.Errorf("the owner is %+v, want %q", got, tc.owner)
		}
		if got := as(t, tc.at, tc.caller, true).request("9", "tools/call", retry); !strings.Contains(got, tc.answer) {
			t.Errorf("%s, want %s", got, tc.answer)
		}
	}
	if got, _ := a.Owner(reader, "tools/call", &params); got != (Owner{}) {
		t.Errorf("the owner forwards to %+v", got)
	}
	other := strings.Replace(retry, "alpha", "other", 1)
	if got := anna.request("2", "tools/call", other); !strings.Contains(got, "another method, name or arguments") {
		t.Error(got)
	}
	if got := anna.request("3", "tools/call", retry); !strings.Contains(got, `\"from\":\"alpha\"`) {
		t.Error(got)
	}
	if got := anna.request("4", "tools/call", retry); !strings.Contains(got, "used already") {
		t.Errorf("replayed: %s", got)
	}
	retry = suspend(as(t, silent, reader, true), "1", "beta")
	if got := as(t, b, reader, true).request("2", "tools/call", retry); !strings.Contains(got, "does not advertise") {
		t.Error(got)
	}
}

// LR-30, H-420 to H-423: the server's own tool exists for callers that are permitted to call it.
func TestSearchPermission(t *testing.T) {
	server, _ := newServer(t, map[string]string{
		"server.d/server.meta.json": `{"largeResultSearch":true,"scopes":{"read":["show"],"write":["result_search"]}}`,
		"tools/show/tool.sh":        `echo shown`,
	}, nil)
	for _, stateless := range []bool{false, true} {
		for _, tc := range []struct {
			id     *auth.Identity
			lists  string
			answer string
		}{
			{nil, "show result_search", "No such result"},
			{reader, "show", "not permitted to this client"},
			{writer, "result_search", "No such result"},
			{limited, "", "not permitted to this client"},
		} {
			m := as(t, server, tc.id, stateless)
			if got := strings.Join(m.toolNames(), " "); got != tc.lists {
				t.Errorf("%v lists %q, want %q", tc.id, got, tc.lists)
			}
			got := m.request("1", "tools/call", `"name":"result_search","arguments":{"uri":"mcpbash-result://x"}`)
			if !strings.Contains(got, tc.answer) {
				t.Errorf("%v: %s", tc.id, got)
			}
		}
	}
}
