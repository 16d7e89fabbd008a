package hosts

import (
	"net/netip"
	"slices"
	"sync"
)

// The addresses nobody may be sent to (RES-103). Those that hold an IPv4
// address are judged by it, see embedded. The tables are made when they are
// first needed: a server that fetches nothing does not pay for them.
var (
	refused4 = prefixes(
		"0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16",
		"100.64.0.0/10",    // of carriers
		"192.0.0.0/24",     // of protocols
		"198.18.0.0/15",    // of benchmarks
		"224.0.0.0/4",      // multicast
		"240.0.0.0/4",      // reserved, and 255.255.255.255
		"168.63.129.16/32", // what a virtual machine at Azure asks about itself
	)
	// Global unicast addresses, except those that lead elsewhere or nowhere.
	global6  = prefixes("2000::/3")
	refused6 = prefixes(
		"2001::/32",     // Teredo: leads to an IPv4 address of the sender's choice
		"2001:db8::/32", // documentation
	)
	// Their last four bytes are an IPv4 address: compatible (which takes in ::
	// and ::1) and NAT64. Mapped ones are found without a table.
	embedding = prefixes("::/96", "64:ff9b::/96")
	sixToFour = prefixes("2002::/16") // it follows the prefix
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

// isPublic reports whether an address may be contacted: it belongs to the
// public internet, not to this machine, its network or a cloud's insides. An
// IPv4 address must be outside of the refused ranges; an IPv6 address must be
// within the global ones, and have no zone. IPv4 addresses for documentation
// count as public; nothing routes them.
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

// embedded returns the IPv4 address that an IPv6 address leads to, or the
// address itself.
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
