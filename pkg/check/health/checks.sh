# shellcheck shell=bash
# Sources server.d/health-checks.sh, $1, with the functions that it may call (CLI-1205). Its output
# goes to standard error. Each call that fails writes a mark to standard output.
exec 3>&1 1>&2

mcp_health_check_command() { # COMMAND [MESSAGE]
  local message=${2:-Required command: $1}
  if command -v "$1" >/dev/null 2>&1; then
    printf '  ✓ %s\n' "$message"
    return 0
  fi
  printf '  ✗ %s (not found in PATH)\n' "$message"
  printf x >&3
  return 1
}

mcp_health_check_env() { # VARIABLE [MESSAGE]
  local message=${2:-Required env var: $1}
  if [[ $1 =~ ^[A-Za-z_][A-Za-z0-9_]*$ && -n ${!1-} ]]; then
    printf '  ✓ %s\n' "$message"
    return 0
  fi
  printf '  ✗ %s (not set)\n' "$message"
  printf x >&3
  return 1
}

# shellcheck source=/dev/null
(source "$1")
