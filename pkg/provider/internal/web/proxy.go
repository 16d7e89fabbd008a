package web

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"mcp-bash/pkg/provider/hosts"
	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/weburl"
)

// A Proxy has the proxy settings of the environment (RES-106). The zero value uses no proxy.
type Proxy struct {
	url    string
	direct []string // hosts that are contacted directly
}

// ReadProxy reads https_proxy and no_proxy, in lower or upper case.
func ReadProxy(env map[string]string) Proxy {
	either := func(name string) string {
		return cmp.Or(env[name], env[strings.ToUpper(name)])
	}
	separator := func(r rune) bool { return r == ',' || r == ' ' }
	return Proxy{either("https_proxy"), strings.FieldsFunc(either("no_proxy"), separator)}
}

// forOrigin returns the URL of the proxy for an origin, or nil for a direct connection.
func (p Proxy) forOrigin(o hosts.Origin) (*url.URL, error) {
	if p.url == "" || p.bypasses(o) {
		return nil, nil
	}
	text := p.url
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil, ProtocolError("https_proxy is not the URL of a proxy; expected http://HOST:PORT")
	}
	port := u.Port()
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, ProtocolError("https_proxy names a proxy of a kind other than http and https")
	case weburl.CheckPort(u) != nil:
		return nil, ProtocolError("https_proxy: " + weburl.ErrPort.Error())
	case port == "" && u.Scheme == "https":
		port = "443"
	case port == "":
		port = "1080" // as curl does
	}
	return &url.URL{Scheme: u.Scheme, User: u.User, Host: net.JoinHostPort(u.Hostname(), port)}, nil
}

// bypasses reports whether no_proxy contains the host, its domain, its network, or *.
func (p Proxy) bypasses(o hosts.Origin) bool {
	for _, entry := range p.direct {
		if entry == "*" {
			return true
		}
		if network, err := netip.ParsePrefix(entry); err == nil && o.Addr.IsValid() &&
			network.Contains(o.Addr.Unmap()) {
			return true
		}
		domain := ascii.Lower(strings.Trim(strings.TrimPrefix(entry, "*"), ".[]"))
		if domain != "" && (o.Host == domain || !o.Addr.IsValid() && strings.HasSuffix(o.Host, "."+domain)) {
			return true
		}
	}
	return false
}
