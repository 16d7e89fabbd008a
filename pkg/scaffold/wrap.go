package scaffold

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/scaffold/recipe"
	"mcp-bash/pkg/scaffold/wrap"
	"mcp-bash/pkg/text/lazyregexp"
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

// filesOf returns the files of a tool.
func filesOf(tool *wrap.Tool, schemas string) (files []file) {
	for _, f := range tool.Files(schemas) {
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
func Wrap(ctx context.Context, p *project.Project, tools []*wrap.Tool, w WrapOptions, warn func(string)) (made []*Item,
	err error) {
	at, rel, err := openFor(ctx, p, p.Tools)
	if err != nil {
		return nil, err
	}
	defer func() { at.close(err) }()
	for _, tool := range tools {
		dir := filepath.Join(p.Tools, tool.Name)
		files := filesOf(tool, schemasFrom(p, dir))
		files = append(files, base(tool, w.Selection, files))
		item := &Item{Kind: Tool, Name: tool.Name, Path: dir}
		for _, f := range files {
			item.Files = append(item.Files, relative(p, filepath.Join(dir, f.path)))
		}
		made = append(made, item)
		r := Request{Kind: Tool, Force: w.Force, DryRun: w.DryRun}
		if err = at.putItem(path.Join(rel, tool.Name), files, r); err != nil {
			return nil, err
		}
	}
	if w.DryRun {
		return made, nil
	}
	if err := require(ctx, p, tools); err != nil {
		return nil, err
	}
	for _, item := range made {
		warnRefused(p, filepath.Join(item.Path, "tool.sh"), warn)
	}
	return made, nil
}

// ToolName derives the name of a tool from the words of a command line.
func ToolName(words []string) string {
	return strings.Trim(notInName.ReplaceAllString(strings.Join(words, "-"), "-"), "-")
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
