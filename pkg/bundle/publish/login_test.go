package publish

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
)

// CLI-1510: a workflow of GitHub gets a token about itself for the registry, and the registry's token for it. No error
// contains one of them.
func TestLogin(t *testing.T) {
	const asking, identity, session = "asking-secret", "identity.secret", "session.secret"
	for _, tc := range []struct {
		name           string
		github, answer string // of GitHub, and of the registry
		status         int    // of the registry
		want, code     string
	}{
		{"accepted", `{"value":"` + identity + `"}`, `{"registry_token":"` + session + `"}`, 200, "", ""},
		{"refused", `{"value":"` + identity + `"}`, "bad " + identity, 401, "Authentication failed", cli.CodePolicy},
		{"broken", `{"value":"` + identity + `"}`, "not JSON", 200, "", ""},
		{"empty", `{"value":"` + identity + `"}`, `{"registry_token":""}`, 200, `no token in "registry_token"`, ""},
		{"unusable", `{"value":"a\nb"}`, "", 200,
			`GitHub gives no token for the registry: the answer has no token in "value"`, cli.CodePolicy},
	} {
		var got []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = append(got, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Authorization"), body))
			if r.URL.Path == "/id" {
				io.WriteString(w, tc.github)
				return
			}
			w.WriteHeader(tc.status)
			io.WriteString(w, tc.answer)
		}))
		r := registry(t, server.URL)
		r.Token = ""
		err := r.Login(t.Context(), Workflow{URL: server.URL + "/id?v=1", Token: asking})
		server.Close()
		host := strings.ReplaceAll(strings.TrimPrefix(server.URL, "http://"), ":", "%3A")
		if want := "GET /id?audience=http%3A%2F%2F" + host + "&v=1 Bearer " + asking + " "; got[0] != want {
			t.Errorf("%s: asked %q, not %q", tc.name, got[0], want)
		}
		if want := `POST /v0/auth/github-oidc  {"oidc_token":"` + identity + `"}`; len(got) > 1 && got[1] != want {
			t.Errorf("%s: sent %q, not %q", tc.name, got[1], want)
		}
		var e *cli.Error
		switch {
		case tc.name == "accepted":
			for _, secret := range []string{asking, identity, session} {
				if err != nil || r.Token != session || strings.Contains(r.line("no "+secret), secret) {
					t.Errorf("%v, %q, %s", err, r.Token, r.line("no "+secret))
				}
			}
		case err == nil || r.Token != "" || !strings.Contains(err.Error(), tc.want):
			t.Errorf("%s: %v, %q", tc.name, err, r.Token)
		case tc.code != "" && (!errors.As(err, &e) || e.Code != tc.code):
			t.Errorf("%s: %v", tc.name, err)
		case strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// CLI-1508: a workflow sends its secret over https only, and to a registry over https only.
func TestLoginStays(t *testing.T) {
	r := registry(t, "http://127.0.0.1:1")
	if err := r.Login(t.Context(), Workflow{URL: "http://example.com/id", Token: "x"}); err == nil ||
		!strings.HasPrefix(err.Error(), "ACTIONS_ID_TOKEN_REQUEST_URL: not an https URL") {
		t.Error(err)
	}
	r = registry(t, "http://example.com")
	var usage *cli.Error
	if err := r.Login(t.Context(), Workflow{URL: "https://127.0.0.1:1/id"}); !errors.As(err, &usage) ||
		usage.Code != cli.CodeUsage {
		t.Error(err)
	}
}
