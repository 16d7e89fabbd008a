//go:build unix

package clients

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// examples/08-any-language, letters: awk, and the JSON program every tool gets
// (T-43, T-66).
func TestAwk(t *testing.T) { inBothProtocols(t, testAwk) }

func testAwk(t *testing.T, protocol string) {
	t.Parallel()
	for name, env := range map[string]map[string]string{
		"in the environment": nil,
		"in a file":          {"MCPBASH_ENV_PAYLOAD_THRESHOLD": "0"}, // T-77
	} {
		s := open(t, checkout.Example(t, "08-any-language"), opening{revision: protocol, env: env})
		got := structured[map[string]int](t, s.succeed("letters", arguments{"text": "Hello,\n\"World\""}))
		if got["l"] != 3 || got["o"] != 2 || got["w"] != 1 || len(got) != 7 {
			t.Errorf("%s: %v", name, got)
		}
		if got := structured[map[string]int](t, s.succeed("letters",
			arguments{"text": strings.Repeat("ab", 100_000)})); got["a"] != 100_000 || got["b"] != 100_000 ||
			len(got) != 2 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// examples/08-any-language, primes: Python, with the files and variables of
// T-68, T-90 and T-100.
func TestPython(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3 here")
	}
	s := open(t, checkout.Example(t, "08-any-language"), opening{})
	type primes struct{ Count, Largest int }
	if got := structured[primes](t, s.succeed("primes", arguments{"limit": 1000})); got != (primes{168, 997}) {
		t.Errorf("%+v", got)
	}
	if got := s.reports(); !slices.Equal(got, []string{"25", "50", "75", "100"}) {
		t.Errorf("%q", got)
	}
	s.fail("primes", arguments{"limit": 100_001}, -32602, "limit must be 100000 or less")
	s.refuse("primes", arguments{"limit": 1.5}, "validation_error")
}
