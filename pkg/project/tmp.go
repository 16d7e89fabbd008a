package project

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/project/settings"
)

// tmpRoot returns the base of all temporary files (P-300).
func tmpRoot(env Env) string {
	root := cmp.Or(env["MCPBASH_TMP_ROOT"], env["TMPDIR"], systemTmp())
	if trimmed := strings.TrimRight(root, string(filepath.Separator)); trimmed != "" {
		root = trimmed
	}
	if abs, err := filepath.Abs(root); err == nil {
		return abs
	}
	return root
}

// tmpBases returns the bases for a private directory, in the order of preference (P-300).
func tmpBases(env Env, first string) []string {
	return []string{first, env["RUNNER_TEMP"], env["TMPDIR"], systemTmp()}
}

// checkTmp warns if the base of temporary files does not exist. Nothing creates it, because its name is probably a
// mistake, and scripts get the same TMPDIR (P-300).
func (s *Settings) checkTmp(env Env, warn func(string)) {
	if !exists(s.TmpRoot) {
		name := "TMPDIR"
		if env["MCPBASH_TMP_ROOT"] != "" {
			name = "MCPBASH_TMP_ROOT"
		}
		warn("mcp-bash: " + name + " does not exist: " + s.TmpRoot +
			"; create it, or set " + name + " to a directory that exists")
	}
}

// applyCI sets the defaults of CI mode for unset variables (P-303). [NewState] creates the log directory.
func applyCI(env Env) {
	base := env["RUNNER_TEMP"]
	if base == "" && env["GITHUB_WORKSPACE"] != "" {
		base = filepath.Join(env["GITHUB_WORKSPACE"], ".mcpbash-tmp")
		os.MkdirAll(base, 0o700)
	}
	env.Default("MCPBASH_TMP_ROOT", cmp.Or(base, env["TMPDIR"], systemTmp()))
	env.Default("MCPBASH_KEEP_LOGS", "true")
	env.Default("MCPBASH_LOG_TIMESTAMP", "true")
	level := "info"
	if settings.Bool(env, "MCPBASH_CI_VERBOSE") {
		level = "debug"
	}
	env.Default("MCPBASH_LOG_LEVEL", level)
	env.Default("MCPBASH_LOG_DIR", filepath.Join(tmpRoot(env), "mcpbash.logs."+processTag()))
}

// Spool copies a stream to a file in a private directory, and returns its path. remove removes both. More than limit
// bytes are an error.
func Spool(env Env, in io.Reader, name string, limit int64) (path string, remove func(), err error) {
	dir, err := MakeWorkDir(env)
	if err != nil {
		return "", nil, err
	}
	path = filepath.Join(dir.Path, name)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		n, copied := io.Copy(f, io.LimitReader(in, limit+1))
		if err = errors.Join(copied, f.Close()); err == nil && n > limit {
			err = fmt.Errorf("more than %d MB", limit>>20)
		}
	}
	if err != nil {
		dir.Remove()
		return "", nil, fmt.Errorf("standard input: %w", err)
	}
	return path, func() { dir.Remove() }, nil
}
