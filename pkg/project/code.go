package project

import (
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/run/code"
)

// Place returns the directory of a place in the table of package code. It returns "" for a place that is not a single
// directory of the project.
func (p *Project) Place(place code.Place) string {
	switch place {
	case code.Root:
		return p.Root
	case code.Above:
		return filepath.Dir(p.Root)
	case code.Tools:
		return p.Tools
	case code.Prompts:
		return p.Prompts
	case code.Resources:
		return p.Resources
	case code.Completions:
		return p.Completions
	case code.Server:
		return p.Server
	case code.Registry:
		return p.Registry
	case code.Providers:
		return p.Providers
	case code.UI:
		return p.UI
	case code.UserHome:
		return p.Env["HOME"]
	}
	return ""
}

// RunsNext returns the files and folders of the project with code that our commands run or believe. No confined tool
// may write to them (CF-14). The paths may have links, and need not exist.
func (p *Project) RunsNext() (list []string) {
	for _, row := range code.Rows {
		if row.Place == code.Repository {
			list = append(list, repository(p.Root)...)
			continue
		}
		for _, path := range row.Locations(p) {
			if filepath.IsAbs(path) {
				list = append(list, path)
			}
		}
	}
	return list
}

// repository returns the directories with the hooks and settings of the Git repository around a folder. Without a
// repository it returns the directory that Git would create.
func repository(root string) []string {
	for dir := root; ; dir = filepath.Dir(dir) {
		git := filepath.Join(dir, ".git")
		info, err := os.Lstat(git)
		switch {
		case err != nil && dir != filepath.Dir(dir):
			continue
		case err != nil:
			return []string{filepath.Join(root, ".git")}
		case !info.Mode().IsRegular():
			return []string{git}
		}
		return append([]string{git}, gitDirectories(git)...)
	}
}

// gitDirectories returns the directories of a worktree with the given .git file: its separate one, and the one that
// all worktrees share.
func gitDirectories(file string) (list []string) {
	const maxSize = 4096 // bytes
	lead := func(file, prefix string) string {
		text, err := boundedfile.Read(file, maxSize)
		path, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
		switch {
		case err != nil || !ok || path == "":
			return ""
		case filepath.IsAbs(path):
			return filepath.Clean(path)
		}
		return filepath.Join(filepath.Dir(file), path)
	}
	own := lead(file, "gitdir: ")
	if own == "" {
		return nil
	}
	list = append(list, own)
	if shared := lead(filepath.Join(own, "commondir"), ""); shared != "" {
		list = append(list, shared)
	}
	return list
}
