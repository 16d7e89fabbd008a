package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// A position is a place in a file of the repository. Lines and columns count from 1, and
// columns count bytes, as in Go.
type position struct {
	file   string
	line   int
	column int
}

// A text is prose that Vale reads as one file: a page, or the paragraphs of a program's
// comments or messages.
type text struct {
	// name is the path of the copy that Vale reads.
	name string
	// page is the content of a page. Positions in it are positions in the file.
	page string
	file string
	// paragraphs are checked instead of a page.
	paragraphs []paragraph
}

// A paragraph is text on one line, with the position that each character comes from.
type paragraph struct {
	characters []rune
	from       []position
}

func (p *paragraph) add(r rune, from position) {
	p.characters, p.from = append(p.characters, r), append(p.from, from)
}

// addLine adds a line of a source file that begins at from.
func (p *paragraph) addLine(line string, from position) {
	if len(p.characters) > 0 {
		p.add(' ', from)
	}
	start := from.column
	for i, r := range line {
		from.column = start + i
		p.add(r, from)
	}
}

// identifiers are ids of the contract, such as CLI-1711 and TOOL-12a, with parentheses around
// a list of them. They are not part of a sentence.
var identifiers = regexp.MustCompile(`\((?:[A-Z]{1,5}-\d+[a-z]?(?:, | and |; )?)+\)|\b[A-Z]{1,5}-\d+[a-z]?\b`)

// withoutIdentifiers replaces each id of the contract by a character that no rule counts. Spaces
// at the beginning of a line would make code of it.
func withoutIdentifiers(s string) string {
	return identifiers.ReplaceAllStringFunc(s, func(id string) string { return strings.Repeat("@", len(id)) })
}

// excluded are folders and files with text that is not the project's, and data of tests and
// examples.
var excluded = regexp.MustCompile(`(^|/)(testdata|node_modules|third_party|vendor|styles)/|(^|/)LICENSE|` +
	`^examples/.*/(documents|notes|prompts|resources)/`)

// listFiles returns the files of the repository, with slashes, except excluded ones.
func listFiles(root string) ([]string, error) {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		info, err := os.Lstat(filepath.Join(root, name))
		if err == nil && info.Mode().IsRegular() && !excluded.MatchString(name) {
			files = append(files, name)
		}
	}
	return files, nil
}

// extract returns the prose in a file. It returns nothing for a file that is neither a page nor
// a program.
func extract(root, file string, fixed messages) ([]text, error) {
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	switch {
	case path.Ext(file) == ".md":
		return []text{{name: file, file: file, page: withoutIdentifiers(string(content))}}, nil
	case path.Ext(file) == ".go":
		return extractGo(file, content, fixed)
	case path.Ext(file) == ".sh", path.Ext(file) == ".bash", path.Base(file) == "Makefile",
		bytes.HasPrefix(content, []byte("#!")):
		return []text{{name: file + ".comments.md", file: file, paragraphs: shellComments(file, string(content))}}, nil
	}
	return nil, nil
}

// shellComments returns the comments that have lines for themselves.
func shellComments(file, content string) []paragraph {
	var found []paragraph
	var p paragraph
	end := func() {
		if len(p.characters) > 0 {
			found = append(found, p)
		}
		p = paragraph{}
	}
	for i, line := range strings.Split(content, "\n") {
		bare := strings.TrimLeft(line, " \t")
		comment, is := strings.CutPrefix(bare, "# ")
		if !is || strings.HasPrefix(comment, "shellcheck ") || isCode(comment) {
			end()
			continue
		}
		p.addLine(withoutIdentifiers(comment), position{file, i + 1, len(line) - len(comment) + 1})
	}
	end()
	return found
}

// isCode reports whether a line of a comment is indented as code or a table.
func isCode(line string) bool { return strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "   ") }
