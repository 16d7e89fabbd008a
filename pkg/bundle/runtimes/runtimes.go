// Package runtimes provides the parts of mcp-bash in a bundle or a vendored project. These are the server's binary for
// each system, scripts that start the right one, and the installation tree.
package runtimes

import (
	"bytes"
	"debug/buildinfo"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/project"
)

// A Target is a system that a binary runs on, with Go's names.
type Target struct{ OS, Arch string }

// Targets are the systems of releases, in the order of bundles.
var Targets = []Target{
	{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

// Platforms are the systems by their names in bundles, in their order.
var Platforms = []string{"darwin", "linux", "win32"}

// Host is the system of this process.
var Host = Target{runtime.GOOS, runtime.GOARCH}

func (t Target) String() string { return t.OS + "-" + t.Arch }

// Platform returns the system's name in bundles.
func (t Target) Platform() string {
	if t.OS == "windows" {
		return "win32"
	}
	return t.OS
}

// CPU returns the architecture's name in Node.
func (t Target) CPU() string {
	if t.Arch == "amd64" {
		return "x64"
	}
	return t.Arch
}

// Node returns the system's name in Node, such as win32-x64.
func (t Target) Node() string { return t.Platform() + "-" + t.CPU() }

// Binary returns the name of the server's program on the system.
func (t Target) Binary() string {
	if t.OS == "windows" {
		return "mcp-bash.exe"
	}
	return "mcp-bash"
}

// Tag is the tag of this version's release.
const Tag = "v" + cli.Version

// Archive returns the name of the system's archive in the release with a tag.
func (t Target) Archive(tag string) string {
	suffix := ".tar.gz"
	if t.OS == "windows" {
		suffix = ".zip"
	}
	return "mcp-bash-" + tag + "-" + t.String() + suffix
}

// Path returns the path of the program below the bin directory of a tree.
func (t Target) Path() string { return t.String() + "/" + t.Binary() }

// Select returns the targets of a platform (or of all platforms, for "all") with the given architectures. If arches is
// empty, it returns the common architectures of each platform.
func Select(platform string, arches []string) (list []Target) {
	for _, t := range Targets {
		usual := t != (Target{"windows", "arm64"})
		if platform != "all" && platform != t.Platform() {
			continue
		}
		if len(arches) == 0 && usual || slices.Contains(arches, t.Arch) {
			list = append(list, t)
		}
	}
	return list
}

// A Binary is the server's program for a target.
type Binary struct {
	Target
	File string // the path of the program
	Size int64
}

const maxBinary = 128 << 20

const serverPackage = "mcp-bash/cmd/mcp-bash"

// check returns the program in a file if it is the server of this release for a target. It
// reads the file instead of running it, because the program can be for another system.
func check(file string, t Target) (*Binary, error) {
	text, err := boundedfile.Read(file, maxBinary)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	built, err := buildinfo.Read(bytes.NewReader(text))
	if err != nil || built.Path != serverPackage {
		return nil, fmt.Errorf("%s: not mcp-bash", file)
	}
	made := Target{}
	for _, s := range built.Settings {
		switch s.Key {
		case "GOOS":
			made.OS = s.Value
		case "GOARCH":
			made.Arch = s.Value
		}
	}
	if made != t {
		return nil, fmt.Errorf("%s: for %s", file, made)
	}
	if !bytes.Contains(text, []byte(cli.Stamp())) {
		return nil, fmt.Errorf("%s: not of version %s", file, cli.Version)
	}
	return &Binary{t, file, int64(len(text))}, nil
}

// The scripts that start the server. They run in any POSIX shell.
var (
	//go:embed launch/run-server.sh
	runServer []byte
	//go:embed launch/mcp-bash.sh
	selector []byte
	//go:embed launch/mcp-jq.sh
	jqSelector []byte
)

// Dir is the directory of the runtime's files, next to the launcher.
const Dir = ".mcp-bash"

// Launcher returns run-server.sh, which clients start.
func Launcher(name string) mcpb.File { return mcpb.Bytes(name, true, runServer) }

// Layout returns the files of the runtime, with names below dir.
func Layout(dir string, tree project.Tree, binaries []Binary) []mcpb.File {
	list := []mcpb.File{
		mcpb.Bytes(dir+"/bin/mcp-bash", true, selector),
		mcpb.Bytes(dir+"/bin/mcp-jq", true, jqSelector),
	}
	list = append(list, scripts(dir, tree)...)
	for _, b := range binaries {
		list = append(list, b.Program(dir+"/bin/"+b.Path()))
	}
	mcpb.Sort(list)
	return list
}

// Tree returns the files of an installation for one system, with names below dir.
func Tree(dir string, tree project.Tree, b Binary) []mcpb.File {
	return append(scripts(dir, tree), b.Program(path.Join(dir, "bin", b.Binary())))
}

func scripts(dir string, tree project.Tree) (list []mcpb.File) {
	for name, content := range tree {
		list = append(list, mcpb.Bytes(path.Join(dir, name), strings.HasPrefix(name, "providers/"), content))
	}
	return list
}

// Program returns the program as a file of a product.
func (b Binary) Program(name string) mcpb.File {
	open := func() (io.ReadCloser, error) { return boundedfile.Open(b.File) }
	return mcpb.File{Name: name, Exec: true, Size: b.Size, Open: open}
}
