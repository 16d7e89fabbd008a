// Package freeport finds ports for servers that tests start later.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
)

// Address returns an address of this machine that nothing uses. It is likely to differ from all others that tests get.
func Address() (string, error) {
	host := "127.0.0.1"
	if runtime.GOOS == "linux" { // the other systems have one address
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(250), rand.IntN(250), 1+rand.IntN(250))
	}
	port, err := Port()
	return fmt.Sprintf("%s:%d", host, port), err
}

// Port returns a port that nothing uses on any address. It is below those that systems choose for port 0 and for
// clients. So no other program gets it by chance before the server has it, or while the server is stopped.
func Port() (port int, err error) {
	for range 100 {
		port = 10_000 + rand.IntN(20_000)
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprintf(":%d", port)); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}
