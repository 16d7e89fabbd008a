// Package code lists, in one table, every file of a project that our commands run, source or trust.
// Package script starts and sources only a [File], and only this package makes one. So a script
// that is not in the table cannot be started. Package sandbox derives from the table which files a
// confined tool cannot write (CF-14).
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

// The kinds of files.
const (
	Tool Kind = iota
	Provider
	Completion
	ListedCompletion
	PromptCompletion
	ResourceCompletion
	Page
	Library
	Policy
	Register
	Env
	HealthChecks
	RegisterList
	ServerMeta
	ServerSettings
	RegistryCache
	RootsFile
	Settings
	Lock
	BundleConf
	BundleIgnore
	BundleManifest
	Launcher
	Wrapper
	Vendored
	GitHook
	ClientFiles
	Profiles
	Named
	SDK
	HandedOver
	Program
	Interpreter
	kinds
)

// A Row describes the location of one kind of file.
type Row struct {
	What  string // description
	Place Place
	// Paths are below the place, with slashes. nil means the whole place. The last element may be a
	// pattern as for [path.Match].
	Paths []string
}

var table = [kinds]Row{
	Tool:               {"the scripts of tools, with their metadata and smoke tests", Tools, nil},
	Provider:           {"the scripts that read resources", Providers, nil},
	Completion:         {"completion scripts", Completions, nil},
	ListedCompletion:   {"completion scripts that the registry lists", Listed, nil},
	PromptCompletion:   {"completion scripts next to prompts", Prompts, nil},
	ResourceCompletion: {"completion scripts next to resources", Resources, nil},
	Page:               {"pages that clients run, with their resources", UI, nil},
	Library:            {"shell code that tools share", Root, []string{"lib"}},

	Policy:         {"the policy", Server, []string{"policy.sh"}},
	Register:       {"the script that registers items", Server, []string{"register.sh"}},
	Env:            {"the environment of the server", Server, []string{"env.sh"}},
	HealthChecks:   {"the health checks", Server, []string{"health-checks.sh"}},
	RegisterList:   {"the list of registered items", Server, []string{"register.json"}},
	ServerMeta:     {"the metadata of the server", Server, []string{"server.meta.json"}},
	ServerSettings: {"the other settings of the server", Server, nil},
	RegistryCache:  {"the lists of the project's items", Registry, nil},
	RootsFile:      {"the roots of tools", Root, []string{"config/roots.json"}},
	Settings:       {"the other settings of the project", Root, []string{"config"}},

	Lock:           {"the lock of the project", Root, []string{"mcp-bash.lock.json"}},
	BundleConf:     {"the settings of bundles", Root, []string{"mcpb.conf"}},
	BundleIgnore:   {"the list of files that bundles leave out", Root, []string{".mcpbignore"}},
	BundleManifest: {"the manifest of the bundle that holds the project", Above, []string{"manifest.json"}},
	Launcher:       {"the script that starts the server", Root, []string{"run-server.sh"}},
	Wrapper:        {"scripts in the project's own folder, such as a wrapper", Root, []string{"*.sh"}},
	Vendored:       {"the server, as bundles and mcp-bundle vendor include it", Root, []string{".mcp-bash"}},
	GitHook:        {"Git's hooks and settings", Repository, nil},

	ClientFiles: {"the servers that clients start for this project, and hooks of clients", Root, []string{
		".mcp.json", ".claude", ".cursor", ".vscode", ".codex", ".gemini", ".zed", ".continue", ".kiro", "opencode.json",
		".qwen", ".factory", ".amp", ".augment", ".kilo", "kilo.jsonc", "kilo.json", ".crush.json", "crush.json", ".junie",
		".roo", ".warp", ".amazonq",
	}},
	Profiles: {"login profiles, which launchers and wrappers source", UserHome, []string{
		".bash_profile", ".bash_login", ".bashrc", ".profile", ".zprofile", ".zshenv", ".zshrc", ".zlogin",
	}},
	Named: {"files that the operator names: --source, MCPBASH_LOGIN_PROFILE, a JSON tool", Chosen, nil},

	SDK:         {"the SDK", Installation, nil},
	HandedOver:  {"files that the server hands to scripts", Private, nil},
	Program:     {"programs that PATH finds", Search, nil},
	Interpreter: {"interpreters, and programs that tools declare", Used, nil},
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

// OperatorFile returns a file of kind [Named]: the operator names it on a command line or in the environment.
func OperatorFile(path string) File { return File{path} }

// PrivateCopy returns the copy of a file in a directory that only this user can access.
func PrivateCopy(_ File, path string) File { return File{path} }
