#!/usr/bin/env bats
# Tests of this project, for bats (Debian: apt-get install bats). Run them with "bats test". session.sh lists its functions.

setup() {
  source "${BATS_TEST_DIRNAME}/session.sh"
}

teardown() {
  mcp_session_end
}

@test "the smoke tests of all tools pass" {
  for smoke in "${MCPBASH_PROJECT_ROOT}"/tools/*/smoke.sh; do
    [[ ! -x $smoke ]] || MCPBASH_BIN=$mcp_bash "$smoke"
  done
}

@test "a server lists its tools" {
  mcp_session_start
  mcp_session_request tools/list
  [[ $MCP_SESSION_RESULT == *'"tools":['* ]]
}

# For example:
#
# @test "hello greets by name" {
#   mcp_session_start
#   mcp_session_call hello '{"name":"Ada"}'
#   [[ $MCP_SESSION_RESULT == *'Hello, Ada!'* ]]
# }
