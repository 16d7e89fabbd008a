package helper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"mcp-bash/pkg/builtin"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/provider"
)

// readProvider is "provider NAME URI" (resources RES-2): the content of a
// resource on stdout, whole or not at all, or what is wrong on stderr. The exit
// codes are those of RES-60. It knows nothing but its environment, and how much
// may be read is for those to say who take it.
func readProvider(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 || len(args) > 2 {
		fmt.Fprintln(stderr, "Usage: mcp-bash provider NAME URI, NAME being file, https, git, echo or ui")
		return provider.Invalid
	}
	source := builtin.New(args[0], providerConfig(project.OSEnv()))
	if source == nil {
		fmt.Fprintf(stderr, "Unsupported resource provider %q; there are file, https, git, echo and ui\n", args[0])
		return exitNo
	}
	data, err := source.Read(context.Background(), append(args, "")[1], math.MaxInt32)
	if err != nil {
		return sayFailure(err, stderr)
	}
	if _, err := stdout.Write(data); err != nil {
		fmt.Fprintln(stderr, err)
		return exitNo
	}
	return exitOK
}

// providerConfig is what an environment says of where the project is.
func providerConfig(env project.Env) builtin.Config {
	c := builtin.Config{Env: env, Root: env["MCPBASH_PROJECT_ROOT"], Resources: env["MCPBASH_RESOURCES_DIR"]}
	dir, _ := os.Getwd()
	if c.Root == "" {
		c.Root = dir
	}
	if c.Resources == "" {
		c.Resources = filepath.Join(c.Root, "resources")
	}
	c.Tools, c.UI = env["MCPBASH_TOOLS_DIR"], env["MCPBASH_UI_DIR"]
	if c.Tools == "" {
		c.Tools = filepath.Join(c.Root, "tools")
	}
	if c.UI == "" {
		c.UI = filepath.Join(c.Root, "ui")
	}
	c.FindPage = findPage(env, c.Root, dir)
	return c
}

func sayFailure(err error, stderr io.Writer) int {
	failure := &provider.Failure{Status: exitNo, Message: err.Error()}
	errors.As(err, &failure)
	text := failure.Message
	if text == "" { // nobody but a person reads it
		text = map[int]string{provider.Denied: "Resource outside allowed roots", provider.NotFound: "Resource not found"}[failure.Status]
	}
	fmt.Fprintln(stderr, text)
	return failure.Status
}
