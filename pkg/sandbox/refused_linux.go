package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/run/confine"
)

// isDormant reports whether a file is a script that nobody can start, because it lacks the execute bit.
func isDormant(file string, mode fs.FileMode) bool {
	if !mode.IsRegular() || mode&0o111 != 0 {
		return false
	}
	head, err := boundedfile.ReadHead(file, 2)
	return err == nil && string(head) == "#!"
}

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
	uses := []confine.Need{confine.MayRead, confine.MayWrite, confine.MayChange}
	refuses := func(need confine.Need) bool { return rules.Refuses(need, real) }
	switch {
	case info.IsDir():
		uses = []confine.Need{confine.MayList, confine.MayChange}
	case !refuses(confine.MayRead) && isDormant(real, info.Mode()):
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
