package guard

import (
	"net/http"
	"strings"
)

// Strangers reports whether programs of other machines can be behind the requests of a server. That is the case as soon
// as the operator has prepared the server for them. Only a plain address of this machine is for its own programs
// (H-81). A socket file counts, because its usual client is a proxy.
func (c *Config) Strangers() bool {
	return !c.Local || c.Socket || c.Public || c.authenticates() || len(c.Hosts) > 0 || len(c.Origins) > 0
}

func (c *Config) authenticates() bool { return c.Auth != nil || c.Certificates }

// FromStranger reports whether a request can come from another machine. A proxy that names its client is enough,
// whatever the configuration says.
func (g *Guard) FromStranger(r *http.Request) bool { return g.Strangers() || isForwarded(r) }

// isForwarded reports whether a proxy has added a header about the client or about itself.
func isForwarded(r *http.Request) bool {
	for name := range r.Header {
		switch name {
		case "Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip":
			return true
		}
		if strings.HasPrefix(name, "X-Forwarded-") || strings.HasPrefix(name, "X-Envoy-") {
			return true
		}
	}
	return false
}
