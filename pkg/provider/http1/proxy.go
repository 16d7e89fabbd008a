package http1

import (
	"context"
	"encoding/base64"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"mcp-bash/pkg/provider/hosts"
)

// A Proxy is what the environment says about proxies (RES-106). The zero value
// is none.
type Proxy struct {
	url    string
	direct []string // hosts that are contacted without it
}

// ReadProxy reads https_proxy and no_proxy, or the same in capitals.
func ReadProxy(env map[string]string) Proxy {
	either := func(name string) string {
		if v := env[name]; v != "" {
			return v
		}
		return env[strings.ToUpper(name)]
	}
	separator := func(r rune) bool { return r == ',' || r == ' ' }
	return Proxy{either("https_proxy"), strings.FieldsFunc(either("no_proxy"), separator)}
}

// A proxyURL is a proxy to use.
type proxyURL struct {
	hostport string
	host     string
	secure   bool // it is spoken to over TLS
	auth     string
}

// forOrigin returns the proxy that leads to an origin; nil: none does.
func (p Proxy) forOrigin(o hosts.Origin) (*proxyURL, error) {
	if p.url == "" || p.bypasses(o) {
		return nil, nil
	}
	text := p.url
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return nil, ProtocolError("https_proxy is no URL of a proxy; expected http://HOST:PORT")
	}
	proxy := &proxyURL{host: u.Hostname(), secure: u.Scheme == "https"}
	port := u.Port()
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, ProtocolError("https_proxy names a proxy of a kind other than http and https")
	case port == "" && proxy.secure:
		port = "443"
	case port == "":
		port = "1080" // as curl does
	}
	proxy.hostport = net.JoinHostPort(proxy.host, port)
	if u.User != nil {
		password, _ := u.User.Password()
		proxy.auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	return proxy, nil
}

// bypasses reports whether no_proxy names the host: itself, a domain it is in,
// a network, or * for all.
func (p Proxy) bypasses(o hosts.Origin) bool {
	for _, entry := range p.direct {
		if entry == "*" {
			return true
		}
		if network, err := netip.ParsePrefix(entry); err == nil && o.Addr.IsValid() && network.Contains(o.Addr.Unmap()) {
			return true
		}
		domain := strings.ToLower(strings.Trim(strings.TrimPrefix(entry, "*"), ".[]"))
		if domain != "" && (o.Host == domain || !o.Addr.IsValid() && strings.HasSuffix(o.Host, "."+domain)) {
			return true
		}
	}
	return false
}

// tunnel asks the proxy for a connection to an origin.
func (p *proxyURL) tunnel(ctx context.Context, raw net.Conn, hostport string, c *Client) (net.Conn, error) {
	if p.secure {
		secure, err := c.handshake(ctx, raw, p.host)
		if err != nil {
			return nil, err
		}
		raw = secure
	}
	request := "CONNECT " + hostport + " HTTP/1.1\r\nHost: " + hostport + "\r\nUser-Agent: " + c.UserAgent + "\r\n"
	if p.auth != "" {
		request += "Proxy-Authorization: " + p.auth + "\r\n"
	}
	conn := newConnection(raw)
	answer, err := conn.exchange([]byte(request+"\r\n"), "CONNECT")
	if err != nil {
		return nil, err
	}
	if answer.Status/100 != 2 {
		return nil, ProtocolError("the proxy refuses the connection")
	}
	if conn.r.Buffered() > 0 {
		return nil, ProtocolError("the proxy says more than it should")
	}
	return raw, nil
}
