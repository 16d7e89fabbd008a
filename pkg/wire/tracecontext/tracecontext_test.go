package tracecontext

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// M-13: only valid values of _meta reach a script.
func TestOfMeta(t *testing.T) {
	for meta, want := range map[string]string{
		`{"traceparent":"` + parent + `","tracestate":"a=1,b@v/x=2 3","baggage":"k = v;p , q=%20"}`: "TRACEPARENT=" +
			parent + "|TRACESTATE=a=1,b@v/x=2 3|BAGGAGE=k = v;p , q=%20",
		`{"traceparent":"00-00000000000000000000000000000000-b7ad6b7169203331-01"}`: "",
		`{"traceparent":"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}`: "",
		`{"traceparent":"` + parent + `-x"}`:                                        "",
		`{"traceparent":"` + strings.ToUpper(parent) + `"}`:                         "",
		`{"tracestate":"a=1","baggage":"x"}`:                                        "",
		`{"baggage":"a=b\u0000"}`:                                                   "",
		`{"traceparent":7}`:                                                         "",
	} {
		if got := strings.Join(OfMeta(json.RawMessage(meta)).AppendEnviron(nil), "|"); got != want {
			t.Errorf("%s: %s", meta, got)
		}
	}
}

// H-14: the header replaces values that _meta lacks. Repeated lists are one list.
func TestOfHeader(t *testing.T) {
	const other = "00-11111111111111111111111111111111-2222222222222222-00"
	header := func(lines ...string) http.Header {
		h := http.Header{}
		for _, line := range lines {
			name, value, _ := strings.Cut(line, ": ")
			h.Add(name, value)
		}
		return h
	}
	for _, c := range []struct {
		meta   string
		header http.Header
		want   string
	}{
		{`{}`, header("traceparent: "+parent, "tracestate: a=1", "tracestate: b=2", "baggage: k=v", "baggage: l=w"),
			"TRACEPARENT=" + parent + "|TRACESTATE=a=1,b=2|BAGGAGE=k=v,l=w"},
		{`{}`, header("baggage: k=v"), "BAGGAGE=k=v"},
		{`{}`, header("tracestate: a=1"), ""},
		{`{}`, header("traceparent: "+parent, "traceparent: "+parent, "tracestate: a=1"), ""},
		{`{}`, header("traceparent: "+parent+" ", "tracestate: a"), ""},
		{`{}`, header("traceparent: "+parent, "tracestate: a\tb", "baggage: "+strings.Repeat("k=v,", 3000)),
			"TRACEPARENT=" + parent},
		{`{"traceparent":"` + other + `"}`, header("traceparent: "+parent, "tracestate: a=1", "baggage: k=v"),
			"TRACEPARENT=" + other + "|BAGGAGE=k=v"},
		{`{"traceparent":"` + other + `","tracestate":"c=3","baggage":"m=n"}`,
			header("traceparent: "+parent, "tracestate: a=1", "baggage: k=v"),
			"TRACEPARENT=" + other + "|TRACESTATE=c=3|BAGGAGE=m=n"},
		{`{"traceparent":"wrong","tracestate":"c=3"}`, header("traceparent: " + parent), "TRACEPARENT=" + parent},
	} {
		got := OfMeta(json.RawMessage(c.meta)).Or(OfHeader(c.header))
		if text := strings.Join(got.AppendEnviron(nil), "|"); text != c.want {
			t.Errorf("%s with %v: %s, want %s", c.meta, c.header, text, c.want)
		}
	}
}

// FuzzOfHeader: no value of a client adds a variable or a line to the environment of a script.
func FuzzOfHeader(f *testing.F) {
	f.Add(parent, "a=1,b@v/x=2 3", "k = v;p , q=%20")
	f.Add("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", "", ",,=")
	f.Fuzz(func(t *testing.T, parent, state, baggage string) {
		c := OfHeader(http.Header{"Traceparent": {parent}, "Tracestate": {state}, "Baggage": {baggage}})
		for _, v := range c.AppendEnviron(nil) {
			if strings.ContainsAny(v, "\x00\n\r") {
				t.Errorf("%q", v)
			}
		}
		if c.Size() > len(parent)+2*maxHeaderList {
			t.Error(c.Size())
		}
	})
}
