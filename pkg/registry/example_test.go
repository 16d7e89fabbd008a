package registry_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
)

// The example lists the tools of a project.
func ExampleCatalog_List() {
	root, _ := os.MkdirTemp("", "demo")
	defer os.RemoveAll(root)
	os.MkdirAll(filepath.Join(root, "tools", "hello"), 0o755)
	os.WriteFile(filepath.Join(root, "tools", "hello", "tool.sh"), []byte("# mcp: {\"description\":\"Say hello\"}\n"),
		0o755)

	p := project.Open(root, project.Env{}, root, func(warning string) { fmt.Println(warning) })
	catalog := registry.NewCatalog(p, registry.Options{})
	tools, err := catalog.List(context.Background(), kinds.Tools)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range tools.Items {
		fmt.Println(item.Name)
	}
	// Output:
	// hello
}
