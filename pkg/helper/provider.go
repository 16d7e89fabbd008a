package helper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/builtin"
)

// A ReadFunc reads the content of a URI with the provider of a name. The error can be a
// [*provider.Failure].
type ReadFunc func(name, uri string) ([]byte, error)

// Provider is "provider NAME URI" (RES-2). It prints the complete content of a resource on stdout,
// or an error on stderr. RES-60 lists the exit codes.
func Provider(args []string, read ReadFunc, stdout, stderr io.Writer) int {
	if len(args) == 0 || len(args) > 2 {
		fmt.Fprintln(stderr, "Usage: mcp-bash provider NAME URI, NAME being file, https, git, echo or ui, "+
			"or a provider of the project")
		return provider.Invalid
	}
	data, err := read(args[0], append(args, "")[1])
	if err != nil {
		return sayFailure(err, stderr)
	}
	if _, err := stdout.Write(data); err != nil {
		cli.Printf(stderr, "%s\n", err)
		return exitNo
	}
	return exitOK
}

// readBuiltin reads with a built-in provider, configured by this process's environment. The caller
// limits the size.
func readBuiltin(name, uri string) ([]byte, error) {
	source := builtin.New(name, providerConfig(project.OSEnv()))
	if source == nil {
		return nil, fmt.Errorf("unsupported resource provider %q; there are file, https, git, echo and ui", name)
	}
	return source.Read(context.Background(), uri, math.MaxInt32)
}

func providerConfig(env project.Env) provider.Config {
	c := provider.Config{Env: env, Root: env["MCPBASH_PROJECT_ROOT"], Resources: env["MCPBASH_RESOURCES_DIR"]}
	dir, _ := os.Getwd()
	if c.Root == "" {
		c.Root = dir
	}
	c.Resources = cmp.Or(c.Resources, filepath.Join(c.Root, "resources"))
	c.Tools, c.UI = env["MCPBASH_TOOLS_DIR"], env["MCPBASH_UI_DIR"]
	c.Tools = cmp.Or(c.Tools, filepath.Join(c.Root, "tools"))
	c.UI = cmp.Or(c.UI, filepath.Join(c.Root, "ui"))
	c.FindPage = findPage(env, c.Root, dir)
	return c
}

func sayFailure(err error, stderr io.Writer) int {
	failure := &provider.Failure{Status: exitNo, Message: cli.Line(err.Error())}
	errors.As(err, &failure)
	text := failure.Message
	if text == "" { // the text is for people only
		text = map[int]string{
			exitNo: "Resource provider failed", provider.Denied: "Resource outside allowed roots",
			provider.NotFound: "Resource not found",
		}[failure.Status]
	}
	cli.Printf(stderr, "%s\n", cli.Lines(cli.Printable(text))) // a refused host takes two lines
	return failure.Status
}
