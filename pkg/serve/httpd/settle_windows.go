package httpd

import "net"

// hasConnections returns false, because the system does not report them.
func hasConnections(net.Listener) bool { return false }
