//go:build unix

package project

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// tools T-41, T-9.
func TestCheckScript(t *testing.T) {
	base, _ := filepath.EvalSymlinks(t.TempDir())
	put := func(name string, mode os.FileMode) string {
		file := filepath.Join(base, name)
		os.MkdirAll(filepath.Dir(file), 0o755)
		os.WriteFile(file, nil, mode)
		os.Chmod(file, mode)
		return file
	}
	tools := filepath.Join(base, "tools[1]")
	good := put("tools[1]/a/tool.sh", 0o755)
	put("tools1/a/tool.sh", 0o755)
	writable := put("tools[1]/w/tool.sh", 0o775)
	outside := put("outside.sh", 0o755)
	os.Symlink(outside, filepath.Join(tools, "out.sh"))
	os.Symlink(good, filepath.Join(tools, "in.sh"))
	os.Symlink(tools, filepath.Join(base, "link"))
	for script, want := range map[string]error{
		good: nil, filepath.Join(tools, "in.sh"): nil,
		filepath.Join(base, "link", "a", "tool.sh"): nil,
		writable: ErrScriptPath, outside: ErrScriptPath, filepath.Join(tools, "out.sh"): ErrScriptPath,
		filepath.Join(base, "tools1", "a", "tool.sh"): ErrScriptPath,
		tools + "/../outside.sh":                      ErrScriptPath,
		tools + "/../none.sh":                         ErrScriptPath,
		tools + "/a":                                  ErrScriptMissing,
		tools:                                         ErrScriptPath,
		filepath.Join(tools, "none", "tool.sh"):       ErrScriptMissing,
	} {
		if err := CheckScript(tools, script); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", script, err, want)
		}
	}
}
