package wire

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// The recorder changes nothing, knows which answer belongs to which request, and reports what the schema does not
// allow.
func TestRecorder(t *testing.T) {
	const (
		initialized = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},` +
			`"serverInfo":{"name":"s","version":"1"}}}`
		progress = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`
		wrong    = `{"jsonrpc":"2.0","id":2,"result":{"tools":1}}`
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Host != "here" {
			t.Errorf("the host is %q", r.Host)
		}
		if strings.Contains(string(body), "initialize") {
			w.Header().Set("Mcp-Session-Id", "s1")
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, initialized)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: 1\ndata: \n\n: nothing\n\nevent: message\ndata: %s\n\n", progress)
		http.NewResponseController(w).Flush()
		fmt.Fprintf(w, "data: %s\n\n", wrong)
	}))
	defer server.Close()
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var noted []string
	recorder := httptest.NewServer(NewRecorder(u, func(session string, mark byte, text string) {
		noted = append(noted, fmt.Sprintf("%s %c %.40s", session, mark, text))
	}))
	defer recorder.Close()
	post := func(session, body string) string {
		r, err := http.NewRequestWithContext(t.Context(), "POST", recorder.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "here"
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if got := post("", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`); got != initialized {
		t.Errorf("%s", got)
	}
	got := post("s1", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if !strings.HasPrefix(got, "id: 1\ndata: \n\n: no") || !strings.HasSuffix(got, wrong+"\n\n") {
		t.Errorf("%s", got)
	}
	want := []string{
		`1 > {"jsonrpc":"2.0","id":1,"method":"initia`, `1 < {"jsonrpc":"2.0","id":1,"result":{"proto`,
		`s1 > {"jsonrpc":"2.0","id":2,"method":"tools/`, `s1 < {"jsonrpc":"2.0","method":"notifications`,
		`s1 < {"jsonrpc":"2.0","id":2,"result":{"tools`, `s1 ! ListToolsResult of 2025-06-18: jsonschem`,
	}
	if got := strings.Join(noted, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("noted\n%s", got)
	}
}
