package runtimes

import (
	_ "embed"
	"io"
	"path"
	"strings"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/project"
)

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

// Launcher returns run-server.sh, which clients start (CLI-1423).
func Launcher(name string) mcpb.File { return mcpb.Bytes(name, true, runServer) }

// Layout returns the files of the runtime, with names below dir (CLI-1421).
func Layout(dir string, tree project.Tree, binaries []Binary) []mcpb.File {
	list := []mcpb.File{
		mcpb.Bytes(dir+"/bin/mcp-bash", true, selector),
		mcpb.Bytes(dir+"/bin/mcp-jq", true, jqSelector),
	}
	list = append(list, scripts(dir, tree)...)
	for _, b := range binaries {
		list = append(list, b.program(dir+"/bin/"+b.Path()))
	}
	mcpb.Sort(list)
	return list
}

// Tree returns the files of an installation for one system, with names below dir.
func Tree(dir string, tree project.Tree, b Binary) []mcpb.File {
	return append(scripts(dir, tree), b.program(path.Join(dir, "bin", b.Binary())))
}

func scripts(dir string, tree project.Tree) (list []mcpb.File) {
	for name, content := range tree {
		list = append(list, mcpb.Bytes(path.Join(dir, name), strings.HasPrefix(name, "providers/"), content))
	}
	return list
}

func (b Binary) program(name string) mcpb.File {
	open := func() (io.ReadCloser, error) { return boundedfile.Open(b.File) }
	return mcpb.File{Name: name, Exec: true, Size: b.Size, Open: open}
}
