package clients

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/secrets"
	"mcp-bash/pkg/text/weburl"
)

// A Remote is a server that clients reach over Streamable HTTP.
type Remote struct {
	URL      string
	Headers  []Header // without the token of TokenEnv
	TokenEnv string   // the environment variable that has the bearer token; "": none
}

// A Header is a header that the client sends with each request.
type Header struct{ Name, Value string }

// http describes how a client connects to a server over Streamable HTTP. It is the zero value if the client cannot
// connect.
type http struct {
	// Entry is a server's entry, without headers. It contains "$url" and may contain "$name".
	Entry   json.RawMessage
	Headers []string // the path of the headers in the entry; in clients.json the default is ["headers"]
	// Variable is the text in a header that the client replaces by an environment variable. NAME is the place of its name.
	// "" means that the client replaces no variables.
	Variable string
	// Token is the field with the name of the token's environment variable, or "".
	Token string
	// Keys is the field that lists the variables used in headers, or "".
	Keys string
	// UserOnly means that the client accepts variables in the user's file only.
	UserOnly bool
	Reminder string // the condition under which the client replaces variables
	Instead  string // where the user adds a server by hand, if the client cannot connect
}

// proxy is the npm package that connects a client for stdio to a server over HTTP.
const proxy = "mcp-remote@0.15.1"

// ParseRemote checks the address of a server. An address contains no credentials.
func ParseRemote(address string) (*Remote, error) {
	u, err := weburl.Parse(address)
	switch {
	case err == weburl.ErrForm:
		return nil, fmt.Errorf("%s is not the address of a server, such as https://mcp.example.com/mcp", cli.Line(address))
	case u.User != nil:
		return nil, fmt.Errorf("an address with a password would be stored in files; use --token-env or --header")
	case err != nil:
		return nil, fmt.Errorf("%s: %w", cli.Line(address), err)
	case u.Fragment != "" || strings.HasSuffix(address, "#"):
		return nil, fmt.Errorf("%s: remove the part after #, which is not sent to the server", cli.Line(address))
	}
	return &Remote{URL: address}, nil
}

// own are headers that clients set themselves.
var own = []string{"accept", "connection", "content-length", "content-type", "host", "last-event-id", "origin",
	"transfer-encoding", "upgrade"}

// AddHeader adds a header that is written as "NAME: VALUE".
func (r *Remote) AddHeader(text string) error {
	name, value, ok := strings.Cut(text, ":")
	value = strings.Trim(value, " \t")
	lower := strings.ToLower(name)
	switch {
	case !ok || !isToken.MatchString(name):
		return fmt.Errorf("write a header as NAME: VALUE, such as 'X-Team: blue'") // the text may be secret
	case strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) || value == "":
		return fmt.Errorf("the value of the header %s is empty, or has control characters", name)
	case slices.Contains(own, lower) || strings.HasPrefix(lower, "mcp-"):
		return fmt.Errorf("clients set the header %s themselves", name)
	case slices.ContainsFunc(r.Headers, func(h Header) bool { return strings.EqualFold(h.Name, name) }):
		return fmt.Errorf("the header %s is given twice", name)
	}
	r.Headers = append(r.Headers, Header{name, value})
	return nil
}

// isToken matches a token of HTTP, such as the name of a header.
var isToken = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

var isName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// SetTokenEnv sets the name of the environment variable that has the bearer token.
func (r *Remote) SetTokenEnv(name string) error {
	switch {
	case !isName.MatchString(name):
		return fmt.Errorf("--token-env takes the name of an environment variable, not the token")
	case slices.ContainsFunc(r.Headers, func(h Header) bool { return strings.EqualFold(h.Name, authorization) }):
		return fmt.Errorf("--token-env and the header Authorization exclude each other")
	}
	r.TokenEnv = name
	return nil
}

const authorization = "Authorization"

// Connects returns nil if a client can connect to the server. Otherwise the error has the reason and the remedy.
// isProjects means that the file is the project's.
func (c *Client) Connects(r *Remote, isProjects bool) error {
	h := c.HTTP
	switch {
	case h.Entry == nil:
		return cli.Failf(cli.CodeNotFound, "the file of %s has no servers over HTTP", c.Title).
			WithHint("%s, or let it start a proxy: command npx, arguments -y %s %s", h.Instead, proxy, r.URL)
	case r.TokenEnv != "" && h.Variable == "" && h.Token == "":
		return cli.Failf(cli.CodeInvalid, "%s is not known to replace variables in headers", c.Title).
			WithHint("leave out --token-env if the server supports OAuth; or give the token itself, which the file then "+
				"contains, with --header 'Authorization: Bearer TOKEN'; or let %s start a proxy: command npx, arguments "+
				"-y %s %s --header 'Authorization: Bearer ${%s}'", c.Title, proxy, r.URL, r.TokenEnv)
	case r.TokenEnv != "" && h.UserOnly && isProjects:
		return cli.Failf(cli.CodeInvalid, "%s ignores a project's file with variables", c.Title).
			WithHint("leave out --scope project")
	}
	return nil
}

// connects is [Client.Connects] for the file of a request. An entry can always be removed.
func (r Request) connects() error {
	if r.Server.Remote == nil || r.Remove {
		return nil
	}
	return r.Client.Connects(r.Server.Remote, r.isProjects())
}

func (c *Client) headersOf(r *Remote) []Header {
	list := r.Headers
	if r.TokenEnv != "" && c.HTTP.Token == "" {
		list = append(slices.Clone(list), Header{authorization,
			"Bearer " + strings.ReplaceAll(c.HTTP.Variable, "NAME", r.TokenEnv)})
	}
	return list
}

func (c *Client) remoteEntry(s Server) json.RawMessage {
	var b rawjson.Builder
	b.Object().Members(s.fill(c.HTTP.Entry, ""))
	if s.Remote.TokenEnv != "" && c.HTTP.Token != "" {
		b.Name(c.HTTP.Token).String(s.Remote.TokenEnv)
	}
	if headers := c.headersOf(s.Remote); len(headers) > 0 {
		var list rawjson.Builder
		list.Object()
		for _, h := range headers {
			list.Name(h.Name).String(h.Value)
		}
		path := c.HTTP.Headers
		b.Name(path[0]).Raw(rawjson.Nested(list.End().Bytes(), path[1:]...))
	}
	if s.Remote.TokenEnv != "" && c.HTTP.Keys != "" {
		b.Name(c.HTTP.Keys).Strings([]string{s.Remote.TokenEnv})
	}
	return b.End().Bytes()
}

// foreignRemote returns the reason why an entry is not for this server over HTTP, or "".
func (c *Client) foreignRemote(entry json.RawMessage, r *Remote) string {
	name, _ := field(c.HTTP.Entry, "$url")
	address := rawjson.TextOf(entry, name)
	switch command, _ := c.commandOf(entry); {
	case command != "":
		return fmt.Sprintf("it runs %s", command)
	case address == "":
		return "it has no address"
	case address != r.URL:
		return fmt.Sprintf("it connects to %s", address)
	}
	return ""
}

func (c *Client) lackingHeaders(entry json.RawMessage, r *Remote) (list []setting) {
	path := c.HTTP.Headers
	present := rawjson.Path(entry, path...)
	for _, h := range c.headersOf(r) {
		name := h.Name
		var now string
		for _, m := range rawjson.Members(present) {
			if strings.EqualFold(m.Name, h.Name) {
				name, now = m.Name, rawjson.TextOf(present, m.Name)
			}
		}
		if now != h.Value {
			list = append(list, setting{append(slices.Clone(path), name), rawjson.Quote(h.Value)})
		}
	}
	return list
}

// json returns the connection of the server, for programs.
func (r *Remote) json(name string) json.RawMessage {
	var b rawjson.Builder
	b.Object().Name("name").String(name).Name("url").String(r.URL).Name("headers").Object()
	for _, h := range r.Headers {
		b.Name(h.Name).String(h.Value)
	}
	b.End()
	b.Optional("tokenEnv", r.TokenEnv)
	return b.End().Bytes()
}

// unprotected returns a warning if a header is sent to another machine without encryption, or "".
func (r *Remote) unprotected() string {
	u, err := url.Parse(r.URL)
	if err != nil || u.Scheme != "http" || r.TokenEnv == "" && len(r.Headers) == 0 {
		return ""
	}
	if weburl.IsLoopback(u.Hostname()) {
		return ""
	}
	return fmt.Sprintf("%s has no TLS: everybody on the way to the server can read the headers; use https",
		cli.Line(r.URL))
}

// links describes the links that add a server to a client. In a template, NAME is the server's name, and CONFIG its
// entry as JSON. BASE64 is the entry in Base64, and ENTRY the entry with the name in it. Each is encoded for a URL.
type links struct {
	Web   string // opens the client from a web page; a README on GitHub can contain no other links
	App   string // opens the client directly; "" if no such link is documented
	Badge string // a picture, with LABEL in the place of the text "Install NAME"
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
	for _, c := range clients() {
		if c.Links.Web != "" {
			list = append(list, c)
		}
	}
	return list
}

// Link returns the links of a server for a client. Everybody can read a link, so it has no path of this machine and no
// values of headers.
func (c *Client) Link(s Server) (*Link, error) {
	switch {
	case c.Links.Web == "":
		return nil, cli.Failf(cli.CodeNotFound, "%s has no install links", c.Title).
			WithHint("clients with links: %s", strings.Join(namesOf(Linked()), ", "))
	case s.Package != nil:
		s = s.portable("")
	case s.Remote == nil && c.Folder == "":
		return nil, cli.Failf(cli.CodeNotFound, "%s has no variable for the folder of a project, so a link cannot start its "+
			"server", c.Title).WithHint("give the address of a server with --http")
	case s.Remote == nil:
		s = s.portable(c.Folder)
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
	l := &Link{Client: c, Web: fill.Replace(c.Links.Web), App: fill.Replace(c.Links.App)}
	l.Markdown = "[![Install in " + c.Title + "](" + fill.Replace(c.Links.Badge) + ")](" + l.Web + ")"
	return l, nil
}

// label returns the text of a badge. In badges of shields.io, - and _ have a special meaning unless they are doubled.
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
