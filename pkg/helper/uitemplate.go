package helper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider/uitemplate"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
)

// uiTemplate prints the document of a UI template, whose configuration is on
// standard input (RES-389).
func uiTemplate(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	known := strings.Join(uitemplate.Names(), ", ")
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		cli.Printf(stderr, "ui-template: give the name of one template: %s\n", known)
		return exitUsage
	}
	var config []byte
	if !cli.IsTerminal(stdin) {
		var err error
		if config, err = readText(stdin); err != nil {
			cli.Printf(stderr, "ui-template: %v\n", err)
			return exitUsage
		}
	}
	if len(bytes.TrimSpace(config)) == 0 {
		config = []byte("{}")
	}
	document, err := uitemplate.Render(args[0], config)
	var unknown uitemplate.UnknownError
	switch {
	case errors.As(err, &unknown):
		cli.Printf(stderr, "%v\nThere are: %s\n", err, known)
		return exitNo
	case err != nil:
		cli.Printf(stderr, "ui-template: %v\n", err)
		return exitUsage
	}
	if _, err := stdout.Write(document); err != nil {
		cli.Printf(stderr, "ui-template: %v\n", err)
		return exitUsage
	}
	return exitOK
}

// findPage returns a function that finds the registry entries of pages as a server does, without
// writing. Only the provider ui uses the registry (RES-2, RES-321).
func findPage(env project.Env, root, dir string) func(ctx context.Context, name string) (json.RawMessage, error) {
	return func(ctx context.Context, name string) (json.RawMessage, error) {
		p := project.Open(root, env, dir, func(string) {})
		list, err := registry.NewCatalog(p, registry.Options{ReadOnly: true}).List(ctx,
			kinds.UIResources)
		if err != nil {
			return nil, err
		}
		item, _ := list.Find(name)
		return item.JSON, nil
	}
}
