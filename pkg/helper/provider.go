package helper

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/files/swap"
	"mcp-bash/pkg/files/trust"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/policy"
	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/provider/builtin"
	"mcp-bash/pkg/provider/uitemplate"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
)

// A ReadFunc reads the content of a URI with the provider of a name. The error can be a
// [*provider.Failure].
type ReadFunc func(name, uri string) ([]byte, error)

// Provider is "provider NAME URI". It prints the complete content of a resource on stdout, or an error on stderr.
// RES-60 lists the exit codes.
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
	dir, _ := os.Getwd()
	root := cmp.Or(env["MCPBASH_PROJECT_ROOT"], dir)
	folder := func(variable, name string) string { return cmp.Or(env[variable], filepath.Join(root, name)) }
	return provider.Config{
		Env: env, Root: root, Resources: folder("MCPBASH_RESOURCES_DIR", "resources"),
		Tools: folder("MCPBASH_TOOLS_DIR", "tools"), UI: folder("MCPBASH_UI_DIR", "ui"),
		FindPage: findPage(env, root, dir),
	}
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

// uiTemplate prints the document of a UI template, whose configuration is on standard input.
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

// findPage returns a function that finds the registry entries of pages as a server does, without writing. Only the
// provider ui uses the registry.
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

// maxRequest is the maximum size of a request's description, in bytes.
const maxRequest = 64 << 10

// httpRequest sends the HTTP request on standard input. The first line is JSON with the method,
// url, header, follow (redirects) and limit (bytes of the answer). The rest is the content of the
// request. It prints a line with the status code and the length of the content, and the content as
// it arrives. The length is -1 if the server does not announce it. The exit code is 1 if the server
// does not answer, or not completely.
func httpRequest(stdin io.Reader, stdout, stderr io.Writer) int {
	in := bufio.NewReaderSize(stdin, maxRequest)
	line, err := in.ReadSlice('\n')
	spec, invalid := rawjson.Check(bytes.Clone(line)) // the next read changes line
	if err != nil || invalid != nil {
		cli.Printf(stderr, "http: invalid request\n")
		return exitUsage
	}
	if err := send(spec, in, stdout); err != nil {
		cli.Printf(stderr, "%s\n", err)
		return exitNo
	}
	return exitOK
}

func send(spec json.RawMessage, body io.Reader, stdout io.Writer) error {
	content, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(rawjson.TextOf(spec, "method"), rawjson.TextOf(spec, "url"), bytes.NewReader(content))
	if err != nil {
		return err
	}
	for name, value := range rawjson.All(rawjson.Get(spec, "header")) {
		text, _ := rawjson.Text(value)
		request.Header.Set(name, text)
	}
	request.Header.Set("User-Agent", "mcp-bash/"+cli.Version)
	client := http.Client{}
	if !rawjson.True(rawjson.Get(spec, "follow")) {
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	response, err := client.Do(request)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err // without the URL, which the caller knows
	}
	if err != nil {
		return err
	}
	defer response.Body.Close()
	limit := int64(rawjson.PositiveInt(rawjson.Get(spec, "limit")))
	if _, err := fmt.Fprintf(stdout, "%d %d\n", response.StatusCode, response.ContentLength); err != nil {
		return err
	}
	_, err = io.Copy(stdout, io.LimitReader(response.Body, limit))
	return err
}

// physicalPath resolves a path. If there are roots, it also checks that one of them contains the path.
func physicalPath(args []string, _ []byte) ([]byte, int) {
	path := physical(args[0])
	roots := args[1:]
	for _, root := range roots {
		if fsys.Within(filepath.FromSlash(physical(root)), filepath.FromSlash(path)) {
			return []byte(path), exitOK
		}
	}
	if len(roots) > 0 {
		return []byte(path), exitNo
	}
	return []byte(path), exitOK
}

// physical returns an absolute path without links, dots and redundant slashes. It does not change parts that do not
// exist, or a path in a ring of links.
func physical(path string) string {
	if !filepath.IsAbs(path) {
		here, err := os.Getwd()
		if err != nil {
			here = "/"
		}
		path = here + "/" + path
	}
	resolved, ok := fsys.Follow(path, true)
	if !ok {
		resolved = filepath.Clean(path)
	}
	return filepath.ToSlash(resolved)
}

// exchange exchanges two paths. If the system cannot, install.sh renames them in two steps, and
// reports errors itself.
func exchange(args []string, _ []byte) ([]byte, int) {
	if err := swap.Exchange(args[0], args[1]); err != nil {
		return nil, exitNo
	}
	return nil, exitOK
}

// toolPolicy makes the checks of the built-in policy. The input is the tool's registry entry, as policy.sh was given
// it.
func toolPolicy(args []string, input []byte) ([]byte, int) {
	list := policy.ReadList(args[1], args[2], args[3])
	refusal := list.CheckDefault(args[0], json.RawMessage(input), args[4], args[5])
	if refusal == nil {
		return nil, exitOK
	}
	return append([]byte(refusal.Message+"\n"), refusal.Data...), exitNo
}

// toolPath checks that a script may run as a tool. Its arguments are the project, the directory of the tools and the
// script.
func toolPath(args []string, _ []byte) ([]byte, int) {
	script, err := filepath.Abs(args[2])
	if err != nil || trust.CheckScript(args[0], args[1], script) != nil {
		return nil, exitNo
	}
	return nil, exitOK
}
