//go:build unix

package clients

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// examples/18-library: the provider depends on the template that a URI matches (RES-174).
func TestLibraryBooks(t *testing.T) { inBothProtocols(t, testLibraryBooks) }

func testLibraryBooks(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "18-library"), opening{revision: protocol, env: map[string]string{
		"MCP_RESOURCE_TEMPLATE_NAME": "book", // values of the host have no effect (RES-175)
		"MCP_RESOURCE_TEMPLATE_VARS": `{"subject":"sailing","title":"knots"}`,
	}})
	if got := s.resource("library://books"); got.MIMEType != "text/uri-list" ||
		got.Text != "library://gardening/compost\nlibrary://gardening/roses\n"+
			"library://sailing/coastal-tides\nlibrary://sailing/knots\n" {
		t.Error(compact(t, got))
	}
	if got := s.resource("library://gardening/compost"); got.MIMEType != "text/markdown" ||
		got.Text != "# Compost\n\nTurn leaves and peelings into soil in a year.\n" {
		t.Error(compact(t, got))
	}
	s.failResource("library://gardening/weeds", -32002, "Resource not found")
	s.failResource("library://gardening/weeds/all", -32002, "Resource not found") // matches no template
	for _, uri := range []string{"library://../README", "library://gardening/%63ompost", "library://$(id)/roses"} {
		s.failResource(uri, -32602,
			"Subjects and titles are written in small letters, as in library://gardening/compost.")
	}
}

// examples/18-library: the variables of the template are completed, named by its text or by a URI that it
// matches (T-612a; R-83a).
func TestLibraryCompletion(t *testing.T) { inBothProtocols(t, testLibraryCompletion) }

func testLibraryCompletion(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "18-library"), opening{revision: protocol})
	for _, tc := range []struct {
		uri, argument, value string
		given                map[string]string
		want                 []string
	}{
		{"library://{subject}/{title}", "subject", "", nil, []string{"gardening", "sailing"}},
		{"library://sailing/knots", "subject", "G", nil, []string{"gardening"}},
		{"library://{subject}/{title}", "title", "c", nil, []string{"coastal-tides", "compost"}},
		{"library://{subject}/{title}", "title", "c", map[string]string{"subject": "gardening"}, []string{"compost"}},
		{"library://{subject}/{title}", "page", "", nil, []string{}},
	} {
		result, err := s.Complete(s.deadline(), &mcp.CompleteParams{
			Ref:      &mcp.CompleteReference{Type: "ref/resource", URI: tc.uri},
			Argument: mcp.CompleteParamsArgument{Name: tc.argument, Value: tc.value},
			Context:  &mcp.CompleteContext{Arguments: tc.given},
		})
		if err != nil {
			t.Errorf("%+v: %v", tc, err)
		} else if got := result.Completion.Values; !slices.Equal(got, tc.want) {
			t.Errorf("%+v: %q", tc, got)
		}
	}
}

// examples/18-library: policy.sh adds to the list of allowed tools (T-33), and server.meta.json passes the card to
// tools (E-8).
func TestLibraryReservations(t *testing.T) { inBothProtocols(t, testLibraryReservations) }

func testLibraryReservations(t *testing.T, protocol string) {
	t.Parallel()
	const knots = "library://sailing/knots"
	const needs = "reserve-book needs a library card: set LIBRARY_CARD in the environment of the server"
	with := func(project, card string, more map[string]string) *session {
		// Empty values of the host leave mode and list to server.meta.json (E-8).
		env := map[string]string{"LIBRARY_CARD": card, "MCPBASH_TOOL_ENV_MODE": "", "MCPBASH_TOOL_ENV_ALLOWLIST": ""}
		for name, value := range more {
			env[name] = value
		}
		return open(t, project, opening{revision: protocol, env: env})
	}
	project := checkout.Example(t, "18-library")
	s := with(project, "4711", nil)
	if got := text(t, s.succeed("reserve-book", arguments{"book": knots})); got != "Reserved "+knots {
		t.Error(got)
	}
	s.refuse("reserve-book", arguments{"book": "library://sailing/sails"}, "no_book")
	if data, err := os.ReadFile(filepath.Join(project, "reservations.csv")); err != nil ||
		string(data) != "4711,"+knots+"\n" {
		t.Errorf("%q, %v", data, err)
	}

	for _, card := range []string{"", "${user_config.card}"} { // the second is as good as unset
		s = with(checkout.Example(t, "18-library"), card, nil)
		s.fail("reserve-book", arguments{"book": knots}, -32602, needs)
		if got := text(t, s.succeed("find-book", arguments{"word": "COMPOST"})); got != "library://gardening/compost\n"+
			"library://gardening/roses\n" {
			t.Error(got)
		}
	}

	s = with(checkout.Example(t, "18-library"), "4711", map[string]string{"MCPBASH_TOOL_ALLOWLIST": "reserve-book"})
	s.succeed("reserve-book", arguments{"book": knots})
	s.fail("find-book", arguments{"word": "knots"}, -32602,
		"Tool 'find-book' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)")
}
