package resource

import (
	"net/url"
	"path"
	"strings"
	"testing"
)

// H-424: a URI with an escaped ".." cannot use a template to refer to something outside of it.
func TestLeadsUp(t *testing.T) {
	for uri, want := range map[string]bool{
		"db://rows/7": false, "db://rows/..x/x..": false, "db://a..b/...": false, "": false, "db://rows/%41": false,
		"db://rows/100%": false, "db://rows/a%2fb": false,
		"db://rows/../x": true, "db://rows/..": true, "db://rows/%2e%2E/x": true, "db://rows/..%2fx": true,
		"db://rows/..%5Cx": true, `db://rows/..\x`: true, "db://rows/%252e%252e%252fx": true, "db://rows/%zz/../x": true,
		"db://rows/%2e.?x": true, "db://rows/x#/../y": true, "db://rows/..%23": true,
		"db://rows/%25252525252e": true, // escaped more than maxEscapes times
	} {
		if leadsUp(uri) != want {
			t.Errorf("%s: %v", uri, !want)
		}
	}
}

// The path that a provider makes of the URI stays below the part that the template has, unless leadsUp reports it.
func FuzzLeadsUp(f *testing.F) {
	for _, tail := range []string{"a", "../x", "%2e%2e/x", "..%2fx", "%252e./x", "a/..%5c..\\x", "%zz../..", "..?/x"} {
		f.Add(tail)
	}
	f.Fuzz(func(t *testing.T, tail string) {
		const base = "/srv/docs"
		uri := "file://" + base + "/" + tail
		if leadsUp(uri) {
			return
		}
		name := base + "/" + tail
		for range 3 { // the number of times that a provider and its server may decode a URI
			for _, cut := range []string{"", "?", "#", "?#"} {
				one := name
				if at := strings.IndexAny(one, cut); cut != "" && at >= 0 {
					one = one[:at]
				}
				one = path.Clean(strings.ReplaceAll(one, `\`, "/"))
				if one != base && !strings.HasPrefix(one, base+"/") {
					t.Fatalf("%q leads to %q", tail, one)
				}
			}
			decoded, err := url.PathUnescape(name)
			if err != nil {
				return
			}
			name = decoded
		}
	})
}
