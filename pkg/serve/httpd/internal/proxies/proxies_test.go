package proxies

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func parse(t testing.TB, list ...string) *Trusted {
	t.Helper()
	proxies, err := Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	return proxies
}

// H-218: the networks of proxies.
func TestParse(t *testing.T) {
	for _, text := range []string{
		"", "x", "10.0.0.0/33", "10.0.0.0/", "10.0.0.1/8", "fe80::1%eth0", "0.0.0.0/0", "::/0", "::ffff:10.0.0.0/104",
		"unix:/run/x", "10.0.0.0-10.0.0.9", "localhost",
	} {
		if _, err := Parse([]string{"10.0.0.0/8", text}); err == nil || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("%q: %v", text, err)
		}
	}
	some := parse(t, "10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::1", "::ffff:203.0.113.9")
	for text, want := range map[string]bool{
		"10.0.0.0": true, "10.255.255.255": true, "11.0.0.0": false, "192.0.2.7": true, "192.0.2.8": false,
		"2001:db8:ffff::1": true, "2001:db9::": false, "::1": true, "127.0.0.1": false, "203.0.113.9": true,
	} {
		if got := some.trusts(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if some.trusts(netip.Addr{}) || !parse(t, "unix:").trusts(netip.Addr{}) {
		t.Error("a socket file")
	}
	if none := parse(t); none != nil {
		t.Error("without proxies")
	}
}

// H-218: the address of a client is the first one, from the server's end, that is not that of a trusted proxy. A client
// cannot choose it: what it writes is further away.
func TestClient(t *testing.T) {
	const proxy, inner, client, other = "10.0.0.1:99", "10.0.0.2", "203.0.113.7", "198.51.100.1"
	for name, c := range map[string]struct {
		peer    string // "": proxy
		headers string // lines
		want    string // "": the other end of the connection
	}{
		"no header":              {},
		"a stranger states":      {peer: client + ":5", headers: "X-Forwarded-For: 1.1.1.1"},
		"a socket file":          {peer: "@", headers: "X-Forwarded-For: 1.1.1.1", want: "1.1.1.1"},
		"one":                    {headers: "X-Forwarded-For: " + client, want: client},
		"mapped proxy address":   {peer: "[::ffff:10.0.0.1]:99", headers: "X-Forwarded-For: " + client, want: client},
		"address with a zone":    {peer: "[fd00::1%eth0]:99", headers: "X-Forwarded-For: " + client, want: client},
		"of the client":          {headers: "X-Forwarded-For: 1.1.1.1, " + client, want: client},
		"lines of the client":    {headers: "X-Forwarded-For: 1.1.1.1\nX-Forwarded-For: " + client, want: client},
		"two proxies":            {headers: "X-Forwarded-For: 1.1.1.1," + client + " ,\t" + inner, want: client},
		"two proxies, two lines": {headers: "X-Forwarded-For: " + client + "\nX-Forwarded-For: " + inner, want: client},
		"only proxies":           {headers: "X-Forwarded-For: 10.0.0.3, " + inner, want: "10.0.0.3"},
		"unknown":                {headers: "X-Forwarded-For: " + client + ", unknown"},
		"unknown further":        {headers: "X-Forwarded-For: unknown, " + client, want: client},
		"unknown to a proxy":     {headers: "X-Forwarded-For: unknown, " + inner, want: inner},
		"empty":                  {headers: "X-Forwarded-For:"},
		"empty element":          {headers: "X-Forwarded-For: " + client + ","},
		"with a port":            {headers: "X-Forwarded-For: " + client + ":4711", want: client},
		"IPv6":                   {headers: "X-Forwarded-For: 2001:db8::1", want: "2001:db8::1"},
		"IPv6 with a port":       {headers: "X-Forwarded-For: [2001:db8::1]:4711", want: "2001:db8::1"},
		"IPv6 in brackets":       {headers: "X-Forwarded-For: [2001:db8::1]", want: "2001:db8::1"},
		"mapped":                 {headers: "X-Forwarded-For: ::ffff:203.0.113.7", want: client},
		"mapped proxy":           {headers: "X-Forwarded-For: " + client + ", ::ffff:10.0.0.2", want: client},

		"standard":              {headers: "Forwarded: for=" + client, want: client},
		"standard, case":        {headers: "forwarded: proto=https;For=\"" + client + ":80\";by=_x", want: client},
		"standard, IPv6":        {headers: `Forwarded: for="[2001:db8::1]:4711"`, want: "2001:db8::1"},
		"standard, no quotes":   {headers: `Forwarded: for=[2001:db8::1]:4711`, want: "2001:db8::1"},
		"standard, escaped":     {headers: `Forwarded: for="\203.0.113.\7"`, want: client},
		"standard, two proxies": {headers: "Forwarded: for=1.1.1.1, for=" + client + ";a=b , for=" + inner, want: client},
		"standard, lines":       {headers: "Forwarded: for=::1,for=" + client + "\nForwarded: for=" + inner, want: client},
		"standard, hidden":      {headers: "Forwarded: for=" + client + ", for=_hidden"},
		"standard, without for": {headers: "Forwarded: for=" + client + ", proto=https"},
		"standard, twice":       {headers: "Forwarded: for=" + client + ";for=1.1.1.1"},
		"standard, in quotes":   {headers: `Forwarded: for=1.1.1.1;x=", for=1.1.1.1", for=` + client, want: client},
		"standard, open quotes": {headers: `Forwarded: for=1.1.1.1;x=", for=` + client},
		"standard, swallowed":   {headers: `Forwarded: for=1.1.1.1;x="` + "\nForwarded: for=\"" + client + `"`},
		"standard, escape":      {headers: `Forwarded: for="1.1.1.1\`},
		"standard, no value":    {headers: `Forwarded: for=, for=` + client},
		"standard, no name":     {headers: `Forwarded: =1.1.1.1, for=` + client},
		"standard, text":        {headers: `Forwarded: for=` + client + ` x`},
		"standard, empty":       {headers: `Forwarded: ,for=` + client + `, ,`, want: client},

		"both agree":         {headers: "Forwarded: for=" + client + "\nX-Forwarded-For: ::1," + client, want: client},
		"both differ":        {headers: "Forwarded: for=" + other + "\nX-Forwarded-For: " + client},
		"one is malformed":   {headers: "Forwarded: for=\"\nX-Forwarded-For: " + client},
		"one has no address": {headers: "Forwarded: for=_x\nX-Forwarded-For: " + client},
	} {
		r := httptest.NewRequest("POST", "/mcp", nil)
		for line := range strings.Lines(c.headers) {
			header, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
			r.Header.Add(header, strings.TrimPrefix(value, " "))
		}
		r.RemoteAddr = proxy
		if c.peer != "" {
			r.RemoteAddr = c.peer
		}
		want := r.RemoteAddr
		if c.want != "" {
			want = c.want
		}
		if got := parse(t, "10.0.0.0/8", "fd00::/8", "unix:").Client(r); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
		if got := parse(t).Client(r); got != r.RemoteAddr {
			t.Errorf("%s, without proxies: %q", name, got)
		}
	}
}

// H-218: a client cannot choose its address. The last proxy appends the right one, or the result is the proxy's own.
func FuzzClient(f *testing.F) {
	for _, seed := range []string{
		"", "1.1.1.1", "for=1.1.1.1;x=\"", "for=\"[::1]:80\", for=unknown", `for="\`, ",;=", "a=b",
	} {
		f.Add(seed)
	}
	trusted := parse(f, "10.0.0.0/8")
	const proxy, client = "10.0.0.1:99", "203.0.113.7"
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range []struct{ name, own string }{
			{"X-Forwarded-For", client}, {"Forwarded", "for=" + client}, {"Forwarded", `for="` + client + `:80";proto=https`},
		} {
			for _, values := range [][]string{{text + ", " + c.own}, {text, c.own}} {
				r := &http.Request{RemoteAddr: proxy, Header: http.Header{c.name: values}}
				if got := trusted.Client(r); got != client && got != proxy {
					t.Errorf("%s: %q: %s", c.name, values, got)
				}
			}
		}
		r := &http.Request{RemoteAddr: proxy, Header: http.Header{"Forwarded": {text}, "X-Forwarded-For": {client}}}
		if got := trusted.Client(r); got != client && got != proxy {
			t.Errorf("%q: %s", text, got)
		}
	})
}

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
