package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
)

// refusal returns what a domain refuses of a path.
func (h *Confinement) refusal(path string) Refusal {
	rules, err := h.sandbox.Kernel().Rules(h.Profile)
	if err != nil {
		return NotRefused
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		if real, err = filepath.EvalSymlinks(filepath.Dir(path)); err == nil &&
			rules.Refuses(confine.MayChange, filepath.Join(real, filepath.Base(path))) {
			return UseRefused
		}
		return NotRefused
	}
	info, err := os.Stat(real)
	if err != nil {
		return NotRefused
	}
	head, _ := boundedfile.ReadHead(real, 8)
	uses := []confine.Need{confine.MayRead, confine.MayWrite, confine.MayChange}
	refuses := func(need confine.Need) bool { return rules.Refuses(need, real) }
	switch {
	case info.IsDir():
		uses = []confine.Need{confine.MayList, confine.MayChange}
	case !refuses(confine.MayRead) && script.IsDormant(info.Mode(), head):
		return NotRefused
	}
	switch {
	case info.Mode().IsRegular() && info.Mode()&0o111 != 0 && refuses(confine.MayStart):
		return StartRefused
	case info.Mode()&(fs.ModeSocket|fs.ModeCharDevice) == 0 && slices.ContainsFunc(uses, refuses):
		return UseRefused
	}
	return NotRefused
}
