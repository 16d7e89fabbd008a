package guard

import (
	"net/http"
	"strings"
)

// An Audience is who can be behind the requests of a server.
type Audience int

// The audiences. Each one includes those before it.
const (
	Programs  Audience = iota // programs of this machine
	PassedOn                  // also clients whose requests a proxy, a web page or a replica passes on
	Everybody                 // also each machine that reaches the address
)

// Audience returns who can be behind the requests of a server. Only a plain address of this machine is for its own
// programs. As soon as the operator has prepared the server for others, a proxy can pass their requests on (H-81). A
// socket file counts, because its usual client is a proxy.
func (c *Config) Audience() Audience {
	switch {
	case !c.Local:
		return Everybody
	case c.Socket || c.Public || c.authenticates() || len(c.Hosts) > 0 || len(c.Origins) > 0:
		return PassedOn
	}
	return Programs
}

func (c *Config) authenticates() bool { return c.Auth != nil || c.Certificates }

// IsOpen reports whether others than the programs of this machine can use the server without a credential, through
// what the operator has prepared for them. A socket file by itself is only for its user.
func (c *Config) IsOpen() bool {
	return !c.authenticates() && (c.Public || len(c.Hosts) > 0 || len(c.Origins) > 0)
}

// FromStranger reports whether a request can come from another machine. A proxy that names its client is enough,
// with any configuration.
func (g *Guard) FromStranger(r *http.Request) bool {
	return g.Audience() != Programs || isForwarded(r.Header)
}

// isForwarded reports whether a proxy has added a header about its client, the address that the client has used, or
// itself.
func isForwarded(h http.Header) bool {
	for name := range h { // in the canonical form
		switch {
		case name == "Via", name == "Cdn-Loop", strings.Contains(name, "Forwarded"), strings.HasPrefix(name, "X-Envoy-"),
			strings.HasPrefix(name, "X-Original-"), strings.HasPrefix(name, "Cf-"), strings.HasSuffix(name, "-Ip"),
			strings.HasSuffix(name, "Clientip"):
			return true
		}
	}
	return false
}
