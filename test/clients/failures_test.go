//go:build unix

package clients

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mcp-bash/test/checkout"
)

type timeout struct {
	Type, Message, Reason, Hint string
	TimeoutSecs, ExitCode       int
	ProgressExtendsTimeout      bool
	MaxTimeoutSecs              int
}

// A tool takes too long and ignores TERM (T-152, T-157 to T-159).
func TestTimeout(t *testing.T) {
	t.Parallel()
	s := open(t, checkout.Copy(t, "testdata/failures"), opening{})
	result := s.call("fixed", nil)
	want := timeout{
		Type: "timeout", Message: "Tool timed out after 1s\n\nSuggestion: Use a smaller input", Reason: "fixed",
		Hint: "Use a smaller input", TimeoutSecs: 1, ExitCode: 124,
	}
	if got := structured[struct{ Error timeout }](t, result).Error; got != want || !result.IsError ||
		text(t, result) != want.Message {
		t.Error(compact(t, result))
	}
	if result.Meta["stderr"] != "still at it" || result.Meta["exitCode"] != 124.0 {
		t.Errorf("%v", result.Meta)
	}
}

// A tool whose progress reports keep it alive, until they stop (T-155).
func TestIdleTimeout(t *testing.T) {
	t.Parallel()
	s := open(t, checkout.Copy(t, "testdata/failures"), opening{})
	result := s.call("idle", nil)
	want := timeout{
		Type: "timeout", Message: "Tool timed out after 2s (no progress reported)", Reason: "idle",
		TimeoutSecs: 2, ExitCode: 124, ProgressExtendsTimeout: true, MaxTimeoutSecs: 600,
	}
	if got := structured[struct{ Error timeout }](t, result).Error; got != want || !result.IsError {
		t.Error(compact(t, result))
	}
	if got := s.reports(); !slices.Equal(got, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}) {
		t.Errorf("%q", got)
	}
}

// A tool fails without an error message (T-186; T-187 for the old behaviour).
func TestSilentFailure(t *testing.T) {
	t.Parallel()
	project := checkout.Copy(t, "testdata/failures")
	s := open(t, project, opening{})
	result := s.call("failing", nil)
	if !result.IsError || len(result.Content) != 2 || text(t, result) != "half an answer\n" ||
		result.Meta["exitCode"] != 3.0 || result.Meta["stderr"] != "oh dear" {
		t.Error(compact(t, result))
	}
	s = open(t, project, opening{env: map[string]string{"MCPBASH_TOOL_FAILURE_MODE": "error"}})
	s.fail("failing", nil, -32603, "Tool failed")
}

// Tools run only after the operator has allowed them (T-12, T-20 to T-22).
func TestPolicy(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "01-arguments")
	s := open(t, project, opening{env: map[string]string{"MCPBASH_TOOL_ALLOWLIST": ""}})
	s.fail("box", arguments{"text": "x"}, -32602,
		"Tool 'box' blocked by policy. Set MCPBASH_TOOL_ALLOWLIST in your MCP client config.")
	if list, err := s.ListTools(s.deadline(), nil); err != nil || len(list.Tools) != 2 {
		t.Errorf("%v", err)
	}
	s = open(t, project, opening{env: map[string]string{"MCPBASH_TOOL_ALLOWLIST": "hello, box"}})
	s.succeed("box", arguments{"text": "x"})
	s.fail("convert", nil, -32602, "Tool 'convert' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)")
}

// policy.sh decides by the entry of the tool (T-25 to T-30).
func TestPolicyScript(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "01-arguments")
	hook := filepath.Join(project, "server.d", "policy.sh")
	err := os.WriteFile(hook, []byte(`mcp_tools_policy_check() {
  local path
  path="$(mcp_json_extract_optional "$2" -r .path)"
  mcp_tools_validate_path "$MCPBASH_TOOLS_DIR/$path" || return 1
  if mcp_tools_validate_path "$MCPBASH_PROJECT_ROOT/README.md"; then return 1; fi
  [ "$1" = box ] || { mcp_tools_error -32001 "Only box, not $1"; return 1; }
}
`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, project, opening{})
	s.succeed("box", arguments{"text": "x"})
	s.fail("convert", nil, -32001, "Only box, not convert")
}

// A policy.sh that adds rules to the default policy (T-33), and the refusal of a path that it let pass (T-8).
func TestPolicyAddsToTheDefault(t *testing.T) {
	t.Parallel()
	project := checkout.Example(t, "01-arguments")
	hook := filepath.Join(project, "server.d", "policy.sh")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(hook, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(`mcp_tools_policy_check() {
  mcp_tools_policy_check_default "$@" || return 1
  case $1 in box) return 0 ;; esac
  mcp_tools_error -32001 "Only box, not $1"
  return 1
}
`)
	s := open(t, project, opening{env: map[string]string{"MCPBASH_TOOL_ALLOWLIST": "box convert"}})
	s.succeed("box", arguments{"text": "x"})
	s.fail("convert", nil, -32001, "Only box, not convert")
	s = open(t, project, opening{env: map[string]string{"MCPBASH_TOOL_ALLOWLIST": "box"}})
	s.fail("convert", nil, -32602, "Tool 'convert' blocked by policy (not in MCPBASH_TOOL_ALLOWLIST)")
	if err := os.Chmod(filepath.Join(project, "tools", "box", "tool.sh"), 0o777); err != nil {
		t.Fatal(err)
	}
	s.fail("box", arguments{"text": "x"}, -32602, "Tool 'box' path rejected by policy")
	write("mcp_tools_policy_check() { :; }\n")
	s.fail("box", arguments{"text": "x"}, -32602, "Tool path rejected by policy")
}
