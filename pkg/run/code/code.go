// Package code lists, in one table, every file of a project that our commands run, source or trust. Package script
// starts and sources only a [File], and only this package makes one. So a script that is not in the table cannot be
// started. Package sandbox derives from the table which files a confined tool cannot write.
package code

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A Place is a location of files in the table.
type Place int

// The places. A [Layout] returns their paths.
const (
	Root  Place = iota // the project
	Above              // the folder that contains the project: the unpacked bundle
	Tools              // this and the next seven are directories of a project, which settings may move
	Prompts
	Resources
	Completions
	Server // server.d
	Registry
	Providers
	UI
	UserHome     // the user's home directory
	Repository   // the Git repository that contains the project
	Listed       // anywhere in the project: a registry entry names the file
	Chosen       // anywhere: the operator names the file
	Installation // the SDK and our programs
	Private      // the private directory of the run
	Search       // the directories of PATH
	Used         // anywhere: the first line of a script, or confine.exec, names the file
)

// A Kind is a row of the table.
type Kind int

// The kinds that have names. The other rows of the table follow them.
const (
	Tool Kind = iota
	Provider
	ListedCompletion
	PromptCompletion
	ResourceCompletion
	Policy
	Register
	Env
	HealthChecks
	RegisterList
	ServerMeta
	RootsFile
	Lock
	BundleConf
	Launcher
	Vendored
)

// A Row describes the location of one kind of file.
type Row struct {
	What  string // description
	Place Place
	// Paths are below the place, with slashes. nil means the whole place. The last element may be a
	// pattern as for [path.Match].
	Paths []string
}

var table = [...]Row{
	Tool:               {"the scripts of tools, with their metadata and smoke tests", Tools, nil},
	Provider:           {"the scripts that read resources", Providers, nil},
	ListedCompletion:   {"completion scripts that the registry lists", Listed, nil},
	PromptCompletion:   {"completion scripts next to prompts", Prompts, nil},
	ResourceCompletion: {"completion scripts next to resources", Resources, nil},
	Policy:             {"the policy", Server, []string{"policy.sh"}},
	Register:           {"the script that registers items", Server, []string{"register.sh"}},
	Env:                {"the environment of the server", Server, []string{"env.sh"}},
	HealthChecks:       {"the health checks", Server, []string{"health-checks.sh"}},
	RegisterList:       {"the list of registered items", Server, []string{"register.json"}},
	ServerMeta:         {"the metadata of the server", Server, []string{"server.meta.json"}},
	RootsFile:          {"the roots of tools", Root, []string{"config/roots.json"}},
	Lock:               {"the lock of the project", Root, []string{"mcp-bash.lock.json"}},
	BundleConf:         {"the settings of bundles", Root, []string{"mcpb.conf"}},
	Launcher:           {"the script that starts the server", Root, []string{"run-server.sh"}},
	Vendored:           {"the server, as bundles and mcp-bundle vendor include it", Root, []string{".mcp-bash"}},

	{"completion scripts", Completions, nil},
	{"pages that clients run, with their resources", UI, nil},
	{"shell code that tools share", Root, []string{"lib"}},
	{"the other settings of the server", Server, nil},
	{"the lists of the project's items", Registry, nil},
	{"the other settings of the project", Root, []string{"config"}},
	{"the list of files that bundles leave out", Root, []string{".mcpbignore"}},
	{"the manifest of the bundle that holds the project", Above, []string{"manifest.json"}},
	{"scripts in the project's own folder, such as a wrapper", Root, []string{"*.sh"}},
	{"Git's hooks and settings", Repository, nil},
	{"the servers that clients start for this project, and hooks of clients", Root, []string{
		".mcp.json", ".claude", ".cursor", ".vscode", ".codex", ".gemini", ".zed", ".continue", ".kiro", "opencode.json",
		".qwen", ".factory", ".amp", ".augment", ".kilo", "kilo.jsonc", "kilo.json", ".crush.json", "crush.json", ".junie",
		".roo", ".warp", ".amazonq",
	}},
	{"login profiles, which launchers and wrappers source", UserHome, []string{
		".bash_profile", ".bash_login", ".bashrc", ".profile", ".zprofile", ".zshenv", ".zshrc", ".zlogin",
	}},
	{"files that the operator names: --source, MCPBASH_LOGIN_PROFILE, a JSON tool", Chosen, nil},
	{"the SDK", Installation, nil},
	{"files that the server hands to scripts", Private, nil},
	{"programs that PATH finds", Search, nil},
	{"interpreters, and programs that tools declare", Used, nil},
}

// Rows yields the table.
func Rows(yield func(Kind, *Row) bool) {
	for k := range table {
		if !yield(Kind(k), &table[k]) {
			return
		}
	}
}

// A Layout knows where the places of the table are in a project. Package project implements it.
type Layout interface {
	// Place returns the absolute path of a place, or "" if it is not a single directory.
	Place(Place) string
}

// Locations returns the files and folders of a row, or nil if the layout does not know the place.
func (r *Row) Locations(at Layout) []string {
	place := at.Place(r.Place)
	switch {
	case place == "":
		return nil
	case r.Paths == nil:
		return []string{place}
	}
	var list []string
	for _, path := range r.Paths {
		path = filepath.Join(place, filepath.FromSlash(path))
		if strings.Contains(filepath.Base(path), "*") {
			list = append(list, matches(path)...)
			continue
		}
		list = append(list, path)
	}
	return list
}

func matches(pattern string) (list []string) {
	dir, pattern := filepath.Split(pattern)
	entries, _ := os.ReadDir(dir) // an unreadable directory has no matches
	for _, e := range entries {
		if ok, _ := path.Match(pattern, e.Name()); ok {
			list = append(list, dir+e.Name())
		}
	}
	return list
}

// A File is a file that may be started, sourced or trusted. The zero File names none.
type File struct{ path string }

// Path returns the absolute path of the file.
func (f File) Path() string { return f.path }

// In returns the file of a kind that has a single file, such as [Policy].
func (k Kind) In(at Layout) File {
	if list := table[k].Locations(at); len(list) == 1 {
		return File{list[0]}
	}
	return File{}
}

// Below returns a file of a kind that has many files, such as [Tool]. The path has slashes and is
// relative to the place. [trust.CheckScript] refuses paths that lead out of it.
func (k Kind) Below(at Layout, path string) File {
	where := table[k].Place
	if where == Listed {
		where = Root
	}
	place := at.Place(where)
	if place == "" {
		return File{}
	}
	return File{filepath.Join(place, filepath.FromSlash(path))}
}

// OperatorFile returns a file that the operator names on a command line or in the environment.
func OperatorFile(path string) File { return File{path} }

// PrivateCopy returns the copy of a file in a directory that only this user can access.
func PrivateCopy(_ File, path string) File { return File{path} }
