//go:build unix

package clients

import (
	"testing"

	"mcp-bash/test/checkout"
)

// examples/01-arguments: the server checks arguments against the schema (T-11), and the script checks
// conditions that a schema cannot express (SDK-75).
func TestValidatedArguments(t *testing.T) { inBothProtocols(t, testValidatedArguments) }

func testValidatedArguments(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "01-arguments"), opening{revision: protocol})
	type temperature struct {
		Value float64
		Unit  string
	}
	for _, tc := range []struct {
		value    float64
		from, to string
		want     float64
	}{
		{100, "celsius", "fahrenheit", 212}, {-40, "fahrenheit", "celsius", -40}, {0, "kelvin", "celsius", -273.15},
		{-273.15, "celsius", "kelvin", 0}, {21.5, "celsius", "celsius", 21.5},
	} {
		got := structured[temperature](t, s.succeed("convert", arguments{"value": tc.value, "from": tc.from,
			"to": tc.to}))
		if got != (temperature{tc.want, tc.to}) {
			t.Errorf("%v %s: %v", tc.value, tc.from, got)
		}
	}

	for _, tc := range []struct {
		args arguments
		want string
	}{
		{arguments{"from": "celsius", "to": "kelvin"}, "Invalid arguments: /value: is required"},
		{arguments{"value": "warm", "from": "celsius", "to": "kelvin"}, "Invalid arguments: /value: must be a number"},
	} {
		if got := s.refuse("convert", tc.args, "validation_error"); got != tc.want {
			t.Errorf("%v: %q", tc.args, got)
		}
	}
	for _, bad := range []arguments{
		{"value": 1, "from": "celsius", "to": "rankine"}, {"value": 1e7, "from": "celsius", "to": "kelvin"},
		{"value": 1, "from": "celsius", "to": "kelvin", "extra": true},
	} {
		s.refuse("convert", bad, "validation_error")
	}

	result := s.call("convert", arguments{"value": -500, "from": "celsius", "to": "kelvin"})
	type refusal struct {
		Error struct {
			Type, Message, Hint string
			Data                struct{ Lowest float64 }
		}
	}
	got := structured[refusal](t, result).Error
	if !result.IsError || text(t, result) != "-500 celsius is below absolute zero." || got.Type != "out_of_range" ||
		got.Hint != "The lowest temperature there is: -273.15 celsius." || got.Data.Lowest != -273.15 {
		t.Error(compact(t, result))
	}
}

// examples/01-arguments: the script's own getters (SDK-31 to SDK-33, SDK-63).
func TestArgumentsOfTheScript(t *testing.T) { inBothProtocols(t, testArgumentsOfTheScript) }

func testArgumentsOfTheScript(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "01-arguments"), opening{revision: protocol})
	const want = "+----------+\n| the      |\n| quick    |\n| fox * ?  |\n+----------+"
	if got := text(t, s.succeed("box", arguments{"text": " the quick\nfox * ?", "width": 12})); got != want {
		t.Errorf("%s", got)
	}
	// T-11, "validateInput": false: the schema does not apply, and the getters decide.
	const loud = "#========#\n# HI     #\n#========#"
	if got := text(t, s.succeed("box", arguments{"text": "hi", "width": "10", "upper": 1,
		"border": "double"})); got != loud {
		t.Errorf("%s", got)
	}
	for _, tc := range []struct {
		args arguments
		want string
	}{
		{nil, "Give the text to put into the box: .text"},
		{arguments{"text": " \n\t"}, ".text has no words in it"},
		{arguments{"text": "x", "width": 9}, ".width must be >= 10"},
		{arguments{"text": "x", "width": 81}, ".width must be <= 80"},
		{arguments{"text": "x", "width": "wide"}, ".width must be an integer"},
		{arguments{"text": "x", "border": "triple"}, ".border must be single or double"},
	} {
		s.fail("box", tc.args, -32602, tc.want)
	}
	if got := s.refuse("box", arguments{"text": "incomprehensibilities", "width": 10},
		"word_too_long"); got != `"incomprehensibilities" does not fit into a box of width 10.` {
		t.Error(got)
	}
}
