package hosts

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

// RES-103: the first and the last address of every range, and their neighbours.
func TestPublic(t *testing.T) {
	refused := strings.Fields(`
		0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.0 10.1.2.3 10.255.255.255 127.0.0.0 127.0.0.1 127.0.0.53 127.1.2.3 127.255.255.255
		169.254.0.0 169.254.169.254 169.254.170.2 169.254.255.255 172.16.0.0 172.17.0.1 172.31.255.255
		192.168.0.0 192.168.0.1 192.168.255.255 100.64.0.0 100.64.0.1 100.100.100.200 100.127.255.255
		192.0.0.0 192.0.0.8 192.0.0.170 192.0.0.255 198.18.0.0 198.18.0.1 198.19.255.255
		224.0.0.0 224.0.0.1 239.255.255.250 239.255.255.255 240.0.0.0 240.0.0.1 254.1.1.1 255.255.255.254 255.255.255.255
		168.63.129.16
		:: ::1 ::2 ::7f00:1 ::127.0.0.1 ::10.0.0.1 ::192.168.1.1 ::169.254.169.254 ::255.255.255.255
		::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:ffff:7f00:1 0000:0000:0000:0000:0000:ffff:7f00:0001 ::ffff:10.0.0.1
		::ffff:0a00:1 ::ffff:169.254.169.254 ::ffff:a9fe:a9fe ::ffff:192.168.0.1 ::ffff:172.16.0.1 ::ffff:100.64.0.1
		::ffff:0.0.0.0 ::ffff:224.0.0.1 ::ffff:255.255.255.255 ::ffff:168.63.129.16
		::ffff:0:127.0.0.1 ::ffff:0:10.0.0.1 ::ffff:0:a9fe:a9fe ::ffff:0:0:0
		64:ff9b::127.0.0.1 64:ff9b::7f00:1 64:ff9b::10.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b::192.168.1.1 64:ff9b::0.0.0.0
		64:ff9b:1:: 64:ff9b:1::1 64:ff9b:1::8.8.8.8 64:ff9b:1:ffff:ffff:ffff:ffff:ffff
		2002:7f00:1:: 2002:7f00:0001::1 2002:a00:1:: 2002:a9fe:a9fe:: 2002:c0a8:101::1 2002:ac10:1:: 2002:6440:1:: 2002:: 2002:e000:1::
		2001:: 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:0:ffff:ffff:ffff:ffff:ffff:ffff
		fe80:: fe80::1 fe80::1%eth0 fe80::a9fe:a9fe febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff fec0:: fec0::1 feff::1
		fc00:: fc00::1 fd00::1 fd00:ec2::254 fd20:ce::254 fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
		ff00:: ff01::1 ff02::1 ff02::fb ff05::2 ff0e::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
		100:: 100::1 100::ffff:ffff:ffff:ffff 2001:db8:: 2001:db8::1 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff
		::ffff:0:8.8.8.8 64:ff9a::1 64:ff9b:2::1 4000:: 5f00::1 fbff::1 fe00::1 101::1 100:0:0:1::1 fe7f::1 1fff::1
		2606:4700:4700::1111%eth0 ::ffff:8.8.8.8%eth0`)
	public := strings.Fields(`
		1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0
		172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
		168.63.129.15 168.63.129.17 193.0.0.1
		192.0.2.1 192.0.2.255 198.51.100.7 203.0.113.5
		::8.8.8.8 ::ffff:8.8.8.8 ::ffff:808:808 64:ff9b::8.8.8.8 2002:808:808::1 ::ffff:203.0.113.5
		2606:4700:4700::1111 2a00:1450:4001:829::200e 2001:1::1 2001:4860:4860::8888 2620:fe::fe
		2003:: 2000:: 2001:db7:ffff::1 2001:db9::1 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff`)
	for _, text := range refused {
		if isPublic(netip.MustParseAddr(text)) {
			t.Error("RES-103:", text, "is let through")
		}
	}
	for _, text := range public {
		if !isPublic(netip.MustParseAddr(text)) {
			t.Error("RES-103:", text, "is refused")
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("RES-103: no address at all is let through")
	}
}

// A range is refused in each form that embeds an IPv4 address.
func TestPublicEmbedded(t *testing.T) {
	for _, v4 := range []string{"0.1.2.3", "10.9.8.7", "127.0.0.1", "169.254.169.254", "172.20.0.1", "192.168.7.7",
		"100.99.1.1", "192.0.0.9", "198.18.7.7", "224.1.1.1", "250.0.0.1", "8.8.4.4", "203.0.113.9", "168.63.129.16"} {
		a := netip.MustParseAddr(v4).As4()
		want := isPublic(netip.AddrFrom4(a))
		for name, b := range map[string][16]byte{
			"compatible": {12: a[0], 13: a[1], 14: a[2], 15: a[3]},
			"mapped":     {10: 255, 11: 255, 12: a[0], 13: a[1], 14: a[2], 15: a[3]},
			"NAT64":      {1: 0x64, 2: 0xff, 3: 0x9b, 12: a[0], 13: a[1], 14: a[2], 15: a[3]},
			"6to4":       {0: 0x20, 1: 2, 2: a[0], 3: a[1], 4: a[2], 5: a[3], 15: 1},
		} {
			if addr := netip.AddrFrom16(b); isPublic(addr) != want {
				t.Errorf("RES-103: %s (%s of %s): public is %v", addr, name, v4, !want)
			}
		}
	}
}

func TestParseOrigin(t *testing.T) {
	for authority, want := range map[string]Origin{
		"example.com":       {Host: "example.com"},
		"EXAMPLE.Com":       {Host: "example.com"},
		"example.com:8443":  {Host: "example.com", Port: 8443},
		"a_b-c.x1:1":        {Host: "a_b-c.x1", Port: 1},
		"1a.2b":             {Host: "1a.2b"},
		"xn--bcher-kva.de":  {Host: "xn--bcher-kva.de"},
		"0x.example":        {Host: "0x.example"},
		"0xg":               {Host: "0xg"},
		"1.2.3.4":           {Host: "1.2.3.4", Addr: netip.MustParseAddr("1.2.3.4")},
		"1.2.3.4:65535":     {Host: "1.2.3.4", Port: 65535, Addr: netip.MustParseAddr("1.2.3.4")},
		"[2606:4700::1]":    {Host: "2606:4700::1", Addr: netip.MustParseAddr("2606:4700::1")},
		"[2606:4700::1]:99": {Host: "2606:4700::1", Port: 99, Addr: netip.MustParseAddr("2606:4700::1")},
		"[FE80::1]":         {Host: "fe80::1", Addr: netip.MustParseAddr("fe80::1")},
		"a.-b":              {Host: "a.-b"},
	} {
		if got, err := ParseOrigin(authority); err != nil || got != want {
			t.Errorf("RES-100: %s: %+v, %v", authority, got, err)
		}
	}
	for _, c := range []struct {
		reason      Reason
		authorities string // separated by spaces
	}{
		{UserInfo, "user@127.0.0.1 user:pass@localhost u@example.com @example.com a@b@example.com example.com@1.1.1.1 :@x"},
		{Obfuscated, "2130706433 0 0x7f000001 0x7f.1 0X7F.0.0.1 127.1 127.0.1 0177.0.0.1 010.001.002.003 1.2.3.08 " +
			"00000000000 4294967295 " +
			"99999999999999999999 0x 0x.0x 1.2.3 1.2.3.4.5 256.1.1.1 1.1.1.999 1.1.1.0x1 a.1 example.123 0xffffffffffff " +
			"1.02.3.4 192.168.257 127.0.0.01"},
		{BadHost, "[127.0.0.1] [::1 [] [x] []:1 ::1] a..b .a a.. a.example. 127.0.0.1. 1.2.3.4.:1 . " +
			"- -a -a.example: " +
			"[fe80::1%25eth0] [2606:4700::1%25eth0] [2606:4700::1%eth0] [1::2::3] [12345::] " +
			"exa%6dple.com ex*mple a,b bücher.de １２７.0.0.1 " +
			"ⓛocalhost %41.example a\x00b [::g] [1.2.3.4]:5 a[b] [::1]x " + strings.Repeat("a", 64) + " " + strings.Repeat("a.",
			127) + "b"},
		{BadPort, "x: x:0 x:65536 x:+1 x:1e1 x:-1 x:99999999999999999999 x:1:2 [2606::1]: " +
			"x:080000 x:080 x:00 x:0443 x:0x50 x:00080 " +
			"[2606::1]:0443 x:"},
	} {
		for _, authority := range strings.Split(c.authorities, " ") {
			var refused *Refusal
			_, err := ParseOrigin(authority)
			switch {
			case !errors.As(err, &refused):
				t.Errorf("RES-102: %q is let through", authority)
			case refused.Reason != c.reason && !(c.reason == BadHost && refused.Reason == NoHost) &&
				!strings.HasPrefix(authority, "[::1]x"):
				t.Errorf("RES-102: %q: %v", authority, err)
			}
		}
	}
	for _, authority := range []string{"", ":443", "user@", "u:p@:1", "[]"} {
		var refused *Refusal
		if _, err := ParseOrigin(authority); !errors.As(err, &refused) || refused.Reason != NoHost ||
			refused.Name() != "<empty>" {
			t.Errorf("RES-100: %q: %v", authority, err)
		}
	}
}

func TestCut(t *testing.T) {
	for uri, want := range map[string][2]string{
		"https://h":         {"h", ""},
		"HTTPS://h/p?q#f":   {"h", "/p?q#f"},
		"https://h?q@x/":    {"h", "?q@x/"},
		"https://h#f@x/":    {"h", "#f@x/"},
		"https://u@h:1/p@q": {"u@h:1", "/p@q"},
		"https://":          {"", ""},
		"https:///x":        {"", "/x"},
	} {
		authority, rest, ok, err := Cut(uri, "https")
		if !ok || err != nil || authority != want[0] || rest != want[1] {
			t.Errorf("RES-100: %s: %q %q %v %v", uri, authority, rest, ok, err)
		}
	}
	for _, uri := range []string{"", "http://h/", "https:/h", "https:h", " https://h", "xhttps://h", "git+https://h"} {
		if _, _, ok, _ := Cut(uri, "https"); ok {
			t.Errorf("RES-110: %q is taken", uri)
		}
	}
	for _, uri := range []string{`https://example.com\@127.0.0.1/`, "https://h/a b", "https://h/\t", "https://h\n/",
		"https://h/\x00", "https://h/?\x7f", `https://h/#\`, "https://h/ "} {
		var refused *Refusal
		if _, _, _, err := Cut(uri, "https"); !errors.As(err, &refused) || refused.Reason != Malformed {
			t.Errorf("RES-100: %q: %v", uri, err)
		}
	}
}

// RES-104, RES-107: the lists of allowed and denied hosts.
func TestPermit(t *testing.T) {
	const closed, unlisted, unclear, denied, local, fine = Closed, Unlisted, Unclear, Denied, Local, Reason("")
	for _, c := range []struct {
		allow, deny, all string
		host             string
		want             Reason
	}{
		{"", "", "", "example.com", closed},
		{"", "", "false", "example.com", closed},
		{"", "", "TRUE", "example.com", fine},
		{"", "", "Yes", "example.com", fine},
		{"", "", "1", "example.com", fine},
		{"", "", "oN", "example.com", fine},
		{"", "", "2", "example.com", closed},
		{"", "", "true ", "example.com", closed},
		{"example.com", "", "", "example.com", fine},
		{"Example.COM.", "", "", "EXAMPLE.com", fine},
		{"example.com", "", "", "www.example.com", unlisted},
		{"example.com", "", "", "notexample.com", unlisted},
		{"*.example.com", "", "", "www.example.com", fine},
		{"*.example.com", "", "", "a.b.example.com", fine},
		{"*.example.com", "", "", "example.com", unlisted},
		{"*.example.com", "", "", "wwwexample.com", unlisted},
		{"*", "", "", "example.com", closed}, // a bare * is not a host
		{"*,x.org", "", "", "example.com", unlisted},
		{"*.", "", "", "example.com", closed},
		{"a.*.com", "", "", "a.b.com", closed},
		{"x.org,,\t example.com\ny.org", "", "", "example.com", fine},
		{"x.org;example.com", "", "", "example.com", closed},
		{",", "", "true", "example.com", closed}, // a list without a valid host allows no host
		{" ", "", "true", "example.com", closed},
		{"https://example.com", "", "true", "example.com", closed},
		{"*", "", "true", "example.com", closed},
		{"", "*", "true", "example.com", unclear}, // the denied host is unknown
		{"", "other.org a..b", "true", "example.com", unclear},
		{"example.com", "d.org;e.org", "", "example.com", unclear},
		{"", ",", "true", "example.com", fine},
		{"example.com", "example.com", "", "example.com", denied},
		{"example.com", "", "true", "other.org", unlisted}, // the list still applies
		{"", "example.com", "true", "example.com", denied},
		{"", "*.example.com", "true", "www.example.com", denied},
		{"", "example.com", "true", "other.org", fine},
		{"", "example.com", "", "example.com", closed},
		{"8.8.8.8", "", "", "8.8.8.8", fine},
		{"8.8.8.8", "", "", "8.8.4.4", unlisted},
		{"2606:4700::0:1", "", "", "[2606:4700::1]", fine},
		{"[2606:4700::1]", "", "", "[2606:4700:0::1]", fine},
		{"", "8.8.8.8", "true", "8.8.8.8", denied},
		{"127.0.0.1", "", "true", "127.0.0.1", local},
		{"10.0.0.1", "", "", "10.0.0.1", local},
		{"::1", "", "", "[::1]", local},
		{"localhost", "", "true", "localhost", local},
		{"", "", "", "LocalHost", local}, // before the lists are checked
		{"*.localhost", "", "", "a.localhost", local},
		{"metadata.google.internal", "", "", "metadata.google.internal", local},
		{"metadata", "", "", "Metadata", local},
		{"instance-data", "", "", "instance-data", local},
		{"https://example.com", "", "", "example.com", closed},
		{"example.com:443", "", "", "example.com", closed},
		{"example.com/x", "", "", "example.com", closed},
		{"010.0.0.1", "", "", "example.com", closed},
		{"", "https://example.com/x", "true", "example.com", denied}, // a URI in the list denies its host
		{"", "example.com:443", "true", "example.com", denied},
		{"", "https://*.example.com:1/?", "true", "a.example.com", denied},
		{"", "https://[2606:4700::1]:1/", "true", "[2606:4700::1]", denied},
		{"", "2606:4700::1", "true", "[2606:4700::1]", denied},
	} {
		p := ReadPolicy(map[string]string{"X_ALLOW_HOSTS": c.allow, "X_DENY_HOSTS": c.deny, "X_ALLOW_ALL": c.all}, "X")
		o, err := ParseOrigin(c.host)
		if err != nil {
			t.Fatal(err)
		}
		var got Reason
		if err := p.Permit(o); err != nil {
			got = err.(*Refusal).Reason
		}
		if got != c.want {
			t.Errorf("RES-104: allow %q deny %q all %q: %s: %q, want %q", c.allow, c.deny, c.all, c.host, got, c.want)
		}
	}
}

// Report includes invalid items of the lists.
func TestReport(t *testing.T) {
	p := ReadPolicy(map[string]string{"X_ALLOW_HOSTS": "https://a.org b.org:1 c.org", "X_DENY_HOSTS": "d.org\x7f *"},
		"X")
	got := p.Report(&Refusal{"a.org", Unlisted})
	want := "Blocked host a.org: the host is not on the list of allowed hosts; invalid host names: " +
		"X_DENY_HOSTS: d.org?, X_DENY_HOSTS: *, X_ALLOW_HOSTS: https://a.org, X_ALLOW_HOSTS: b.org:1"
	if got != want {
		t.Errorf("RES-104: %s", got)
	}
	if got := (Policy{}).Report(&Refusal{"", NoHost}); got != "Blocked host <empty>: the URI lacks a host" {
		t.Errorf("RES-107: %s", got)
	}
}

// A resolver returns other addresses at each call.
type resolver struct {
	answers [][]netip.Addr
	asked   int
}

func (r *resolver) lookup(context.Context, string) ([]netip.Addr, error) {
	r.asked++
	return r.answers[min(r.asked, len(r.answers))-1], nil
}

func addrs(list ...string) []netip.Addr {
	var parsed []netip.Addr
	for _, text := range list {
		parsed = append(parsed, netip.MustParseAddr(text))
	}
	return parsed
}

// RES-103, RES-105: a host with one refused address is refused.
func TestResolve(t *testing.T) {
	p := ReadPolicy(map[string]string{"X_ALLOW_ALL": "true"}, "X")
	for _, c := range []struct {
		found []netip.Addr
		fine  bool
	}{
		{addrs("203.0.113.1"), true},
		{addrs("203.0.113.1", "2606:4700::1"), true},
		{addrs("203.0.113.1", "127.0.0.1"), false},
		{addrs("10.0.0.1", "203.0.113.1"), false},
		{addrs("203.0.113.1", "203.0.113.2", "::ffff:10.0.0.1"), false},
		{addrs("64:ff9b::7f00:1"), false},
		{addrs("fe80::1%lo"), false},
	} {
		r := resolver{answers: [][]netip.Addr{c.found}}
		got, err := p.Resolve(t.Context(), Network{Lookup: r.lookup}, Origin{Host: "h.example"})
		var refused *Refusal
		switch {
		case c.fine && (err != nil || !slices.Equal(got, c.found)):
			t.Errorf("RES-105: %v: %v, %v", c.found, got, err)
		case !c.fine && (!errors.As(err, &refused) || refused.Reason != Local):
			t.Errorf("RES-103: %v: %v", c.found, err)
		}
		if r.asked != 1 {
			t.Errorf("RES-105: looked up %d times", r.asked)
		}
	}
	r := resolver{answers: [][]netip.Addr{nil}}
	if _, err := p.Resolve(t.Context(), Network{Lookup: r.lookup}, Origin{Host: "h.example"}); err != ErrNoAddress {
		t.Errorf("RES-105: %v", err)
	}
	o, _ := ParseOrigin("203.0.113.7")
	if got, err := p.Resolve(t.Context(), Network{}, o); err != nil || got[0] != o.Addr {
		t.Errorf("an address is not looked up: %v %v", got, err)
	}
	if _, err := (Policy{}).Resolve(t.Context(), Network{}, Origin{Host: "h.example"}); err == nil {
		t.Error("RES-107: looked up before it was permitted")
	}
}

// The system's dialler refuses addresses that are not public.
func TestSystemDial(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	to := netip.MustParseAddrPort(listener.Addr().String())
	var refused *Refusal
	if conn, err := System().Dial(t.Context(), to); conn != nil || !errors.As(err, &refused) ||
		refused.Reason != Local {
		t.Errorf("RES-105: %v, %v", conn, err)
	}
	mapped := netip.AddrPortFrom(netip.MustParseAddr("::ffff:127.0.0.1"), to.Port())
	if conn, err := System().Dial(t.Context(), mapped); conn != nil || !errors.As(err, &refused) {
		t.Errorf("RES-105: %v, %v", conn, err)
	}
	if conn, err := System().DialProxy(t.Context(), to.String()); err != nil {
		t.Errorf("RES-106: a proxy may be anywhere: %v", err)
	} else {
		conn.Close()
	}
}

// RES-105: addresses are tried in order, each with an equal part of the time.
func TestDialFirst(t *testing.T) {
	var dialled []string
	n := Network{Dial: func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		dialled = append(dialled, to.String())
		switch to.Addr().String() {
		case "203.0.113.1":
			return nil, errors.New("refused")
		case "203.0.113.2":
			<-ctx.Done() // unresponsive
			return nil, ctx.Err()
		}
		a, _ := net.Pipe()
		return a, nil
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	conn, err := n.DialFirst(ctx, addrs("203.0.113.1", "203.0.113.2", "2606:4700::3", "203.0.113.4"), 443)
	const want = "203.0.113.1:443 203.0.113.2:443 [2606:4700::3]:443"
	if err != nil || conn == nil || strings.Join(dialled, " ") != want {
		t.Errorf("RES-105: %v, %v", dialled, err)
	}
	cancel()
	if _, err := n.DialFirst(ctx, addrs("203.0.113.1"), 443); !errors.Is(err, context.Canceled) {
		t.Errorf("RES-4: %v", err)
	}
	if _, err := n.DialFirst(t.Context(), addrs("203.0.113.1"), 443); err == nil || err.Error() != "refused" {
		t.Errorf("RES-105: %v", err)
	}
}

// FuzzOrigin checks that permitted hosts are public, and that they parse to the same host again.
func FuzzOrigin(f *testing.F) {
	for _, seed := range []string{"https://example.com/x", "https://u@127.0.0.1/", "https://[::ffff:7f00:1]:1/",
		"https://0x7f.1", "https://1.2.3.4.:5?q", `https://a\@b`, "https://[fe80::1%25e]/", "https://localhost./",
		"https://-a:080/",
		"https://", "https://a:b@c@d:1#", "https://[64:ff9b::a00:1]"} {
		f.Add(seed)
	}
	policy := ReadPolicy(map[string]string{"X_ALLOW_ALL": "true"}, "X")
	f.Fuzz(func(t *testing.T, uri string) {
		authority, rest, ok, err := Cut(uri, "https")
		if !ok || err != nil {
			return
		}
		if uri[len("https://"):] != authority+rest {
			t.Fatalf("%q + %q", authority, rest)
		}
		o, err := ParseOrigin(authority)
		if err != nil {
			if err.(*Refusal).Name() == "" {
				t.Fatal("a refusal without a name")
			}
			return
		}
		again, err := ParseOrigin(o.HostPort(443))
		if err != nil || again.Host != o.Host || again.Addr != o.Addr {
			t.Fatalf("%q: %+v, then %+v, %v", authority, o, again, err)
		}
		if policy.Permit(o) != nil {
			return
		}
		// A host that Go parses as an IP address must have been checked as an address.
		if addr, err := netip.ParseAddr(o.Host); err == nil && (addr != o.Addr || !isPublic(addr)) {
			t.Fatalf("%q is let through", o.Host)
		}
		if strings.ContainsAny(o.Host, "/\\@?#% \t\r\n[]") || o.Host == "localhost" {
			t.Fatalf("%q is a host", o.Host)
		}
	})
}
