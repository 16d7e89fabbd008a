// Package hosts decides whom the network providers may contact, and contacts
// only them (resources section 10).
//
// The host of a URI passes through here in this order, and leaves at the first
// thing that is wrong: [Cut] takes the URI apart, [ParseOrigin] reads the host
// and refuses what could be read in two ways, [Policy.Permit] looks at the name
// and the lists, [Policy.Resolve] looks its addresses up, once, and refuses the
// host when one of them is not public. What is then dialled are those addresses
// and no name, so that a second answer of the name service decides nothing; and
// the dialler of [System] refuses an address that is not public whatever led
// there.
package hosts
