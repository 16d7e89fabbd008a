package hosts

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// A Network looks up names and makes connections. Programs use [System], and tests use a simulated internet.
type Network struct {
	// Lookup returns the addresses of a name.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to a public address.
	Dial func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
	// DialProxy connects to the proxy, which may have any address.
	DialProxy func(ctx context.Context, hostport string) (net.Conn, error)
}

// System returns the network of this machine. Its Dial checks at connection time that the address
// is public (RES-105).
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
