package project

import (
	"os"
	"path/filepath"
	"strings"
)

// UsePackaged sets the project and the allow list if this program was installed under another name. The project of a
// program NAME is ../share/NAME/project next to it, with links resolved. Values of the environment stay (CLI-408).
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
