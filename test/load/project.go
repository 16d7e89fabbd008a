package load

import (
	"os"
	"path/filepath"
)

// WriteProject writes a project that has the name of its folder, and the tool that clients call. The tool returns its
// argument, and the name of its server: the variable REPLICA, or the name of the host. If CALLS names a file, it also
// appends its argument there. The tool confined does the same without rights: if it can write to /tmp, its answer is
// wrong.
func WriteProject(dir string) error {
	for name, text := range map[string]string{
		"server.d/server.meta.json": `{"name":"` + filepath.Base(dir) + `","version":"1.0.0","author":"Ada",
			"env":{"MCPBASH_TOOL_ENV_MODE":"allowlist","MCPBASH_TOOL_ENV_ALLOWLIST":"CALLS,REPLICA"}}`,
		"tools/record/tool.meta.json": `{"name":"record","description":"Records a call","inputSchema":{"type":"object",
			"properties":{"id":{"type":"string"}}}}`,
		"tools/confined/tool.meta.json": `{"name":"confined","description":"Runs without rights","capabilities":["Search"],
			"inputSchema":{"type":"object","properties":{"id":{"type":"string"}}}}`,
		"tools/confined/tool.sh": "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\n" +
			"if : 2>/dev/null >/tmp/confined; then id=free; else id=$(mcp_args_get .id); fi\nmcp_emit_text \"$id $HOSTNAME\"\n",
		"tools/record/tool.sh": "#!/usr/bin/env bash\nsource \"$MCP_SDK/tool-sdk.sh\"\nid=$(mcp_args_get .id)\n" +
			"[ -z \"${CALLS:-}\" ] || echo \"$id\" >>\"$CALLS\"\nmcp_emit_text \"$id ${REPLICA:-$HOSTNAME}\"\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			return err
		}
	}
	return nil
}
