//go:build unix

package clients

import (
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"mcp-bash/test/checkout"
)

// RES-32a, RES-170, RES-174 to RES-176: what scripts see of a template, in every mode of their
// environments, also as another user. The server is started with values of the two variables.
func TestTemplateVariables(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "inherit"} {
		for _, unprivileged := range []bool{false, true} {
			project := checkout.Directory(t)
			const seen = `"${MCP_RESOURCE_TEMPLATE_NAME-unset} ${MCP_RESOURCE_TEMPLATE_VARS-unset}"`
			for name, text := range map[string]string{
				"server.d/server.meta.json":    `{"name":"templates"}`,
				"tools/look/tool.meta.json":    `{"name":"look","description":"d"}`,
				"tools/look/tool.sh":           "#!/bin/bash\necho " + seen,
				"prompts/p.txt":                "p",
				"prompts/p.completion.sh":      "#!/bin/bash\nprintf '[\"%s\"]' " + seen,
				"providers/shop.sh":            "#!/bin/bash\necho " + seen,
				"providers/hidden.sh":          "#!/bin/bash\necho ran",
				"resources/item.meta.json":     `{"name":"item","uriTemplate":"shop://items/{id}"}`,
				"resources/featured.meta.json": `{"name":"featured","uri":"shop://items/1"}`,
			} {
				file := write(t, text, project, name)
				if strings.HasSuffix(name, ".sh") {
					if err := os.Chmod(file, 0o755); err != nil {
						t.Fatal(err)
					}
				}
			}
			s := open(t, project, opening{unprivileged: unprivileged, env: map[string]string{
				"MCP_RESOURCE_TEMPLATE_NAME": "stale", "MCP_RESOURCE_TEMPLATE_VARS": `{"id":"stale"}`,
				"MCPBASH_TOOL_ENV_MODE": mode, "MCPBASH_TOOL_ENV_INHERIT_ALLOW": "true",
				"MCPBASH_PROVIDER_ENV_MODE": mode, "MCPBASH_PROVIDER_ENV_INHERIT_ALLOW": "true",
			}})
			read := func(uri string) string {
				result, err := s.ReadResource(s.deadline(), &mcp.ReadResourceParams{URI: uri})
				if err != nil {
					return err.Error()
				}
				return strings.TrimSpace(result.Contents[0].Text)
			}
			if got := read("shop://items/4%202"); got != `item {"id":"4%202"}` {
				t.Errorf("%q: %s", mode, got)
			}
			for _, uri := range []string{"shop://items/1", "shop://other"} {
				if got := read(uri); got != "unset unset" {
					t.Errorf("%q %s: %s", mode, uri, got)
				}
			}
			for _, uri := range []string{"hidden://x", "SHOP://items/1"} {
				if got := read(uri); !strings.Contains(got, "Resource not found") {
					t.Errorf("%q %s: %s", mode, uri, got)
				}
			}
			if got := s.call("look", nil).Content[0].(*mcp.TextContent).Text; strings.TrimSpace(got) != "unset unset" {
				t.Errorf("%q: a tool: %s", mode, got)
			}
			completed, err := s.Complete(s.deadline(), &mcp.CompleteParams{
				Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "p"},
				Argument: mcp.CompleteParamsArgument{Name: "a"},
			})
			if err != nil || strings.Join(completed.Completion.Values, "|") != "unset unset" {
				t.Errorf("%q: a completion: %v, %v", mode, completed, err)
			}
		}
	}
}
