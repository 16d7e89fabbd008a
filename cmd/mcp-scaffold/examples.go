package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/wrap"
)

// An exampleResult is the outcome of one example of a recipe.
type exampleResult struct {
	Description string `json:"description"`
	Differs     string `json:"differs,omitempty"` // the difference from the recipe
}

// check runs the examples of a recipe with the real program, as the server would, and prints what differs from the
// recipe (WRAP-18). The tool is in a temporary project. Its only root is an empty folder, or that of --directory.
func (w *wrapper) check(ctx context.Context, words []string) error {
	dir, err := os.MkdirTemp("", "mcp-check.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	root := w.o.directory
	if root == "" {
		root = filepath.Join(dir, "root")
		if err := os.Mkdir(root, 0o700); err != nil {
			return err
		}
	}
	if root, err = fsys.Physical(root); err != nil {
		return cli.Failf(cli.CodeNotFound, "--directory %s: %v", w.o.directory, fsys.Cause(err))
	}
	server, err := scaffold.New(ctx, dir, "check", false, func(*scaffold.Server) error { return nil })
	if err != nil {
		return err
	}
	w.p = project.Open(server.Root, w.p.Env, server.Root, func(string) {})
	tools, err := w.tools(ctx, words)
	if err != nil {
		return err
	}
	if len(tools[0].Recipe.Examples) == 0 {
		return cli.Failf(cli.CodeInvalid, "%s has no examples; add two calls that work", w.o.recipe)
	}
	if _, err := scaffold.Wrap(ctx, w.p, tools, scaffold.WrapOptions{}, func(string) {}); err != nil {
		return err
	}
	var results []exampleResult
	for _, e := range tools[0].Recipe.Examples {
		differs, err := w.runExample(ctx, tools[0], e, root)
		if err != nil {
			return err
		}
		results = append(results, exampleResult{e.Description, differs})
	}
	return w.printExamples(results)
}

// A callResult is the result of a call, or the message of its error.
type callResult struct {
	IsError bool
	Content []struct{ Text string }
	Message string
}

// runExample makes the call of an example. It returns what differs from the recipe, or "".
func (w *wrapper) runExample(ctx context.Context, t *wrap.Tool, e recipe.Example, root string) (string, error) {
	for name := range pathsOf(t.Recipe, e, "read", "both") {
		if _, err := os.Lstat(filepath.Join(root, name)); err != nil {
			return fmt.Sprintf("not run: there is no %s; name a folder that has it with --directory", name), nil
		}
	}
	uri := (&url.URL{Scheme: "file", Path: filepath.ToSlash(root)}).String()
	uri = strings.ReplaceAll(uri, ",", "%2C") // commas separate roots
	text, err := scaffold.RunTool(ctx, w.p, t.Name, "--full", "--roots", uri, "--args", string(encoded(e.Arguments)))
	result := callResult{}
	if json.Unmarshal(text, &result) != nil || err != nil && result.Message == "" {
		return "", cmp.Or(err, errors.New("mcp-runtool printed no result"))
	}
	return difference(t.Recipe, e, result, root), nil
}

// pathsOf yields the paths of an example that have one of some kinds of access. A value that a recipe excepts by unless
// is not a path.
func pathsOf(r *recipe.Recipe, e recipe.Example, access ...recipe.Access) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, a := range r.Arguments {
			if a.Type != recipe.Path || !slices.Contains(access, cmp.Or(a.Access, "read")) {
				continue
			}
			excepted, err := regexp.CompilePOSIX("^(" + a.Unless + ")$")
			values, isList := e.Arguments[a.Name].([]any)
			if !isList {
				values = []any{e.Arguments[a.Name]}
			}
			for _, v := range values {
				name, ok := v.(string)
				if ok = ok && name != "-" && (err != nil || !excepted.MatchString(name)); ok && !yield(name) {
					return
				}
			}
		}
	}
}

// difference returns what differs between the result of an example and its recipe, or "".
func difference(r *recipe.Recipe, e recipe.Example, got callResult, root string) string {
	var texts []string
	for _, c := range got.Content {
		texts = append(texts, strings.TrimSpace(c.Text))
	}
	text := cmp.Or(strings.Join(texts, "; "), got.Message)
	if got.IsError || got.Message != "" {
		return "it fails: " + text
	}
	if r.Output.Type == "json" && !json.Valid([]byte(text)) {
		return fmt.Sprintf("output.type is json, and it prints: %.200s", text)
	}
	for name := range pathsOf(r, e, "write") {
		if _, err := os.Lstat(filepath.Join(root, name)); err != nil {
			return fmt.Sprintf("it does not write %s, whose access is write", name)
		}
	}
	return ""
}

// printExamples prints the outcomes. It returns an error if an example differs.
func (w *wrapper) printExamples(results []exampleResult) error {
	wrong := 0
	for _, r := range results {
		if r.Differs != "" {
			wrong++
		}
	}
	if w.o.json {
		cli.Printf(w.s.Out, "%s\n", []byte(encoded(struct {
			Examples []exampleResult `json:"examples"`
			OK       bool            `json:"ok"`
		}{results, wrong == 0})))
	} else {
		for i, r := range results {
			mark := "✓"
			if r.Differs != "" {
				mark = "✗"
			}
			cli.Printf(w.s.Out, "%s example %d: %s\n", mark, i+1, r.Description)
			if r.Differs != "" {
				cli.Printf(w.s.Out, "  %s\n", r.Differs)
			}
		}
		if wrong > 0 {
			cli.Printf(w.s.Err, "wrap: %d of %d examples differ from the recipe %s\n", wrong, len(results), w.o.recipe)
		}
	}
	if wrong > 0 {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}
