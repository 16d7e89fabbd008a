//go:build unix

package clients

import (
	"testing"

	"mcp-bash/test/checkout"
)

// examples/00-hello; T-195.
func TestHello(t *testing.T) { withAll(t, testHello) }

func testHello(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "00-hello"), opening{revision: protocol})
	if got := text(t, s.succeed("hello", nil)); got != "Hello, World!" {
		t.Errorf("%q", got)
	}
	const name = "Zoë \"Z\" \\n $(id) <&>"
	if got := text(t, s.succeed("hello", arguments{"name": name})); got != "Hello, "+name+"!" { // SDK-44
		t.Errorf("%q", got)
	}
	if got := text(t, s.succeed("hello", arguments{"name": ""})); got != "Hello, World!" { // T-15
		t.Errorf("%q", got)
	}
	if got := s.refuse("hello", arguments{"name": []int{5}},
		"validation_error"); got != "Invalid arguments: /name: must be a string" { // T-11
		t.Errorf("%q", got)
	}
	s.fail("hallo", nil, -32602, "Tool 'hallo' not found: no tool has this name; did you mean 'hello'?") // T-4
	s.fail("other", nil, -32602, "Tool 'other' not found")
}
