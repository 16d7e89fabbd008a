package item

import (
	"strings"
	"testing"
)

// every fault is named.
func TestParameterFaults(t *testing.T) {
	_, faults := schemaOf([]byte(`{"required":[5,{"name":""},{"name":"a","type":"colour"},{"name":"b","required":false},{"name":"c"},{"name":"d","description":1}],
		"optional":[{"name":"c"},{"name":"e","required":"yes"},
		{"name":"f","writeOnly":"yes"}]}`))
	if got, want := strings.Join(faults, "\n"), strings.Join([]string{
		`parameters.required[0]: not an object`,
		`parameters.required[1]: missing "name"`,
		`parameters.required[2]: unknown type of "a"`,
		`parameters.required[3]: required of "b" contradicts its list`,
		`parameters.required[5]: description of "d" is not a string`,
		`parameters.optional[0]: "c" is given twice`,
		`parameters.optional[1]: required of "e" contradicts its list`,
		`parameters.optional[2]: writeOnly of "f" is not a boolean`,
	}, "\n"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	_, faults = schemaOf([]byte(`{"required":{}}`))
	if got := strings.Join(faults, "\n"); got != `parameters.required: not an array` {
		t.Error(got)
	}
}
