package item

import "testing"

// the forms of a positive integer.
func TestSeconds(t *testing.T) {
	for in, want := range map[string]string{
		`5`: "5", `"08"`: "8", `"5"`: "5", `0`: "null", `-1`: "null", `1.5`: "null", `5.0`: "null", `1e1`: "null",
		`true`: "null", `null`: "null", `""`: "null", `"+5"`: "null", `3000000000`: "2147483647",
		`"99999999999999999999"`: "2147483647", `2147483647`: "2147483647",
	} {
		s := NewSource(Location{File: "f"}, []byte(`{"timeoutSecs":`+in+`}`))
		f := Fields{Sources: []Source{s}, Dir: NoDir{}}
		got := string(f.Seconds("timeoutSecs"))
		if got == "" {
			got = "null"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// the provider for the scheme of a URI.
func TestProviderOf(t *testing.T) {
	for uri, provider := range map[string]string{
		"file:///a": "file", "a/b.txt": "file", "": "file", "mailto:x": "file", "file://./resources/a.txt": "file",
		"https://x": "https",
		"HTTPS://x": "https", "git+https://x/y.git#main:a": "git", "git://x": "git", "ui://a/b": "ui", "echo://Hello": "echo",
		"myapi://": "myapi", "MyAPI://x": "MyAPI", "GIT+HTTPS://x": "git", "Echo://x": "echo",
		"${MCPBASH_PROJECT_ROOT}/a": "file", "file://${MCPBASH_PROJECT_ROOT}/a": "file",
	} {
		if got := ProviderOf(uri); got != provider {
			t.Errorf("%s: %s", uri, got)
		}
	}
}
