package kinds

import "testing"

// R-62, RES-163.
func TestHasVariable(t *testing.T) {
	for template, ok := range map[string]bool{
		"{a}": true, "x/{a}/{b}": true, "{}{a}": true, "{?q*}": true, "{ a }": true, "{ü}": true,
		"": false, "x": false, "{}": false, "{  }": false, "{\t}": false, "{": false, "}": false, "}{": false, "{a": false,
		"a}":   false,
		"{a}}": false, "{{a}}": false, "{a}{": false, "{a{b}": false, "x}{a}": false,
	} {
		if hasVariable(template) != ok {
			t.Errorf("%q: %v", template, !ok)
		}
	}
}
