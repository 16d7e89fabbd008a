package project

import (
	"os"
	"path/filepath"
	"strings"
)

// UsePackaged sets the project and the allow list of a process whose program was installed under another name, next to
// its project: ../share/NAME/project for a program NAME, with links resolved (CLI-408). Values of the environment stay.
func UsePackaged() {
	exe, err := os.Executable()
	if err != nil || os.Getenv("MCPBASH_PROJECT_ROOT") != "" {
		return
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return
	}
	root := packagedRoot(exe)
	if root == "" {
		return
	}
	os.Setenv("MCPBASH_PROJECT_ROOT", root)
	if os.Getenv("MCPBASH_TOOL_ALLOWLIST") == "" {
		os.Setenv("MCPBASH_TOOL_ALLOWLIST", "*")
	}
}

// packagedRoot returns the project next to a program, or "".
func packagedRoot(exe string) string {
	name := strings.TrimSuffix(filepath.Base(exe), ".exe")
	root := filepath.Join(filepath.Dir(filepath.Dir(exe)), "share", name, "project")
	info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(Marker)))
	if name == "mcp-bash" || err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return root
}
