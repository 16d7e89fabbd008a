//go:build !linux

package httpd

import "net"

// refuseConnections does nothing: only Linux can refuse connections and keep those that nobody has accepted yet.
func refuseConnections(net.Listener) {}

func hasHandshakes(net.Listener) bool { return false }

// cork does nothing: the written bytes and the end of a connection are two packets.
func cork(net.Conn) {}
