//go:build unix

package clients

import (
	"fmt"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// examples/12-completion (T-610, T-611, T-613).
func TestCompletion(t *testing.T) { withAll(t, testCompletion) }

func testCompletion(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "12-completion"), opening{revision: protocol})
	if s.InitializeResult().Capabilities.Completions == nil {
		t.Error("completions are not advertised")
	}
	for _, tc := range []struct {
		prompt, argument, value string
		given                   map[string]string
		want                    []string
		total                   int
	}{
		{"haiku", "subject", "rain", nil, []string{}, 0},
		{"recipe", "cuisine", "", nil, []string{"italian", "japanese"}, 2},
		{"recipe", "dish", "R", nil, []string{"risotto", "ramen"}, 2},
		{"recipe", "dish", "R", map[string]string{"cuisine": "japanese"}, []string{"ramen"}, 1},
		{"recipe", "dish", `"$(x)'`, nil, []string{}, 0},
		{"weather", "city", "Zü", nil, []string{"Zürich"}, 1},
		{"weather", "city", "b", nil, []string{"Bamako", "Bangkok", "Berlin", "Bogotá", "Brussels"}, 5},
		{"nobody knows this one", "a", "b", nil, []string{}, 0},
	} {
		result, err := s.Complete(s.deadline(), &mcp.CompleteParams{
			Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: tc.prompt},
			Argument: mcp.CompleteParamsArgument{Name: tc.argument, Value: tc.value},
			Context:  &mcp.CompleteContext{Arguments: tc.given},
		})
		if err != nil {
			t.Errorf("%+v: %v", tc, err)
			continue
		}
		if got := result.Completion; !slices.Equal(got.Values, tc.want) || got.Total != tc.total || got.HasMore {
			t.Errorf("%s: %s %q: %s", tc.prompt, tc.argument, tc.value, compact(t, got))
		}
	}
}

// A script that prints more than an answer may hold (T-631).
func TestLongCompletion(t *testing.T) { inBothProtocols(t, testLongCompletion) }

func testLongCompletion(t *testing.T, protocol string) {
	t.Parallel()
	project := checkout.Example(t, "12-completion")
	var cities string
	for i := range 250 {
		cities += fmt.Sprintf("City %03d\n", i)
	}
	write(t, cities, project, "data", "cities.txt")
	s := open(t, project, opening{revision: protocol})
	result, err := s.Complete(s.deadline(), &mcp.CompleteParams{
		Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "weather"},
		Argument: mcp.CompleteParamsArgument{Name: "city", Value: "city"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := result.Completion; len(got.Values) != 100 || got.Values[99] != "City 099" || !got.HasMore ||
		got.Total != 250 {
		t.Error(compact(t, got))
	}
}
