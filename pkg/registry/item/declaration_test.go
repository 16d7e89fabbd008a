package item

import "testing"

// SemVer 2.0.0.
func TestVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"0.0.0": true, "1.2.3": true, "10.20.30": true, "1.0.0-alpha": true, "1.0.0-alpha.1": true, "1.0.0-0.3.7": true,
		"1.0.0-x-y-z.--": true, "1.0.0+20130313144700": true, "1.0.0-beta+exp.sha.5114f85": true,
		"1.0.0+21AF26D3---117B344092BD": true, "1.0.0+001": true, "0.1.0-x-y.1+a.b": true,

		"": false, "1": false, "1.2": false, "1.2.3.4": false, "01.2.3": false, "1.02.3": false, "v1.2.3": false,
		"1.2.3-": false, "1.2.3+": false,
		"1.2.3-01": false, "1.2.3-a..b": false, "1.2.3-ä": false, "1.2.3 ": false, "-1.2.3": false, "1.2.3+a+b": false,
		"1..3": false,
	} {
		if IsSemver(version) != want {
			t.Errorf("%q: %v", version, !want)
		}
	}
}
