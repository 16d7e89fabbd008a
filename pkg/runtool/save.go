package runtool

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/files/userfile"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/yamltext"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/runtool/outcome"
	"mcp-bash/pkg/wire/mcp"
)

// maxTestFile limits the file of --save-test, in bytes.
const maxTestFile = 1 << 20

// checkTestName returns an error unless a name can be that of a file with test cases.
func checkTestName(name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`).MatchString(name) {
		return cli.Usagef("--save-test: %q is not a name of letters, digits, _, . and -", name)
	}
	return nil
}

// save adds a test case for the call to tests/NAME.yaml (CLI-822). err is the error of the call, or nil.
func (r *run) save(ctx context.Context, result *tool.Result, err error) error {
	refusal, isRefusal := errors.AsType[*mcp.Error](err)
	end, ok := outcome.Of(result, err)
	if !ok || isRefusal && refusal.Cause == mcp.CauseNotListed || context.Cause(ctx) != nil { // an interrupted call
		return nil
	}
	var b rawjson.Builder
	b.Object().Name("tool").String(r.tool)
	if len(rawjson.Members(r.args)) > 0 {
		b.Name("arguments").Raw(r.args)
	}
	if r.given("roots") {
		b.Name("roots").Strings(r.savedRoots())
	}
	if r.given("elicit") && r.answersJSON != nil {
		b.Name("answers").Raw(r.answersJSON)
	}
	if r.timeout > 0 {
		b.Name("timeout").Int(r.timeout)
	}
	b.Name("expect").Raw(expected(&end))
	label := project.TestsDir + "/" + strings.TrimSuffix(r.saveTest, ".yaml") + ".yaml"
	if err := r.addCase(ctx, filepath.Base(label), yamltext.AppendMembers(nil, b.End().Bytes(), 0)); err != nil {
		return &cli.Error{Code: cli.CodeInvalid, Op: "write", Subject: label, Cause: err}
	}
	cli.Printf(r.Err, "run-tool: %s has a case for this call; run it with mcp-bash test\n", label)
	return nil
}

// savedRoots returns the roots as a case names them: those in the project relative to it.
func (r *run) savedRoots() (paths []string) {
	for _, root := range r.roots.List {
		path := root.Path
		if rel, err := filepath.Rel(r.project.Root, path); err == nil && filepath.IsLocal(rel) {
			path = filepath.ToSlash(rel)
		}
		paths = append(paths, path)
	}
	return paths
}

// expected returns what a case expects so that a call passes.
func expected(end *outcome.Outcome) json.RawMessage {
	var b rawjson.Builder
	b.Object()
	if end.Error != nil {
		return b.Name("error").Object().Members(end.Error, "data").End().End().Bytes()
	}
	if end.Failed() {
		b.Name("error").Bool(true)
	}
	if structured := end.Structured(); structured != nil {
		return b.Name("structured").Raw(structured).End().Bytes()
	}
	text := end.Text()
	if strings.Contains(text, "\n") {
		text += "\n"
	}
	return b.Name("text").String(text).End().Bytes()
}

// addCase appends a case to a file of the project.
func (r *run) addCase(ctx context.Context, name string, text []byte) error {
	root, err := os.OpenRoot(r.project.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(project.TestsDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	dir, err := root.OpenRoot(project.TestsDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	o := userfile.Options{Max: maxTestFile, Mode: 0o644, Wait: lockWait}
	_, err = userfile.Edit(ctx, dir, name, o, func(f userfile.File) ([]byte, error) {
		before := strings.TrimRight(string(f.Text), "\n")
		if before == "" {
			return text, nil
		}
		return append([]byte(before+"\n---\n"), text...), nil
	})
	return err
}
