// Package proxies finds the address of the client behind the proxies that an operator trusts. Such a proxy states the
// address in a header of HTTP, or at the beginning of a connection (PROXY protocol).
package proxies

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/text/ascii"
)

// Trusted are the proxies that may state the address of a client. A nil Trusted trusts no proxy. The methods are safe
// for concurrent use.
type Trusted struct {
	networks []netip.Prefix
	sockets  bool // also a proxy that connects to a socket file
}

// socketFile is the name of the proxies that connect to a socket file.
const socketFile = "unix:"

var (
	errNetwork  = errors.New("it is not a network such as 10.0.0.0/8, an address, or " + strconv.Quote(socketFile))
	errEveryone = errors.New("it contains every address, so each client could state another one; name the proxies")
)

// Parse returns the proxies in the networks of a list. An element is a network such as 10.0.0.0/8, an address, or
// unix: for everybody who can connect to a socket file. Without elements, Parse returns nil.
func Parse(list []string) (*Trusted, error) {
	if len(list) == 0 {
		return nil, nil
	}
	t := &Trusted{}
	for _, text := range list {
		if text == socketFile {
			t.sockets = true
			continue
		}
		network, err := parseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("trusted proxy %q: %w", text, err)
		}
		t.networks = append(t.networks, network)
	}
	return t, nil
}

func parseNetwork(text string) (network netip.Prefix, err error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	network, err = netip.ParsePrefix(text)
	switch {
	case err != nil || network.Addr().Is4In6():
		return network, errNetwork
	case network.Bits() == 0:
		return network, errEveryone
	case network.Masked() != network:
		return network, fmt.Errorf("bits after the first %d are set; write %s", network.Bits(), network.Masked())
	}
	return network, nil
}

// trusts reports whether an address belongs to a trusted proxy. The zero address stands for a socket file.
func (t *Trusted) trusts(a netip.Addr) bool {
	if !a.IsValid() {
		return t.sockets
	}
	for _, network := range t.networks {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// Client returns the address of the client of a request, in the form of [http.Request.RemoteAddr]. The port is left
// out if it is not known. Client starts with the address of the connection. While an address belongs to a trusted
// proxy, it continues with the address before it in the headers. If the two headers name different clients, Client
// ignores both, because the proxy wrote only one of them.
func (t *Trusted) Client(r *http.Request) string {
	peer := Address(r.RemoteAddr)
	if t == nil || !t.trusts(peer) {
		return r.RemoteAddr
	}
	one, other := forwarded(r.Header), forwardedFor(r.Header)
	switch {
	case one == nil:
		one = other
	case other == nil:
		other = one
	}
	if one == nil {
		return r.RemoteAddr
	}
	client := t.before(peer, one)
	if client == peer || client != t.before(peer, other) {
		return r.RemoteAddr
	}
	return client.String()
}

// before returns the first address that belongs to no trusted proxy, or the last known one. hops are the addresses
// that proxies have stated, the nearest first.
func (t *Trusted) before(at netip.Addr, hops iter.Seq[string]) netip.Addr {
	for hop := range hops {
		a := Address(hop)
		if !t.trusts(at) || !a.IsValid() {
			break
		}
		at = a
	}
	return at
}

// Address returns the address in a text such as [http.Request.RemoteAddr], with or without a port and brackets. It is
// the zero address for a socket file, and for a text without an address.
func Address(text string) netip.Addr {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone("")
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok && strings.Contains(inner, ":") {
			text = inner
		}
	}
	a, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// forwardedFor returns the addresses in X-Forwarded-For, the nearest first, or nil without the header. Each proxy
// appends an address to the list. Several lines are one list.
func forwardedFor(h http.Header) iter.Seq[string] {
	lines := h["X-Forwarded-For"]
	if len(lines) == 0 {
		return nil
	}
	return func(yield func(string) bool) {
		for _, line := range slices.Backward(lines) {
			for more := true; more; {
				at := strings.LastIndexByte(line, ',')
				if !yield(ascii.Trim(line[at+1:])) {
					return
				}
				if more = at >= 0; more {
					line = line[:at]
				}
			}
		}
	}
}

// forwarded returns the addresses in Forwarded (RFC 7239), the nearest first, or nil without the header. A header
// with an error anywhere states no address: a client could hide the rest of the header in a quoted text.
func forwarded(h http.Header) iter.Seq[string] {
	lines := h["Forwarded"]
	if len(lines) == 0 {
		return nil
	}
	hops, ok := parseForwarded(strings.Join(lines, ","))
	return func(yield func(string) bool) {
		for _, hop := range slices.Backward(hops) {
			if !ok || !yield(hop) {
				return
			}
		}
	}
}

// parseForwarded returns the parameter for of each element, or "" where it is missing. An element is a list of
// parameters, and elements without parameters are ignored.
func parseForwarded(text string) (hops []string, ok bool) {
	hop, parameters, hasFor := "", 0, false
	for {
		text = strings.TrimLeft(text, " \t")
		if text != "" && text[0] != ',' && text[0] != ';' {
			name, value, rest, ok := parseParameter(text)
			if !ok {
				return nil, false
			}
			if ascii.EqualFold(name, "for") {
				if hasFor {
					return nil, false
				}
				hop, hasFor = value, true
			}
			parameters++
			text = strings.TrimLeft(rest, " \t")
		}
		if text != "" && text[0] == ';' && parameters > 0 {
			text = text[1:]
			continue
		}
		if text != "" && text[0] != ',' {
			return nil, false
		}
		if parameters > 0 {
			hops = append(hops, hop)
		}
		if text == "" {
			return hops, true
		}
		hop, parameters, hasFor, text = "", 0, false, text[1:]
	}
}

// parseParameter parses NAME=VALUE at the beginning of a text. A value is a token or a quoted text.
func parseParameter(text string) (name, value, rest string, ok bool) {
	name, text = cutToken(text)
	text, ok = strings.CutPrefix(text, "=")
	if name == "" || !ok {
		return "", "", "", false
	}
	if inner, quoted := strings.CutPrefix(text, `"`); quoted {
		value, rest, ok = cutQuoted(inner)
		return name, value, rest, ok
	}
	value, rest = cutToken(text)
	return name, value, rest, value != ""
}

// cutToken cuts a token of RFC 9110 from the beginning of a text. It also takes the colon and the brackets of an
// address, which some proxies do not quote.
func cutToken(text string) (token, rest string) {
	const others = "!#$%&'*+-.^_`|~:[]"
	end := strings.IndexFunc(text, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune(others, r)
	})
	if end < 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

// cutQuoted cuts the rest of a quoted text. A backslash quotes the next character.
func cutQuoted(text string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}

// A Reader reads the headers of the PROXY protocol, version 2, with which connections of trusted proxies can begin.
type Reader struct {
	Trusted *Trusted
	Within  time.Duration     // the time that a proxy has to send a header
	Log     func(line string) // gets a line about each invalid header
	Done    func(c net.Conn)  // is called when the header of a connection was read
}

// A Conn is the connection of a trusted proxy. [Conn.Read] does not return the header.
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
		c.fault = io.EOF // because net/http answers other errors
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
