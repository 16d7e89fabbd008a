package project

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/run/scriptenv"
)

// dumping makes a shell print its variables when it ends. "E name=value" is an exported variable. "U name=value" is
// another variable that MCPBASH_TOOL_ENV_ALLOWLIST or server.meta.json names (T-61). A NUL ends each of them. The
// output of the evaluated files is discarded. The code runs in Bash 3.2.
const dumping = `
__mcp_dump() {
  __mcp_rc=$?
  exec 1>&3 3>&-
  for __mcp_n in $(compgen -e); do
    case "$__mcp_n" in __mcp_*|_|SHLVL|PWD|OLDPWD|BASHOPTS|SHELLOPTS) continue ;; esac
    printf 'E %s=%s\0' "$__mcp_n" "${!__mcp_n}"
  done
  IFS=$', \t\n'
  set -f
  for __mcp_n in ${MCPBASH_TOOL_ENV_ALLOWLIST-} ${__mcp_listed-}; do
    [[ "$__mcp_n" =~ ^[A-Za-z_][A-Za-z0-9_]*$ && -n "${!__mcp_n-}" ]] || continue
    printf 'U %s=%s\0' "$__mcp_n" "${!__mcp_n}"
  done
  printf 'D %s\0' "$__mcp_rc"
}
trap __mcp_dump EXIT
exec 3>&1 >/dev/null
`

// sourcing evaluates files that must not fail. profiling evaluates a file that may fail.
const (
	sourcing = dumping + `for __mcp_f in "$@"; do
  source "$__mcp_f" || {
    __mcp_s=$?
    [[ -z $("$BASH" -n "$__mcp_f" 2>&1) ]] || printf 'S %s\0' "$__mcp_f" >&3
    exit "$__mcp_s"
  }
done
`
	profiling = dumping + `source "$1" || true` + "\n"
)

// A SourceError means that a shell file failed.
type SourceError struct {
	Status int
	Stderr string
	Syntax string // the file with a syntax error, or ""
}

func (e *SourceError) Error() string { return fmt.Sprintf("failed (exit %d)", e.Status) }

// maxSourced limits the resulting environment, and the output on standard error, in bytes.
const maxSourced = 16 << 20

// Source evaluates shell files in order, in one Bash process in the project's root. It returns the resulting
// environment, and the output on standard error. MCPBASH_ENV_TIMEOUT limits the time. If a file fails, the error is
// a [*SourceError].
func (p *Project) Source(ctx context.Context, r *script.Runner,
	files ...code.File) (result Env, stderr string, err error) {
	return p.source(ctx, r, sourcing, files...)
}

// SourceProfile is [Project.Source] for a login profile, which may fail. Changes before the failure count.
func (p *Project) SourceProfile(ctx context.Context, r *script.Runner,
	file code.File) (result Env, stderr string, err error) {
	return p.source(ctx, r, profiling, file)
}

func (p *Project) source(ctx context.Context, r *script.Runner, text string,
	files ...code.File) (result Env, stderr string, err error) {
	res := r.Run(ctx, script.Spec{
		Argv: []string{"bash", "-c", text, "bash"}, Sources: files, Dir: p.Root,
		Env:     Override(p.Env.Entries(), "__mcp_listed", strings.Join(p.Scripts.Tools.Names, ",")),
		Timeout: p.EnvTimeout, StdoutLimit: maxSourced, StderrLimit: maxSourced,
	})
	stderr = string(res.Stderr)
	if errors.Is(res.Cause, script.ErrTimedOut) {
		return nil, stderr, fmt.Errorf("not done after %s, so it was ended; "+
			"leave out what waits, or set MCPBASH_ENV_TIMEOUT to more seconds (0: no limit)", p.EnvTimeout)
	}
	result = make(Env)
	for _, name := range []string{"_", "SHLVL", "PWD", "OLDPWD", "BASHOPTS", "SHELLOPTS"} {
		if v, ok := p.Env[name]; ok {
			result[name] = v
		}
	}
	complete, syntax := false, ""
	for row := range bytes.SplitSeq(res.Stdout, []byte{0}) {
		kind, rest, _ := strings.Cut(string(row), " ")
		name, value, _ := strings.Cut(rest, "=")
		switch kind {
		case "E":
			result[name] = value
		case "U":
			if _, exported := result[name]; !exported {
				result[name] = value
			}
		case "S":
			syntax = rest
		case "D":
			complete = rest == "0"
		}
	}
	for name, value := range p.Env {
		if _, given := result[name]; !given && scriptenv.IsWithheld(name) { // secrets are hidden from the files
			result[name] = value
		}
	}
	if res.Cause != nil {
		return nil, stderr, res.Cause
	}
	if res.Status != 0 || !complete {
		return nil, stderr, &SourceError{max(res.Status, 1), stderr, syntax}
	}
	return result, stderr, nil
}

// kept are the variables that server.d/env.sh cannot change in a server (P-113). The last two are restrictions that a
// project cannot loosen (R-212, CF-2).
var kept = []string{
	"MCPBASH_HOME", "MCPBASH_PROJECT_ROOT", "MCPBASH_TOOLS_DIR", "MCPBASH_RESOURCES_DIR", "MCPBASH_PROMPTS_DIR",
	"MCPBASH_COMPLETIONS_DIR", "MCPBASH_SERVER_DIR", "MCPBASH_REGISTRY_DIR", "MCPBASH_PROVIDERS_DIR", "MCPBASH_UI_DIR",
	"MCPBASH_SECURITY_LEVEL", "MCPBASH_CONFINE",
}

// Adopt returns a copy of env with the values of changed, except for protected variables. A variable that a file
// unset keeps its value.
func Adopt(env, changed Env) Env {
	result := env.Clone()
	for name, value := range changed {
		if !slices.Contains(kept, name) {
			result[name] = value
		}
	}
	return result
}
