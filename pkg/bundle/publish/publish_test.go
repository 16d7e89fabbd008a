package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/bundle/internal/web"
	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/cli"
	"mcp-bash/test/ownprogram"
	"mcp-bash/test/reach"
)

// TestMain makes the test binary a mcp-bash that sends requests.
func TestMain(m *testing.M) { ownprogram.Main(m) }

// registry returns a registry at an address, which must be on this machine. Its requests are sent by the test binary.
func registry(t *testing.T, base string) *Registry {
	t.Helper()
	guard(t, t)
	return &Registry{Base: base, Token: token, Web: web.Client{Program: ownprogram.Path(t)}, Pause: Pause}
}

// guard fails a test whose programs send requests to other machines.
func guard(t *testing.T, fails testing.TB) {
	for name, value := range reach.Guard(fails) {
		t.Setenv(name, value)
	}
}

// A failing is a test that records its errors.
type failing struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (f *failing) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}
func (f *failing) Cleanup(do func()) { f.cleanups = append(f.cleanups, do) }

// A test that publishes at a public address fails, and the request does not leave the machine.
func TestPublicAddress(t *testing.T) {
	local := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer local.Close()
	for _, tc := range []struct{ base, want string }{
		{Official, "CONNECT registry.modelcontextprotocol.io:443"}, {"https://203.0.113.1", "CONNECT 203.0.113.1:443"},
		{local.URL, ""},
	} {
		f := &failing{TB: t}
		guard(t, f)
		r := &Registry{Base: tc.base, Token: token, Web: web.Client{Program: ownprogram.Path(t)}, Pause: Pause}
		err := r.Announce(t.Context(), []byte("{}"))
		for _, do := range f.cleanups {
			do()
		}
		if refused := tc.want != ""; refused != (err != nil) || refused != (len(f.errors) == 1) ||
			refused && !strings.Contains(f.errors[0], tc.want) {
			t.Errorf("%s: %v, %q", tc.base, err, f.errors)
		}
	}
}

const token = "a-secret-token"

// bundle returns a small valid bundle.
func bundle(t *testing.T) *Product {
	t.Helper()
	file := filepath.Join(t.TempDir(), "demo.mcpb")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	manifest := `{"manifest_version":"0.3","name":"demo","version":"1.0.0","description":"d","author":{"name":"x"},` +
		`"server":{"type":"binary","entry_point":"run","mcp_config":{"command":"${__dirname}/run"}}}`
	err = mcpb.Write(t.Context(), f, []mcpb.File{mcpb.Bytes("manifest.json", false, []byte(manifest)),
		mcpb.Bytes("run", true, []byte("#!/bin/sh\n"))}, mcpb.Epoch, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, faults, err := OpenBundle(file)
	if err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
	}
	return b
}

// CLI-1506, CLI-1507: the requests to the registry, the errors for its answers, and the
// retries.
func TestAnswers(t *testing.T) {
	entry := []byte(`{"name":"io.github.you/demo"}`)
	for _, tc := range []struct {
		statuses []int
		waits    int
		reason   string
		code     string
	}{
		{[]int{200}, 0, "", ""}, {[]int{201}, 0, "", ""}, {[]int{503, 429, 502, 200}, 3, "", ""},
		{[]int{503, 503, 503, 503}, 3, "HTTP 503", cli.CodeNetwork},
		{[]int{401}, 0, "check your API token", cli.CodePolicy}, {[]int{409}, 0, "already exists", cli.CodeExists},
		{[]int{400}, 0, "HTTP 400): why", cli.CodeInvalid}, {[]int{403}, 0, "HTTP 403): why", cli.CodePolicy},
		{[]int{422}, 0, "does not meet registry requirements: why\\u001b[2J", cli.CodeInvalid},
		{[]int{500}, 0, "HTTP 500", cli.CodeNetwork}, {[]int{302}, 0, "HTTP 302", cli.CodeNetwork},
	} {
		var got []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+r.Header.Get("Content-Type")+" "+
				string(body))
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(tc.statuses[min(len(got), len(tc.statuses))-1])
			io.WriteString(w, "why\x1b[2J"+strings.Repeat("x", 10))
		}))
		var waits []time.Duration
		r := registry(t, server.URL)
		r.Pause = func(_ context.Context, d time.Duration) error {
			waits = append(waits, d)
			return nil
		}
		err := r.Announce(t.Context(), entry)
		server.Close()
		if len(waits) != tc.waits || len(got) != len(tc.statuses) {
			t.Fatalf("%v: %d requests, waited %v: %v", tc.statuses, len(got), waits, err)
		}
		if want := "POST /v0/publish Bearer " + token + " application/json " + string(entry); got[0] != want {
			t.Errorf("sent %q", got[0])
		}
		var e *cli.Error
		switch {
		case tc.reason == "" && err != nil:
			t.Errorf("%v: %v", tc.statuses, err)
		case tc.reason != "" && (!errors.As(err, &e) || e.Code != tc.code || !strings.Contains(e.Error(), tc.reason)):
			t.Errorf("%v: %v", tc.statuses, err)
		case err != nil && strings.Contains(err.Error(), token):
			t.Errorf("the error contains the token: %v", err)
		}
	}
}

// Only a limited part of a registry's answer is read.
func TestLongAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, strings.Repeat("x", maxAnswer)+"y")
	}))
	defer server.Close()
	r := registry(t, server.URL)
	err := r.Announce(t.Context(), []byte("{}"))
	if want := "Registry request failed (HTTP 500): x"; err == nil || !strings.HasPrefix(err.Error(), want) ||
		strings.HasSuffix(err.Error(), "y") {
		t.Errorf("%.80v", err)
	}
}

func TestUpload(t *testing.T) {
	b := bundle(t)
	var header http.Header
	size := int64(0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		size, _ = io.Copy(io.Discard, r.Body)
	}))
	defer server.Close()
	r := registry(t, server.URL)
	if err := r.Upload(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(b.File)
	if err != nil || size != info.Size() || header.Get("X-Bundle-Name") != "demo" ||
		header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%d bytes, %v", size, header)
	}
	if err := os.WriteFile(b.File, []byte("another"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := r.Upload(t.Context(), b); err == nil {
		t.Error("what changed since it was checked was uploaded")
	}
}

// CLI-1508: the token is sent over https only, and only to the address of the registry. It
// is removed from the registry's answers.
func TestTokenStays(t *testing.T) {
	asked := 0
	serve := func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.Header.Get("Authorization") != "" && r.URL.Path != "/v0/publish" {
			t.Error("the token was sent after a redirect")
		}
		w.WriteHeader(http.StatusInternalServerError)
		io.WriteString(w, "cannot handle Authorization: Bearer "+token)
	}
	plain := httptest.NewServer(http.HandlerFunc(serve))
	defer plain.Close()
	_, port, err := net.SplitHostPort(plain.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, base := range []string{"http://localhost:" + port, "http://localhost.localdomain:" + port,
		"http://0.0.0.0:" + port, "http://example.com", "ftp://127.0.0.1:" + port, "127.0.0.1:" + port, "//127.0.0.1:" + port,
		"https://u:p@example.com", "https://example.com/?token=x",
		"https:example.com", "http://127.0.0.1.example.com:" + port, ""} {
		r := registry(t, base)
		var e *cli.Error
		if err := r.Announce(t.Context(), nil); !errors.As(err, &e) || e.Code != cli.CodeUsage || asked > 0 {
			t.Errorf("%s: %v, %d requests", base, err, asked)
		}
	}
	r := registry(t, plain.URL)
	if err := r.Announce(t.Context(), nil); err == nil || asked != 1 || strings.Contains(err.Error(), token) ||
		!strings.Contains(err.Error(), "cannot handle Authorization: **redacted**") {
		t.Errorf("%v, %d requests", err, asked)
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		elsewhere := httptest.NewServer(http.HandlerFunc(serve))
		redirects := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/other", status))
		asked = 0
		r := registry(t, redirects.URL)
		if err := r.Announce(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "it redirects") || asked > 0 {
			t.Errorf("%d: %v, %d requests", status, err, asked)
		}
		redirects.Close()
		elsewhere.Close()
	}
}

// A wait ends with the context.
func TestPause(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if err := Pause(ctx, time.Hour); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
	if err := Pause(t.Context(), time.Nanosecond); err != nil {
		t.Errorf("%v", err)
	}
}

func TestCheckToken(t *testing.T) {
	for text, want := range map[string]bool{"abc.DEF-123_=": true, "a b": false, "a\nb": false, "ä": false} {
		if err := CheckToken(text); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		} else if err != nil && strings.Contains(err.Error(), text) {
			t.Error("the error contains the token")
		}
	}
}

// CLI-1510: a workflow of GitHub gets an identity token for the registry, and exchanges it for a token of the registry.
// No error contains one of them.
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
