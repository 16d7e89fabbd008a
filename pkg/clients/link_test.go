package clients

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

// PL-51: a link decodes, as its client does it, to the server's name and its entry.
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
				forFile.Command, forFile.shared, forFile.folder = "mcp-bash", true, c.folder
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
		for _, c := range clients {
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
