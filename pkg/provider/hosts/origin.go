package hosts

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"mcp-bash/pkg/text/ascii"
	"mcp-bash/pkg/text/weburl"
)

// An Origin is the host and port of a URI.
type Origin struct {
	Host string     // in lower case, without brackets
	Port int        // 0 if the URI has no port
	Addr netip.Addr // valid if the host is an IP address
}

// HostPort returns host and port. port is the default if the URI has no port.
func (o Origin) HostPort(port int) string {
	if o.Port != 0 {
		port = o.Port
	}
	return net.JoinHostPort(o.Host, strconv.Itoa(port))
}

// String returns the origin as URIs and Host headers contain it. A port is included if set.
func (o Origin) String() string {
	switch {
	case o.Port != 0:
		return o.HostPort(0)
	case o.Addr.Is6():
		return "[" + o.Host + "]"
	}
	return o.Host
}

// A Reason explains why a host is refused.
type Reason string

// The reasons, in the order in which they are checked.
const (
	Malformed  Reason = "the URI is malformed" // backslash, space, control character
	NoHost     Reason = "the URI lacks a host"
	UserInfo   Reason = "the URI has user information"
	BadHost    Reason = "invalid host name; write a name that is not ASCII in its xn-- form"
	BadPort    Reason = "the port is not 1 to 65535"
	Obfuscated Reason = "the address is not written as four decimal numbers"
	Local      Reason = "the address is not public"
	Closed     Reason = "the list of allowed hosts is empty"
	Unclear    Reason = "the list of denied hosts contains an invalid host name"
	Denied     Reason = "the host is on the list of denied hosts"
	Unlisted   Reason = "the host is not on the list of allowed hosts"
)

// A Refusal is the error for a host that may not be contacted.
type Refusal struct {
	Host   string // the part that could be read
	Reason Reason
}

func (r *Refusal) Error() string { return "Blocked host " + r.Name() + ": " + string(r.Reason) }

// Name returns the host for messages.
func (r *Refusal) Name() string {
	if r.Host == "" {
		return "<empty>"
	}
	return r.Host
}

// Cut splits a URI after the authority, which ends at the first '/', '?' or '#'. ok is false for another scheme. Cut
// refuses URIs with characters that some programs read as separators and others do not.
func Cut(uri, scheme string) (authority, rest string, ok bool, err error) {
	rest, ok = ascii.CutPrefixFold(uri, scheme+"://")
	if !ok {
		return "", "", false, nil
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, rest = rest[:end], rest[end:]
	} else {
		authority, rest = rest, ""
	}
	for i := range len(uri) {
		if c := uri[i]; c <= ' ' || c == 0x7f || c == '\\' {
			host, _ := splitPort(authority[strings.LastIndexByte(authority, '@')+1:])
			return "", "", true, &Refusal{printable(host), Malformed}
		}
	}
	return authority, rest, true, nil
}

// ParseOrigin reads the authority of a URI. The error is a [*Refusal].
func ParseOrigin(authority string) (Origin, error) {
	at := strings.LastIndexByte(authority, '@')
	host, port := splitPort(authority[at+1:])
	name, bracketed := unbracketed(host)
	host = ascii.Lower(name)
	o := Origin{Host: host}
	refuse := func(reason Reason) (Origin, error) {
		return Origin{}, &Refusal{printable(host), reason}
	}
	switch {
	case host == "":
		return refuse(NoHost)
	case at >= 0:
		return refuse(UserInfo)
	case bracketed:
		addr, err := netip.ParseAddr(host)
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return refuse(BadHost)
		}
		o.Addr = addr
	case !isName(host), host[0] == '-':
		return refuse(BadHost)
	case endsInNumber(host):
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return refuse(Obfuscated)
		}
		o.Addr = addr
	}
	if port != "" {
		if !weburl.IsPort(port[1:]) {
			return refuse(BadPort)
		}
		o.Port, _ = strconv.Atoi(port[1:])
	}
	return o, nil
}

// splitPort splits a host from its port. The port keeps its colon.
func splitPort(hostport string) (host, port string) {
	start := 0
	if strings.HasPrefix(hostport, "[") {
		start = strings.IndexByte(hostport, ']') + 1
	}
	if colon := strings.IndexByte(hostport[start:], ':'); colon >= 0 {
		return hostport[:start+colon], hostport[start+colon:]
	}
	return hostport, ""
}

// unbracketed removes the brackets around an IPv6 address. bracketed reports whether the host begins with a bracket.
func unbracketed(host string) (name string, bracketed bool) {
	inner, bracketed := strings.CutPrefix(host, "[")
	if name, ok := strings.CutSuffix(inner, "]"); bracketed && ok {
		return name, true
	}
	return host, bracketed
}

// isName reports whether a host consists of labels of letters, digits, '-' and '_'.
func isName(host string) bool {
	if len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return false
		}
	}
	return true
}

// endsInNumber reports whether programs may read a name as an IPv4 address, such as 127.1, 0177.0.0.1, 2130706433 or
// 0x7f000001.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// printable returns text of a URI in a form that is safe for messages.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\ufffd' {
			return '?'
		}
		return r
	}, text[:min(len(text), 255)])
}
