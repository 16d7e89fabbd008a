package proxies

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"
)

// A Reader reads the headers of the PROXY protocol, version 2, with which connections of trusted proxies can begin.
type Reader struct {
	Trusted *Trusted
	Within  time.Duration     // the time that a proxy has to send a header
	Log     func(line string) // gets a line about each invalid header
	Done    func(c net.Conn)  // is called when the header of a connection was read
}

// A Conn is the connection of a trusted proxy. The header is not a part of what [Conn.Read] returns.
type Conn struct {
	net.Conn
	reader *Reader

	once   sync.Once
	client net.Addr
	begin  []byte // read, but not a part of a header
	fault  error
}

// Accept returns a connection that a listener has accepted, or a [*Conn] of it if a trusted proxy has made it. The
// method accepts nil, which reads no header.
func (r *Reader) Accept(c net.Conn) net.Conn {
	if r == nil || r.Trusted == nil || !r.Trusted.trusts(Address(c.RemoteAddr().String())) {
		return c
	}
	return &Conn{Conn: c, reader: r}
}

// NetConn returns the connection of the proxy.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// RemoteAddr returns the address of the client, if the proxy states it, or that of the proxy. The first call waits for
// the beginning of the connection.
func (c *Conn) RemoteAddr() net.Addr {
	c.once.Do(c.readHeader)
	return c.client
}

// Read implements [net.Conn].
func (c *Conn) Read(p []byte) (int, error) {
	c.once.Do(c.readHeader)
	if n := copy(p, c.begin); n > 0 {
		c.begin = c.begin[n:]
		return n, nil
	}
	if c.fault != nil {
		return 0, c.fault
	}
	return c.Conn.Read(p)
}

func (c *Conn) readHeader() {
	c.client = c.Conn.RemoteAddr()
	c.SetReadDeadline(time.Now().Add(c.reader.Within))
	client, begin, err := readHeader(c.Conn)
	c.begin, c.fault = begin, err
	if client.IsValid() {
		c.client = net.TCPAddrFromAddrPort(client)
	}
	if errors.Is(err, errHeader) {
		c.reader.Log(fmt.Sprintf("closed a connection of the proxy %s: %v", c.client, err))
		c.fault = io.EOF // so that net/http does not answer
	}
	if err != nil {
		return
	}
	c.SetReadDeadline(time.Time{})
	if begin == nil {
		c.reader.Done(c.Conn)
	}
}

var (
	signature = []byte("\r\n\r\n\x00\r\nQUIT\n")
	errHeader = errors.New("invalid header of the PROXY protocol")
)

const (
	fixedPart = 16      // bytes of a header before the addresses
	maxPart   = 4 << 10 // bytes of addresses and additional values

	version2 = 2
	local    = 0 // the proxy speaks for itself
	proxied  = 1

	unspecified = 0x00
	tcp4        = 0x11
	tcp6        = 0x21
	unixStream  = 0x31
)

// readHeader reads a header of the PROXY protocol, version 2, and no byte more. client is the address that it states,
// or zero. If the connection begins in another way, begin has the bytes that were read.
func readHeader(r io.Reader) (client netip.AddrPort, begin []byte, err error) {
	fixed := make([]byte, fixedPart)
	for n := 0; n < len(fixed); {
		more, err := r.Read(fixed[n:])
		n += more
		if common := min(n, len(signature)); !bytes.Equal(fixed[:common], signature[:common]) {
			return client, fixed[:n], nil
		}
		if err != nil && n < len(fixed) {
			return client, nil, err
		}
	}
	command, family, length := fixed[12], fixed[13], int(binary.BigEndian.Uint16(fixed[14:]))
	switch {
	case command>>4 != version2 || command&0xf > proxied:
		return client, nil, fmt.Errorf("%w: version and command %#02x", errHeader, command)
	case length > maxPart:
		return client, nil, fmt.Errorf("%w: %d bytes, more than %d", errHeader, length, maxPart)
	}
	rest := make([]byte, length)
	if _, err := io.ReadFull(r, rest); err != nil {
		return client, nil, err
	}
	if command&0xf == local {
		return client, nil, nil
	}
	client, ok := parseClient(family, rest)
	if !ok {
		return client, nil, fmt.Errorf("%w: %d bytes for the kind of address %#02x", errHeader, length, family)
	}
	return client, nil, nil
}

// parseClient returns the source in the addresses of a header. It is zero if the client has no IP address.
func parseClient(family byte, b []byte) (client netip.AddrPort, ok bool) {
	size := 0 // of an address
	switch family {
	case unspecified, unixStream:
		return client, true
	case tcp4:
		size = 4
	case tcp6:
		size = 16
	default:
		return client, false
	}
	if len(b) < 2*size+4 { // source, destination, and their ports
		return client, false
	}
	a, _ := netip.AddrFromSlice(b[:size])
	return netip.AddrPortFrom(a.Unmap(), binary.BigEndian.Uint16(b[2*size:])), true
}
