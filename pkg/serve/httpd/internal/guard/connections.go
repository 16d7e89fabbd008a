package guard

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"mcp-bash/pkg/events/metrics"
)

// Connections limits the number of connections. Above the limit, the connection closes that has
// been without a request for the longest time. So clients that only connect, or send their header
// slowly, cannot keep others out. Connections that the handler has taken over do not count.
type Connections struct {
	most int
	mu   sync.Mutex
	open map[net.Conn]*list.Element // of idle; nil while a request runs
	idle list.List                  // of net.Conn without a request, the oldest first
}

// NewConnections returns a limit of a number of connections.
func NewConnections(most int) *Connections {
	return &Connections{most: most, open: map[net.Conn]*list.Element{}}
}

// State follows a connection. It is for [http.Server.ConnState].
func (c *Connections) State(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	if at := c.open[conn]; at != nil {
		c.idle.Remove(at)
	}
	var victim net.Conn
	switch state {
	case http.StateNew, http.StateIdle:
		c.open[conn] = c.idle.PushBack(conn)
		if oldest := c.idle.Front(); len(c.open) > c.most {
			victim = oldest.Value.(net.Conn)
			c.idle.Remove(oldest)
			delete(c.open, victim)
		}
	case http.StateActive:
		if _, known := c.open[conn]; known {
			c.open[conn] = nil
		}
	default:
		delete(c.open, conn)
	}
	c.mu.Unlock()
	if victim == nil {
		return
	}
	// The descriptor is free before the next connection is accepted. So Close must not wait for the client, as that of
	// TLS can.
	if secure, ok := victim.(*tls.Conn); ok {
		victim = secure.NetConn()
	}
	victim.Close()
}

// Use returns how much of the limit is in use.
func (c *Connections) Use() metrics.Use {
	c.mu.Lock()
	defer c.mu.Unlock()
	return metrics.Use{Limit: "connections", Used: len(c.open), Most: c.most}
}

// Unused returns the connections without a request.
func (c *Connections) Unused() (list []net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at := c.idle.Front(); at != nil; at = at.Next() {
		list = append(list, at.Value.(net.Conn))
	}
	return list
}
