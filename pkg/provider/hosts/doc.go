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
