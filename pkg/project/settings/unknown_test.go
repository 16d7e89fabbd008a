package settings

import (
	"slices"
	"testing"
)

// E-13: names that nobody reads are reported with the name that was meant.
func TestUnknown(t *testing.T) {
	got := Unknown(map[string]string{
		"MCPBASH_TOOL_ALOWLIST": "*", "MCPBASH_TOOL_ALLOWLIST": "*", "MCPBASH_OWN_THING": "x", "MCPBASH_LISTED": "x",
		"MCP_TOOL_ALOWLIST": "x", "PATH": "/bin", "MCPBASH_HOME": "/h", "MCPBASH_": "",
	}, []string{"MCPBASH_LISTED"})
	want := []string{
		"MCPBASH_ is not a variable of mcp-bash, so only scripts see it",
		"MCPBASH_OWN_THING is not a variable of mcp-bash, so only scripts see it",
		"MCPBASH_TOOL_ALOWLIST is not a variable of mcp-bash, so only scripts see it (did you mean MCPBASH_TOOL_ALLOWLIST?)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
