package clients

import (
	"encoding/base64"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/clients/editors"
	"mcp-bash/pkg/json/rawjson"
)

// remoteDemo returns an example server that clients reach over HTTP.
func remoteDemo(t *testing.T, token string, headers ...string) Server {
	t.Helper()
	r, err := ParseRemote("https://mcp.example.com/mcp")
	for _, text := range headers {
		err = errors.Join(err, r.AddHeader(text))
	}
	if token != "" {
		err = errors.Join(err, r.SetTokenEnv(token))
	}
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: "demo", Remote: r}
}

// H-800, H-802: the entry of every client, without and with a token and a header, and among other entries. A second
// run changes nothing, and removing the entry restores the file.
func TestRemoteClients(t *testing.T) {
	golden := filepath.Join("testdata", "remote.txtar")
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	want, out := map[string]string{}, txtar.Archive{Comment: archive.Comment}
	for _, f := range archive.Files {
		want[f.Name] = string(f.Data)
	}
	check := func(name, text string) {
		out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(text)})
		if !*rewrite && text != want[name] {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, want[name])
		}
	}
	for _, c := range clients() {
		r := request(t, c.Name)
		r.Server = remoteDemo(t, "")
		if c.HTTP.Entry == nil {
			_, err := Apply(t.Context(), r)
			check(c.Name+" refuses", err.Error()+"\n")
			continue
		}
		apply(t, r, Added)
		check(c.Name+" plain", readFile(t, r.File))
		r.Server = remoteDemo(t, "DEMO_TOKEN", "X-Team: blue $HOME")
		if c.HTTP.Variable == "" && c.HTTP.Token == "" {
			_, err := Apply(t.Context(), r)
			check(c.Name+" refuses the token", err.Error()+"\n")
			r.Server = remoteDemo(t, "", "Authorization: Bearer secret", "X-Team: blue $HOME")
		}
		apply(t, r, Updated) // the plain entry gets the headers
		updated := readFile(t, r.File)
		remove := r
		remove.Remove = true
		apply(t, remove, Removed)

		if before, err := txtar.ParseFile(filepath.Join("testdata", "clients", c.Name+".txtar")); err != nil {
			t.Fatal(err)
		} else if at := slices.IndexFunc(before.Files, func(f txtar.File) bool { return f.Name == "before" }); at >= 0 {
			text := string(before.Files[at].Data)
			writeFile(t, r.File, text)
			change := apply(t, r, Added)
			apply(t, r, Unchanged)
			os.Remove(change.Backup)
			apply(t, remove, Removed)
			if left := readFile(t, r.File); left != text {
				t.Errorf("%s: removed:\n%s\nwant\n%s", c.Name, left, text)
			}
			os.Remove(r.File)
			os.Remove(r.File + backupSuffix)
		}
		apply(t, r, Added)
		added := readFile(t, r.File)
		check(c.Name, added)
		if !sameEntry(t, c, added, updated) {
			t.Errorf("%s: an updated entry is\n%s\na new one\n%s", c.Name, updated, added)
		}
		if snippet, err := c.Snippet(r.Server); err != nil || string(snippet) != added {
			t.Errorf("%s: %v, %s", c.Name, err, snippet)
		}
	}
	if *rewrite {
		writeFile(t, golden, string(txtar.Format(&out)))
		os.Chmod(golden, 0o644)
	}
	if len(out.Files) != len(want) && !*rewrite {
		t.Errorf("%d files, want %d", len(out.Files), len(want))
	}
}

func sameEntry(t *testing.T, c *Client, a, b string) bool {
	t.Helper()
	var entries [2]string
	for i, text := range []string{a, b} {
		e, _, err := c.open(editors.Open, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		entry, err := e.Get(c.path("demo")...)
		if err != nil {
			t.Fatal(err)
		}
		entries[i] = string(rawjson.AppendCanonical(nil, entry))
	}
	return entries[0] == entries[1]
}

// H-801: addresses, headers and names of variables that are refused.
func TestRemoteArguments(t *testing.T) {
	for _, address := range []string{
		"", "mcp.example.com", "/mcp", "https://", "https:///mcp", "http://:8000", "ftp://h/mcp", "unix:/run/x",
		"https://h/mcp#x", "https://h/mcp#", "https://ann:secret@h/mcp", "https://token@h/mcp", "https://h\n/",
		"https://h/%zz", "https://[::1/", "http://127.0.0.1:99999/mcp", "https://ann:secret@h:0/mcp", "https://h:/mcp",
	} {
		if _, err := ParseRemote(address); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, address := range []string{
		"http://127.0.0.1:8000/mcp", "https://[::1]:8000/mcp?team=a", "HTTPS://mcp.example.com",
		"http://localhost/%7Ban%7D/mcp",
	} {
		if r, err := ParseRemote(address); err != nil || r.URL != address {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, text := range []string{
		"", "secret", ": secret", "X Y: secret", "X:", "X: \t", "X: a\nsecret", "X: a\rsecret", "X: \x00secret",
		"Host: secret", "Mcp-Session-Id: secret", "mcp-protocol-version: secret", "Content-Type: secret", "é: secret",
		"x-a: secret", "X\n: secret",
	} {
		r := remoteDemo(t, "", "X-A: 1")
		err := r.Remote.AddHeader(text)
		if err == nil || strings.Contains(err.Error(), "secret") || len(r.Remote.Headers) != 1 {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, name := range []string{"", "1A", "A-B", "$A", "A B", "A=b", "tök", "eyJhbGciOi.x.y"} {
		if err := remoteDemo(t, "").Remote.SetTokenEnv(name); err == nil {
			t.Errorf("%q", name)
		}
	}
	if err := remoteDemo(t, "", "authorization: x").Remote.SetTokenEnv("A"); err == nil {
		t.Error("two tokens")
	}
}

// H-803: an entry with the address is ours. Values of the command line replace those of the entry; other values stay.
func TestRemoteUpdate(t *testing.T) {
	for client, tc := range map[string]struct{ before, after string }{
		"claude-code": {
			`{"mcpServers":{"demo":{"type":"sse","url":"https://mcp.example.com/mcp","timeout":5,` +
				`"headers":{"x-team":"red","X-Mine":"1"}}}}`,
			`{"mcpServers":{"demo":{"type":"http","url":"https://mcp.example.com/mcp","timeout":5,` +
				`"headers":{"x-team":"blue","X-Mine":"1","Authorization":"Bearer ${DEMO_TOKEN}"}}}}`,
		},
		"codex": {
			"[mcp_servers.demo]\nurl = 'https://mcp.example.com/mcp' # mine\nbearer_token_env_var = \"OLD\"\n",
			"[mcp_servers.demo]\nurl = 'https://mcp.example.com/mcp' # mine\nbearer_token_env_var = \"DEMO_TOKEN\"\n\n" +
				"[mcp_servers.demo.http_headers]\nX-Team = \"blue\"\n",
		},
		"goose": {
			"extensions:\n  demo:\n    type: streamable_http\n    enabled: false # for now\n    name: demo\n" +
				"    uri: https://mcp.example.com/mcp\n    timeout: 5\n",
			"extensions:\n  demo:\n    env_keys: [DEMO_TOKEN]\n    headers:\n      X-Team: blue\n" +
				"      Authorization: \"Bearer ${DEMO_TOKEN}\"\n    type: streamable_http\n    enabled: false # for now\n" +
				"    name: demo\n    uri: https://mcp.example.com/mcp\n    timeout: 5\n",
		},
	} {
		r := request(t, client)
		r.Server = remoteDemo(t, "DEMO_TOKEN", "X-Team: blue")
		writeFile(t, r.File, tc.before)
		apply(t, r, Updated)
		if got := readFile(t, r.File); got != tc.after {
			t.Errorf("%s:\n%s\nwant\n%s", client, got, tc.after)
		}
		apply(t, r, Unchanged)
	}
}

// H-803: an entry for something else is neither replaced nor removed, except on request.
func TestRemoteForeign(t *testing.T) {
	for _, tc := range []struct{ client, text, why string }{
		{"cursor", `{"mcpServers":{"demo":{"command":"npx"}}}`, "it runs npx"},
		{"cursor", `{"mcpServers":{"demo":{"url":"https://other/mcp"}}}`, "it connects to https://other/mcp"},
		{"cursor", `{"mcpServers":{"demo":{"url":"https://mcp.example.com/mcp/"}}}`,
			"it connects to https://mcp.example.com/mcp/"},
		{"cursor", `{"mcpServers":{"demo":{"serverUrl":"https://mcp.example.com/mcp"}}}`, "it has no address"},
		{"cursor", `{"mcpServers":{"demo":7}}`, "it has no address"},
		{"opencode", `{"mcp":{"demo":{"command":["npx","x"]}}}`, "it runs npx"},
		{"continue", "mcpServers:\n  - name: demo\n    url: x\n", "it connects to x"},
	} {
		r := request(t, tc.client)
		r.Server = remoteDemo(t, "")
		writeFile(t, r.File, tc.text)
		for _, r.Remove = range []bool{false, true} {
			_, err := Apply(t.Context(), r)
			var e *cli.Error
			if !errors.As(err, &e) || e.Code != cli.CodeExists || !strings.Contains(e.Error(), tc.why) {
				t.Errorf("%s %s: %v", tc.client, tc.text, err)
			}
			if got := readFile(t, r.File); got != tc.text {
				t.Errorf("%s has become %s", tc.text, got)
			}
		}
		r.Force, r.Remove = true, false
		apply(t, r, Updated)
		r.Force = false
		apply(t, r, Unchanged)
	}
}

// H-802: Kilo ignores a project's file that has variables.
func TestRemoteProjectFile(t *testing.T) {
	r := request(t, "kilo")
	r.File, r.Scope, r.Place = "", ProjectScope, home(t)
	if err := os.MkdirAll(r.Place.Root, 0o700); err != nil {
		t.Fatal(err)
	}
	r.Server = remoteDemo(t, "DEMO_TOKEN")
	_, err := Apply(t.Context(), r)
	if err == nil || !strings.Contains(err.Error(), "Kilo ignores a project's file with variables") {
		t.Error(err)
	}
	r.Server = remoteDemo(t, "")
	change := apply(t, r, Added)
	reminders := r.Reminders()
	if slices.ContainsFunc(reminders, func(s string) bool { return strings.Contains(s, "PATH") }) {
		t.Errorf("%s: %q", change.File, reminders)
	}
}

// H-805: warnings about addresses that a client changes, and about headers that are not encrypted.
func TestRemoteWarnings(t *testing.T) {
	for _, tc := range []struct{ client, url, token, want string }{
		{"cursor", "https://h/${a}", "",
			`https://h/${a}: Cursor expands variables that begin with "${"; percent-encode that`},
		{"codex", "https://h/${a}", "", ""},
		{"cursor", "http://h/mcp", "T",
			"http://h/mcp has no TLS: everybody on the way to the server can read the headers; use https"},
		{"cursor", "http://h/mcp", "", ""},
		{"cursor", "http://127.0.0.2:8000/mcp", "T", ""},
		{"cursor", "http://[::1]:8000/mcp", "T", ""},
		{"cursor", "http://localhost:8000/mcp", "T", ""},
		{"cursor", "https://h/mcp", "T", ""},
	} {
		s := remoteDemo(t, tc.token)
		s.Remote.URL = tc.url
		got := Find(tc.client).Warnings(s)
		if strings.Join(got, "\n") != tc.want {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}

// Any name, address and header can be read from the file as they were written.
func FuzzRemote(f *testing.F) {
	f.Add("demo", "https://h/mcp", "blue")
	f.Add("a.b \"c\" # '", "http://h/?a=\u2028{}${x}", "- a: b")
	f.Add("yes", "https://h/{env:A}", "{{x}} ${{ secrets.Y }} 'é\" #")
	f.Fuzz(func(t *testing.T, name, address, value string) {
		r, err := ParseRemote(strings.ToValidUTF8(address, "?"))
		if err != nil || r.AddHeader("X-Team: "+strings.ToValidUTF8(value, "?")) != nil {
			return
		}
		s := Server{Name: strings.ToValidUTF8(name, "?"), Remote: r}
		for _, c := range clients() {
			if c.Connects(r, false) != nil {
				continue
			}
			e, _, err := c.open(editors.Open, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := e.Set(c.entryFor(s), c.path(s.Name)...); err != nil {
				t.Fatalf("%s: %q: %v", c.Name, s.Name, err)
			}
			got, err := e.Get(c.path(s.Name)...)
			if err != nil || c.foreign(got, s) != "" || len(c.lacking(got, s)) > 0 {
				t.Fatalf("%s: %v, %s in\n%s", c.Name, err, got, e.Bytes())
			}
			if err := e.Remove(c.path(s.Name)...); err != nil {
				t.Fatalf("%s: %q: %v", c.Name, s.Name, err)
			}
		}
	})
}

// PL-51: a link, decoded like its client does, contains the server's name and its entry.
func TestLinkDecodes(t *testing.T) {
	const name = `Ä & b=c+d%20/"x`
	for _, s := range []Server{
		{Name: name, Command: "/home/ada/bin/mcp-bash", Root: "/home/ada/demo"},
		{Name: name, Remote: &Remote{URL: "https://mcp.example.com/mcp?team=a+b&c=%20d", TokenEnv: "DEMO_TOKEN"}},
		{Name: name, Remote: &Remote{URL: "https://mcp.example.com/mcp"}},
	} {
		for _, c := range Linked() {
			l, err := c.Link(s)
			if err != nil {
				continue // TestLinkedClients has the reasons
			}
			forFile := s
			if s.Remote == nil {
				forFile.Command, forFile.shared, forFile.folder = "mcp-bash", true, c.Folder
			}
			want := string(c.entryFor(forFile))
			for _, link := range []string{l.Web, l.App} {
				if link == "" {
					continue
				}
				u, err := url.Parse(link)
				if err != nil || strings.ContainsAny(link, " +()<>\"") || strings.Contains(link, "/home/ada") {
					t.Errorf("%s: %s, %v", c.Name, link, err)
					continue
				}
				query, err := url.ParseQuery(u.RawQuery)
				if err != nil {
					t.Fatal(err)
				}
				gotName, got := query.Get("name"), query.Get("config")
				switch {
				case got == "": // the whole query is the entry
					text, err := url.PathUnescape(u.RawQuery)
					doc, errJSON := rawjson.Check([]byte(text))
					if err != nil || errJSON != nil {
						t.Fatalf("%s: %v, %v", text, err, errJSON)
					}
					gotName, got = rawjson.TextOf(doc, "name"), "{"+strings.TrimPrefix(text[1:], `"name":`+
						string(rawjson.Quote(name))+",")
				case !strings.HasPrefix(got, "{"):
					text, err := base64.StdEncoding.DecodeString(got)
					if err != nil {
						t.Fatal(err)
					}
					got = string(text)
				}
				if gotName != name || got != want {
					t.Errorf("%s: %s: %s, want %s", c.Name, gotName, got, want)
				}
			}
			if !strings.HasPrefix(l.Markdown, "[![Install in "+c.Title+"](https://") ||
				!strings.HasSuffix(l.Markdown, ")]("+l.Web+")") {
				t.Errorf("%s: %s", c.Name, l.Markdown)
			}
		}
	}
}

// PL-50, PL-51: the clients that have a link, for each kind of server. No link has a secret.
func TestLinkedClients(t *testing.T) {
	local := Server{Name: "demo", Command: "/bin/mcp-bash", Root: "/demo"}
	remote := Server{Name: "demo", Remote: &Remote{URL: "https://mcp.example.com/mcp"}}
	withToken := Server{Name: "demo", Remote: &Remote{URL: "https://mcp.example.com/mcp", TokenEnv: "TOKEN"}}
	headers := Server{Name: "demo", Remote: &Remote{URL: "https://e/mcp", Headers: []Header{{"X-Key", "v"}}}}
	secret := Server{Name: "demo", Remote: &Remote{URL: "https://e/mcp?k=ghp_0123456789abcdefghijABCDEFGHIJ456789"}}
	for _, tc := range []struct {
		name string
		s    Server
		want string
	}{
		{"local", local, "cursor vscode"},
		{"remote", remote, "cursor vscode kiro lm-studio"},
		{"a token", withToken, "cursor vscode kiro"},
		{"headers", headers, ""},
		{"a secret", secret, ""},
	} {
		var got []string
		for _, c := range clients() {
			if l, err := c.Link(tc.s); err == nil {
				got = append(got, l.Client.Name)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	if l, err := Find("vscode").Link(Server{Name: "a-b_c", Remote: remote.Remote}); err != nil ||
		!strings.Contains(l.Markdown, "https://img.shields.io/badge/VS_Code-Install%20a--b__c-0098FF") {
		t.Errorf("%v, %v", l, err)
	}
}
