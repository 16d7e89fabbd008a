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
	"net/netip"
	"slices"
	"strings"

	"mcp-bash/pkg/text/ascii"
)

// A Policy defines which hosts are permitted (RES-104). The zero value permits no host.
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
	name = strings.TrimSuffix(ascii.Lower(name), ".") // lists may contain a final dot, URIs may not (RES-100)
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

// Report returns the log line for a refusal: the reason, and the invalid items of the lists (RES-104, RES-107).
func (p Policy) Report(r *Refusal) string {
	text := r.Error()
	if len(p.noHosts) > 0 {
		text += "; invalid host names: " + strings.Join(p.noHosts, ", ")
	}
	return text
}
