// Package hosts decides which hosts the network providers may contact, and contacts only those.
//
// A host passes these checks in order:
//
//  1. [Cut] splits the URI.
//  2. [ParseOrigin] reads the host and refuses ambiguous forms.
//  3. [Policy.Permit] checks the name against the lists.
//  4. [Policy.Resolve] looks up its addresses once, and refuses the host if one of them is not
//     public.
//
// The caller then dials these addresses and not the name, so a later answer of the name service
// changes nothing. The dialler of [System] also refuses addresses that are not public.
package hosts

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"mcp-bash/pkg/text/ascii"
)

// A Policy defines which hosts are permitted. The zero value permits no host.
type Policy struct {
	allow, deny []item
	all         bool
	listed      bool     // a list of allowed hosts is set, even if all of its items are invalid
	unclear     bool     // the list of denied hosts has an invalid item
	noHosts     []string // invalid items, with the name of their list
}

// An item is a host in a list. With a leading "*.", it matches all subdomains.
type item struct {
	name string
	addr netip.Addr
	wild bool
}

// ReadPolicy reads the variables PREFIX_ALLOW_HOSTS, PREFIX_DENY_HOSTS and PREFIX_ALLOW_ALL.
func ReadPolicy(env map[string]string, prefix string) Policy {
	var p Policy
	p.deny = p.items(env, prefix+"_DENY_HOSTS", parseDenied)
	p.unclear = len(p.noHosts) > 0
	p.allow = p.items(env, prefix+"_ALLOW_HOSTS", parseItem)
	p.listed = env[prefix+"_ALLOW_HOSTS"] != ""
	switch ascii.Lower(env[prefix+"_ALLOW_ALL"]) {
	case "true", "1", "yes", "on":
		p.all = true
	}
	return p
}

func (p *Policy) items(env map[string]string, list string, parse func(string) (item, bool)) []item {
	separator := func(r rune) bool { return r == ',' || r <= ' ' }
	var items []item
	for _, text := range strings.FieldsFunc(env[list], separator) {
		if i, ok := parse(text); ok {
			items = append(items, i)
		} else {
			p.noHosts = append(p.noHosts, list+": "+printable(text))
		}
	}
	return items
}

func parseItem(text string) (item, bool) {
	name, wild := strings.CutPrefix(text, "*.")
	name, _ = unbracketed(name)
	name = strings.TrimSuffix(ascii.Lower(name), ".") // lists may contain a final dot, URIs may not
	if addr, err := netip.ParseAddr(name); err == nil {
		return item{addr: addr}, !wild && addr.Zone() == ""
	}
	return item{name: name, wild: wild}, isName(name) && !endsInNumber(name)
}

// parseDenied reads an item of the list of denied hosts. It accepts a whole URI and takes its host,
// so that such an item still denies the host.
func parseDenied(text string) (item, bool) {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	if end := strings.IndexAny(text, "/?#"); end >= 0 {
		text = text[:end]
	}
	if i, ok := parseItem(text); ok {
		return i, true // also IPv6 addresses, which contain colons
	}
	host, _ := splitPort(text)
	return parseItem(host)
}

func (i item) matches(o Origin) bool {
	switch {
	case i.addr.IsValid():
		return i.addr == o.Addr
	case i.wild:
		return strings.HasSuffix(o.Host, "."+i.name)
	}
	return i.name == o.Host
}

func matches(list []item, o Origin) bool {
	return slices.ContainsFunc(list, func(i item) bool { return i.matches(o) })
}

// Listed reports whether the list of allowed hosts contains the host.
func (p Policy) Listed(o Origin) bool { return matches(p.allow, o) }

// Permit checks the name or the address, without a lookup. The error is a [*Refusal].
func (p Policy) Permit(o Origin) error {
	refuse := func(reason Reason) error { return &Refusal{o.Host, reason} }
	switch {
	case o.Addr.IsValid() && !isPublic(o.Addr), isLocalName(o.Host):
		return refuse(Local)
	case len(p.allow) == 0 && (p.listed || !p.all):
		return refuse(Closed)
	case p.unclear:
		return refuse(Unclear)
	case matches(p.deny, o):
		return refuse(Denied)
	case p.listed && !matches(p.allow, o):
		return refuse(Unlisted)
	}
	return nil
}

// isLocalName reports whether a name refers to this machine or to the metadata service of a cloud.
// These names are not looked up.
func isLocalName(host string) bool {
	switch host {
	case "localhost", "metadata.google.internal", "metadata", "instance-data":
		return true
	}
	return strings.HasSuffix(host, ".localhost")
}

// Report returns the log line for a refusal: the reason, and the invalid items of the lists.
func (p Policy) Report(r *Refusal) string {
	text := r.Error()
	if len(p.noHosts) > 0 {
		text += "; invalid host names: " + strings.Join(p.noHosts, ", ")
	}
	return text
}

// Address ranges that must not be contacted. An IPv6 address with an embedded IPv4 address is checked as that IPv4
// address. The tables are made at their first use, because most servers have no network providers.
var (
	refused4 = prefixes(
		"0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
		"100.64.0.0/10",    // shared address space behind NAT (RFC 6598)
		"192.0.0.0/24",     // protocol assignments
		"198.18.0.0/15",    // benchmarks
		"224.0.0.0/4",      // multicast
		"240.0.0.0/4",      // reserved, and 255.255.255.255
		"168.63.129.16/32", // metadata of virtual machines at Azure
	)
	// Global unicast addresses, except ranges that are tunnels or not routed.
	global6  = prefixes("2000::/3")
	refused6 = prefixes(
		"2001::/32",     // Teredo: a tunnel to an IPv4 address that the sender chooses
		"2001:db8::/32", // documentation
	)
	// Ranges whose last four bytes are an IPv4 address: compatible (with :: and ::1) and NAT64.
	// Is4In6 finds mapped addresses.
	embedding = prefixes("::/96", "64:ff9b::/96")
	sixToFour = prefixes("2002::/16") // the IPv4 address follows the prefix
)

func prefixes(list ...string) func() []netip.Prefix {
	return sync.OnceValue(func() []netip.Prefix {
		parsed := make([]netip.Prefix, len(list))
		for i, text := range list {
			parsed[i] = netip.MustParsePrefix(text)
		}
		return parsed
	})
}

// isPublic reports whether an address belongs to the public internet, and not to this machine, its
// network or a cloud's internal network. An IPv4 address must be outside the refused ranges. An
// IPv6 address must be in the global range and have no zone. IPv4 addresses for documentation count
// as public, because nothing routes them.
func isPublic(addr netip.Addr) bool {
	if addr.Zone() != "" {
		return false
	}
	addr = embedded(addr)
	switch {
	case addr.Is4():
		return !within(refused4(), addr)
	case addr.Is6():
		return within(global6(), addr) && !within(refused6(), addr)
	}
	return false
}

// embedded returns the IPv4 address that an IPv6 address contains, or the address itself.
func embedded(addr netip.Addr) netip.Addr {
	if !addr.Is6() {
		return addr
	}
	bytes := addr.As16()
	switch {
	case addr.Is4In6(), within(embedding(), addr):
		return netip.AddrFrom4([4]byte(bytes[12:]))
	case within(sixToFour(), addr):
		return netip.AddrFrom4([4]byte(bytes[2:]))
	}
	return addr
}

func within(list []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// A Network looks up names and makes connections. Programs use [System], and tests use a simulated internet.
type Network struct {
	// Lookup returns the addresses of a name.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to a public address.
	Dial func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// DialProxy connects to the proxy, which may have any address.
	DialProxy func(ctx context.Context, hostport string) (net.Conn, error)
}

// System returns the network of this machine. Its Dial checks at connection time that the address is public.
func System() Network {
	return Network{
		Lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		},
		Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
			d := net.Dialer{Control: refuseLocal}
			return d.DialContext(ctx, "tcp", to.String())
		},
		DialProxy: func(ctx context.Context, hostport string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", hostport)
		},
	}
}

func refuseLocal(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err == nil && isPublic(to.Addr()) {
		return nil
	}
	return &Refusal{address, Local}
}

// ErrNoAddress is the error for a host without addresses.
var ErrNoAddress = errors.New("the host has no address")

// Resolve returns the addresses of a permitted host, which are all public. The error is a
// [*Refusal], [ErrNoAddress], or the context's.
func (p Policy) Resolve(ctx context.Context, n Network, o Origin) ([]netip.Addr, error) {
	if err := p.Permit(o); err != nil {
		return nil, err
	}
	if o.Addr.IsValid() {
		return []netip.Addr{o.Addr}, nil
	}
	found, err := n.Lookup(ctx, o.Host)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil || len(found) == 0 {
		return nil, ErrNoAddress
	}
	for _, addr := range found {
		if !isPublic(addr) {
			return nil, &Refusal{o.Host, Local}
		}
	}
	return found, nil
}

// DialFirst connects to the first address that accepts the connection. Each address gets an equal
// part of the remaining time, so one unresponsive address does not use it all.
func (n Network) DialFirst(ctx context.Context, addrs []netip.Addr, port int) (net.Conn, error) {
	err := error(ErrNoAddress)
	for i, addr := range addrs {
		var conn net.Conn
		one, cancel := part(ctx, len(addrs)-i)
		conn, err = n.Dial(one, netip.AddrPortFrom(addr.Unmap(), uint16(port)))
		cancel()
		if err == nil {
			return conn, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, err
}

// part returns a context with an equal part of the remaining time.
func part(ctx context.Context, parts int) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok || parts == 1 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/time.Duration(parts))
}
