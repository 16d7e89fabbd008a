package clients

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/secrets"
)

// links describes the links by which a client adds a server. In a template, NAME is the server's name, and CONFIG its
// entry as JSON. BASE64 is the entry in Base64, and ENTRY the entry with the name in it. Each is encoded for a URL.
type links struct {
	web   string // opens the client from a web page; GitHub keeps only these in a README
	app   string // opens the client directly; "": none is documented
	badge string // a picture, with LABEL for the text "Install NAME"
}

// A Link is a server's link for a client.
type Link struct {
	*Client
	Web      string `json:"web"`
	App      string `json:"app,omitempty"`
	Markdown string `json:"markdown"` // the web link under a badge
}

// Linked returns the clients that have links.
func Linked() (list []*Client) {
	for _, c := range clients {
		if c.links.web != "" {
			list = append(list, c)
		}
	}
	return list
}

// Link returns the links of a server for a client (PL-51). Everybody can read a link, so it has no path of this machine
// and no values of headers.
func (c *Client) Link(s Server) (*Link, error) {
	switch {
	case c.links.web == "":
		return nil, cli.Failf(cli.CodeNotFound, "%s has no install links", c.Title).
			WithHint("clients with links: %s", strings.Join(namesOf(Linked()), ", "))
	case s.Package != nil:
		s = s.portable("")
	case s.Remote == nil && c.folder == "":
		return nil, cli.Failf(cli.CodeNotFound, "%s has no variable for the folder of a project, so a link cannot start its "+
			"server", c.Title).WithHint("give the address of a server with --http")
	case s.Remote == nil:
		s = s.portable(c.folder)
	case len(s.Remote.Headers) > 0:
		return nil, cli.Usagef("--link and --header exclude each other: everybody could read the value; use --token-env")
	case len(secrets.Scan([]byte(s.Remote.URL))) > 0:
		return nil, cli.Failf(cli.CodeInvalid, "the address contains a secret, which everybody could read")
	default:
		if err := c.Connects(s.Remote, false); err != nil {
			return nil, err
		}
	}
	entry := c.entryFor(s)
	fill := strings.NewReplacer(
		"NAME", escape(s.Name), "CONFIG", escape(string(entry)), "BASE64", escape(base64.StdEncoding.EncodeToString(entry)),
		"ENTRY", escape(string(named(s.Name, entry))), "LABEL", escape(label(s.Name)),
	)
	l := &Link{Client: c, Web: fill.Replace(c.links.web), App: fill.Replace(c.links.app)}
	l.Markdown = "[![Install in " + c.Title + "](" + fill.Replace(c.links.badge) + ")](" + l.Web + ")"
	return l, nil
}

// label returns the text of a badge. In a badge of shields.io, - and _ have a meaning, except doubled.
func label(name string) string {
	return strings.NewReplacer("-", "--", "_", "__").Replace("Install " + name)
}

// named returns an entry with the server's name as its first member.
func named(name string, entry json.RawMessage) json.RawMessage {
	var b rawjson.Builder
	return b.Object().Name("name").String(name).Members(entry).End().Bytes()
}

// escape encodes a text for the query of a URL. Unlike a form, a link has %20 for a space.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

func namesOf(list []*Client) (names []string) {
	for _, c := range list {
		names = append(names, c.Name)
	}
	return names
}
