package scaffold

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/pkg/text/lazyregexp"
	"mcp-bash/pkg/text/toolnames"
)

// NewTool makes a tool that runs a program from a recipe. words is the command line that tool.sh
// runs, and file is the program. name is the name of the tool. If it is "", the name is derived
// from the words.
func NewTool(p *project.Project, r *recipe.Recipe, from wrap.Source, words []string, file, name string,
	s wrap.Selection) (*wrap.Tool, error) {
	if name == "" {
		name = ToolName(append([]string{filepath.Base(words[0])}, words[1:]...))
	}
	if err := checkName(string(Tool), name); err != nil {
		return nil, err
	}
	t := wrap.Tool{Name: name, Words: words, Recipe: r, Source: from, Program: words[0]}
	if other := inPlace(file); other != "" {
		t.Starts = []string{other}
	}
	switch {
	case !strings.ContainsRune(words[0], filepath.Separator):
		t.Needs = words[0]
	case fsys.Within(p.Root, file): // tools start in the project's root
		t.Program = "./" + relative(p, file)
	default:
		t.Program, t.Needs = file, file
	}
	return wrap.New(t, s)
}

// maxHead limits how much of a program is read.
const maxHead = 4 << 10

// execLine matches the line of a shell script that runs another program in its place.
var execLine = lazyregexp.New(`(?m)^[ \t]*exec ["']?(/[^"'\s$]+)["']?(?:[ \t]|$)`)

// inPlace returns the program that a script runs in its place, or "" (WRAP-36).
func inPlace(file string) string {
	resolved, err := filepath.EvalSymlinks(file)
	if err != nil {
		return ""
	}
	head, _ := boundedfile.ReadHead(resolved, maxHead)
	if m := execLine.FindSubmatch(head); m != nil && bytes.HasPrefix(head, []byte("#!")) {
		return string(m[1])
	}
	return ""
}

// ToolName derives the name of a tool from the words of a command line.
func ToolName(words []string) string {
	name := strings.Trim(notInName.ReplaceAllString(strings.Join(words, "-"), "-"), "-")
	return strings.TrimRight(name[:min(len(name), toolnames.MaxPortable)], "-")
}

var notInName = lazyregexp.New(`[^A-Za-z0-9_-]`)

// CheckWords returns an error for words that are options, because options could run other
// words as programs. It also rejects words that cannot be in a comment of a script (WRAP-1).
func CheckWords(words []string) error {
	for _, word := range words {
		if word == "" || strings.HasPrefix(word, "-") || strings.ContainsFunc(word, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == unicode.ReplacementChar
		}) {
			return cli.Usagef("cannot wrap a command line with the word %s", cli.Line(word))
		}
	}
	return nil
}

// filesOf returns the files of a tool.
func filesOf(p *project.Project, tool *wrap.Tool) (files []file) {
	for _, f := range tool.Files(schemasFrom(p, filepath.Join(p.Tools, tool.Name))) {
		mode := modeFile
		if f.Script {
			mode = modeScript
		}
		files = append(files, file{f.Name, f.Text, mode})
	}
	return files
}

// WrapOptions are the options of Wrap.
type WrapOptions struct {
	wrap.Selection
	Force  bool
	DryRun bool
}

// Wrap writes tools, all or none (WRAP-30). It calls warn with problems that
// could stop them from working.
func Wrap(ctx context.Context, p *project.Project, tools []*wrap.Tool, o WrapOptions, warn func(string)) (made []*Item,
	err error) {
	w := writerFor(ctx, p, o.DryRun)
	defer w.close(&err)
	return wrapTools(w, p, tools, o, warn)
}

func wrapTools(w *writer, p *project.Project, tools []*wrap.Tool, o WrapOptions, warn func(string)) (made []*Item,
	err error) {
	for _, tool := range tools {
		dir := filepath.Join(p.Tools, tool.Name)
		files := filesOf(p, tool)
		files = append(files, recorded(tool, o.Selection, files))
		made = append(made, newItem(p, Tool, tool.Name, dir, files))
		if err := w.putItem(dir, string(Tool), files, o.Force); err != nil {
			return nil, err
		}
	}
	if err := require(w, p, tools); err != nil || o.DryRun {
		return made, err
	}
	for _, item := range made {
		warnRefused(p, filepath.Join(item.Path, "tool.sh"), warn)
	}
	return made, nil
}

// WriteRecipe writes a recipe into recipes/ of the project, for a person or an agent to complete (WRAP-16). It returns
// the path of the file. An existing file is replaced only with force.
func WriteRecipe(ctx context.Context, p *project.Project, r *recipe.Recipe, force bool) (name string, err error) {
	name = path.Join("recipes", r.FileName())
	if schemas := schemasFrom(p, filepath.Join(p.Root, "recipes")); schemas != "" {
		r.Schema = schemas + "/recipe.schema.json"
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return "", err
	}
	if _, err := recipe.Parse(text.Bytes()); err != nil { // such as a program with an unusual name
		return "", cli.Failf(cli.CodeInvalid, "no recipe can be drafted: %v", err)
	}
	w := writerFor(ctx, p, false)
	defer w.close(&err)
	put := w.putNew
	if force {
		put = w.put
	}
	return name, put(filepath.Join(p.Root, filepath.FromSlash(name)), file{text: text.String(), mode: modeFile})
}
