package proxies

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// header returns a header of the PROXY protocol.
func header(command, family byte, rest ...byte) []byte {
	b := append(bytes.Clone(signature), command, family)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(rest))), rest...)
}

var (
	ends4 = []byte{203, 0, 113, 7, 10, 0, 0, 1, 0x12, 0x34, 0, 80}
	most  = append(bytes.Clone(ends4), make([]byte, maxPart-len(ends4))...)
	ends6 = append(append(netip.MustParseAddr("2001:db8::7").AsSlice(), net.IPv6loopback...), 0x12, 0x34, 0, 80)
)

// H-218: headers of the PROXY protocol, of which only one byte arrives at a time.
func TestHeader(t *testing.T) {
	mapped := append(append(netip.MustParseAddr("::ffff:203.0.113.7").AsSlice(), net.IPv6loopback...), 0x12, 0x34, 0, 80)
	for name, c := range map[string]struct {
		in     []byte
		client string // "": not stated
		begin  bool   // the bytes are not a header
		fault  bool
	}{
		"IPv4":              {in: header(0x21, 0x11, ends4...), client: "203.0.113.7:4660"},
		"IPv6":              {in: header(0x21, 0x21, ends6...), client: "[2001:db8::7]:4660"},
		"mapped":            {in: header(0x21, 0x21, mapped...), client: "203.0.113.7:4660"},
		"more values":       {in: header(0x21, 0x11, append(bytes.Clone(ends4), 4, 0, 1, 0)...), client: "203.0.113.7:4660"},
		"the proxy itself":  {in: header(0x20, 0x11, ends4...)},
		"unspecified":       {in: header(0x21, 0x00)},
		"a socket file":     {in: header(0x21, 0x31, make([]byte, 216)...)},
		"most values":       {in: header(0x21, 0x11, most...), client: "203.0.113.7:4660"},
		"too many values":   {in: header(0x21, 0x11, append(most, 0)...), fault: true},
		"short":             {in: header(0x21, 0x11, ends4[:11]...), fault: true},
		"IPv4 for IPv6":     {in: header(0x21, 0x21, ends4...), fault: true},
		"datagrams":         {in: header(0x21, 0x12, ends4...), fault: true},
		"another version":   {in: header(0x11, 0x11, ends4...), fault: true},
		"another command":   {in: header(0x22, 0x11, ends4...), fault: true},
		"ends early":        {in: header(0x21, 0x11, ends4...)[:20], fault: true},
		"ends at once":      {in: signature[:5], fault: true},
		"nothing":           {fault: true},
		"a request":         {in: []byte("POST /mcp HTTP/1.1\r\n"), begin: true},
		"TLS":               {in: []byte{22, 3, 1, 2}, begin: true},
		"almost the header": {in: []byte("\r\n\r\n\x00\r\nQUIt"), begin: true},
		"version 1":         {in: []byte("PROXY TCP4 1.1.1.1 1.1.1.1 1 1\r\n"), begin: true},
	} {
		const next = "next"
		in := bytes.NewReader(append(bytes.Clone(c.in), next...))
		if c.fault && !strings.Contains(name, "values") && len(c.in) < fixedPart+len(ends4) {
			in = bytes.NewReader(c.in)
		}
		client, begin, err := readHeader(iotest.OneByteReader(in))
		rest, _ := io.ReadAll(in)
		got := ""
		if client.IsValid() {
			got = client.String()
		}
		if got != c.client || (err != nil) != c.fault || (begin != nil) != c.begin {
			t.Errorf("%s: %q, %q, %v", name, got, begin, err)
		}
		if !c.fault && string(begin)+string(rest) != map[bool]string{true: string(c.in)}[c.begin]+next {
			t.Errorf("%s: %q and %q remain", name, begin, rest)
		}
	}
}

// H-218: a connection without the header keeps its bytes. One with it has the address of the client. Only proxies are
// asked.
func TestConn(t *testing.T) {
	stated, request := string(header(0x21, 0x11, ends4...)), "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		trusted string
		send    string
		want    string // the rest
		client  string // "": the address of the connection
		lines   int
		done    int
	}{
		"header":          {"127.0.0.0/8", stated + "GET /", "GET /", "203.0.113.7:4660", 0, 1},
		"no header":       {"127.0.0.0/8", request, request, "", 0, 0},
		"short":           {"127.0.0.0/8", "x", "x", "", 0, 0},
		"invalid":         {"127.0.0.0/8", string(header(0x31, 0x11, ends4...)) + "GET /", "", "", 1, 0},
		"nothing":         {"127.0.0.0/8", "", "", "", 0, 0},
		"not from it":     {"10.0.0.0/8", stated, stated, "", 0, 0},
		"nobody is asked": {"", stated, stated, "", 0, 0},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		sender, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		done := 0
		r := &Reader{
			Within: time.Minute, Log: func(line string) { lines = append(lines, line) }, Done: func(net.Conn) { done++ },
		}
		if c.trusted != "" {
			r.Trusted = parse(t, c.trusted)
		}
		conn := r.Accept(accepted)
		sender.Write([]byte(c.send))
		sender.(*net.TCPConn).CloseWrite()
		client := conn.RemoteAddr().String()
		if c.client == "" {
			c.client = sender.LocalAddr().String()
		}
		rest, _ := io.ReadAll(conn)
		if client != c.client || string(rest) != c.want || len(lines) != c.lines || done != c.done {
			t.Errorf("%s: %s, %q, %q, %d", name, client, rest, lines, done)
		}
		conn.Close()
		sender.Close()
	}
}

// H-218: a proxy that does not send its header in time loses the connection.
func TestLateHeader(t *testing.T) {
	for _, begin := range []string{"", string(signature), string(header(0x21, 0x11, ends4...)[:20])} {
		sender, receiver := net.Pipe()
		defer sender.Close()
		go sender.Write([]byte(begin))
		r := &Reader{Trusted: &Trusted{sockets: true}, Within: 20 * time.Millisecond}
		if _, err := r.Accept(receiver).Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q: %v", begin, err)
		}
	}
}

// H-218: a header is never longer than its limit, and all of its bytes are read.
func FuzzHeader(f *testing.F) {
	f.Add(header(0x21, 0x11, ends4...))
	f.Add(header(0x21, 0x21, ends6...))
	f.Add(header(0x20, 0x00))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		client, begin, err := readHeader(r)
		taken := len(in) - r.Len()
		switch {
		case err != nil && (client.IsValid() || begin != nil):
			t.Error(client, begin, err)
		case err == nil && begin != nil && (client.IsValid() || !bytes.Equal(begin, in[:taken])):
			t.Error(client, begin)
		case err == nil && begin == nil && (!bytes.HasPrefix(in, signature) ||
			taken != fixedPart+int(binary.BigEndian.Uint16(in[14:])) || taken > fixedPart+maxPart):
			t.Error(taken)
		}
	})
}
