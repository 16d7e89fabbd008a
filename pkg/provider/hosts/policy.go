package hosts

import (
	"net/netip"
	"slices"
	"strings"
)

// A Policy is what the operator says about hosts (RES-104). The zero value
// permits none.
type Policy struct {
	allow, deny []item
	all         bool
	listed      bool     // there is a list of allowed hosts, be it of none that can be used
	unclear     bool     // the list of denied hosts has an item that is no host
	noHosts     []string // what stands in the lists and is no host, with the list's name
}

// An item of a list is one host, or with a leading "*." all those below it.
type item struct {
	name string
	addr netip.Addr
	wild bool
}

// ReadPolicy reads the policy of the variables that begin with prefix:
// prefix_ALLOW_HOSTS, prefix_DENY_HOSTS and prefix_ALLOW_ALL.
func ReadPolicy(env map[string]string, prefix string) Policy {
	var p Policy
	p.deny = p.items(env, prefix+"_DENY_HOSTS", parseDenied)
	p.unclear = len(p.noHosts) > 0
	p.allow = p.items(env, prefix+"_ALLOW_HOSTS", parseItem)
	p.listed = env[prefix+"_ALLOW_HOSTS"] != ""
	switch strings.ToLower(env[prefix+"_ALLOW_ALL"]) {
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
	name = strings.TrimSuffix(strings.ToLower(name), ".") // a person may write it; a URI may not (RES-100)
	if addr, err := netip.ParseAddr(name); err == nil {
		return item{addr: addr}, !wild && addr.Zone() == ""
	}
	return item{name: name, wild: wild}, isName(name) && !endsInNumber(name)
}

// parseDenied reads an item that is to deny: of a whole URI the host, so that a
// slip of the pen does not let through what it was to keep out.
func parseDenied(text string) (item, bool) {
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	if end := strings.IndexAny(text, "/?#"); end >= 0 {
		text = text[:end]
	}
	if i, ok := parseItem(text); ok {
		return i, true // among them IPv6 addresses, which have colons too
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

// Listed reports whether the list of allowed hosts names the host.
func (p Policy) Listed(o Origin) bool { return matches(p.allow, o) }

// Permit decides by the name or the address alone. The error is a [*Refusal].
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

// isLocalName reports whether a name is one of this machine, or of the
// metadata of a cloud; they are not even looked up.
func isLocalName(host string) bool {
	switch host {
	case "localhost", "metadata.google.internal", "metadata", "instance-data":
		return true
	}
	return strings.HasSuffix(host, ".localhost")
}

// Report is what the log says about a refusal (RES-107): the reason too, and
// what is wrong with the lists, which is most of interest then (RES-104).
func (p Policy) Report(r *Refusal) string {
	text := r.Error()
	if len(p.noHosts) > 0 {
		text += "; no host names: " + strings.Join(p.noHosts, ", ")
	}
	return text
}
