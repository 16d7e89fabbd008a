package hosts

import (
	"net/netip"
	"slices"
	"sync"
)

// Address ranges that must not be contacted (RES-103). An IPv6 address with an embedded IPv4
// address is checked as that IPv4 address. The tables are made at first use, so a server without
// network providers does not pay for them.
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
