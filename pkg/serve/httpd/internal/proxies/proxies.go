// Package proxies finds the address of the client behind the proxies that an operator trusts. Such a proxy states the
// address in a header of HTTP, or at the beginning of a connection (PROXY protocol).
package proxies

import (
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// Trusted are the proxies that may state the address of a client. The methods accept nil, which trusts nobody, and are
// safe for concurrent use.
type Trusted struct {
	networks []netip.Prefix
	sockets  bool // also a proxy that connects to a socket file
}

// socketFile is the name of the proxies that connect to a socket file.
const socketFile = "unix:"

var (
	errNetwork  = errors.New("it is not a network such as 10.0.0.0/8, an address, or " + strconv.Quote(socketFile))
	errEveryone = errors.New("it contains every address, so each client could state another one; name the proxies")
)

// Parse returns the proxies in the networks of a list. An element is a network such as 10.0.0.0/8, an address, or
// unix: for everybody who can connect to a socket file. Without elements, Parse returns nil.
func Parse(list []string) (*Trusted, error) {
	if len(list) == 0 {
		return nil, nil
	}
	t := &Trusted{}
	for _, text := range list {
		if text == socketFile {
			t.sockets = true
			continue
		}
		network, err := parseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("trusted proxy %q: %w", text, err)
		}
		t.networks = append(t.networks, network)
	}
	return t, nil
}

func parseNetwork(text string) (network netip.Prefix, err error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	network, err = netip.ParsePrefix(text)
	switch {
	case err != nil || network.Addr().Is4In6():
		return network, errNetwork
	case network.Bits() == 0:
		return network, errEveryone
	case network.Masked() != network:
		return network, fmt.Errorf("bits after the first %d are set; write %s", network.Bits(), network.Masked())
	}
	return network, nil
}

// trusts reports whether an address belongs to a trusted proxy. The zero address stands for a socket file.
func (t *Trusted) trusts(a netip.Addr) bool {
	if !a.IsValid() {
		return t.sockets
	}
	for _, network := range t.networks {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// Client returns the address of the client of a request, in the form of [http.Request.RemoteAddr]. The port is left out
// if it is not known. Client starts at the other end of the connection. As long as an address belongs to a trusted
// proxy, the headers have the address before it. If the two headers name different clients, the proxy wrote only one
// of them, and neither counts.
func (t *Trusted) Client(r *http.Request) string {
	peer := Address(r.RemoteAddr)
	if t == nil || !t.trusts(peer) {
		return r.RemoteAddr
	}
	one, other := forwarded(r.Header), forwardedFor(r.Header)
	switch {
	case one == nil:
		one = other
	case other == nil:
		other = one
	}
	if one == nil {
		return r.RemoteAddr
	}
	client := t.before(peer, one)
	if client == peer || client != t.before(peer, other) {
		return r.RemoteAddr
	}
	return client.String()
}

// before returns the first address that is not that of a trusted proxy, or the last one that is known. hops are the
// addresses that proxies have stated, the nearest first.
func (t *Trusted) before(at netip.Addr, hops iter.Seq[string]) netip.Addr {
	for hop := range hops {
		a := Address(hop)
		if !t.trusts(at) || !a.IsValid() {
			break
		}
		at = a
	}
	return at
}

// Address returns the address in a text such as [http.Request.RemoteAddr], with or without a port and brackets. It is
// the zero address for a socket file, and for a text without an address.
func Address(text string) netip.Addr {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone("")
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok && strings.Contains(inner, ":") {
			text = inner
		}
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}
