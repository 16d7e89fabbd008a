//go:build unix

package clients

import (
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// examples/21-large-results: the client gets a part of a long output, reads the rest in ranges, and
// searches it (LR-2, LR-10, LR-30).
func TestLargeResults(t *testing.T) { inBothProtocols(t, testLargeResults) }

func testLargeResults(t *testing.T, protocol string) {
	t.Parallel()
	s := open(t, checkout.Example(t, "21-large-results"), opening{revision: protocol})
	result := s.call("requests", nil)
	text := result.Content[0].(*mcp.TextContent).Text
	link, ok := result.Content[1].(*mcp.ResourceLink)
	if !ok || *link.Size != 637959 || !strings.Contains(text, link.URI) {
		t.Fatal(compact(t, result))
	}
	if !regexp.MustCompile(`^request 0000001 .*\n(request .*\n){63}\[19904 lines \(634899 bytes\) left out\. .*\]\n`+
		`(request .*\n){31}request 0020000 /page/18 200 ok\n$`).MatchString(text) || len(text) > 4096 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	if got := s.resource(link.URI + "?offset=4998&limit=1"); got.Text != "request 0004999 /page/52 500 disk full\n" {
		t.Error(compact(t, got))
	}
	whole := ""
	for uri := link.URI + "?limit=1000"; uri != ""; {
		part := s.resource(uri)
		whole += part.Text
		uri, _ = part.Meta["mcpbash/next"].(string)
	}
	if len(whole) != 637959 || strings.Count(whole, "\n") != 20000 || !strings.HasPrefix(whole, text[:1000]) {
		t.Errorf("%d bytes in parts", len(whole))
	}
	found := s.call("result_search", arguments{"uri": link.URI, "pattern": "500 disk.*$", "regex": true})
	if got := found.Content[0].(*mcp.TextContent).Text; !strings.HasPrefix(got, "4998:159417:request 0004999") ||
		!strings.HasSuffix(got, "\n[4 matches, to the end of 637959 bytes.]") {
		t.Error(got)
	}
	s.failResource(strings.Replace(link.URI, "//", "//x", 1), -32002, "Resource not found")
}
