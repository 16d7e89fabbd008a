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
		return []text{
			{name: file + ".comments.md", file: file, paragraphs: shellComments(file, string(content))},
			{name: file + ".strings.md", file: file, paragraphs: shellMessages(file, string(content), fixed)},
		}, nil
	case strings.HasSuffix(file, ".schema.json"):
		return []text{{name: file + ".descriptions.md", file: file, paragraphs: descriptions(file, string(content))}}, nil
	case path.Base(file) == "rules.txt":
		return []text{{name: file + ".strings.md", file: file, paragraphs: ruleTexts(file, string(content))}}, nil
	}
	return nil, nil
}

// description matches a description in a JSON Schema.
var description = regexp.MustCompile(`"description":\s*"((?:[^"\\]|\\.)*)"`)

// descriptions returns the descriptions of a JSON Schema.
func descriptions(file, content string) []paragraph {
	var found []paragraph
	for i, line := range strings.Split(content, "\n") {
		for _, m := range description.FindAllStringSubmatchIndex(line, -1) {
			var p paragraph
			p.addLine(strings.ReplaceAll(line[m[2]:m[3]], `\"`, "“"), position{file, i + 1, m[2] + 1})
			found = append(found, p)
		}
	}
	return found
}

// ruleTexts returns the texts of findings: a line `id (severity): meaning`, and below it indented lines with
// the consequence and, after "Fix: ", the remedy.
func ruleTexts(file, content string) []paragraph {
	var found []paragraph
	begins := true
	for i, line := range strings.Split(content, "\n") {
		bare := strings.TrimLeft(line, " ")
		if strings.HasPrefix(bare, "#") || bare == "" {
			begins = true
			continue
		}
		fix, isFix := strings.CutPrefix(bare, "Fix: ")
		_, meaning, isHeading := strings.Cut(line, "): ")
		switch {
		case isFix:
			bare, begins = fix, true
		case isHeading && bare == line:
			bare, begins = meaning, true
		}
		if begins {
			found = append(found, paragraph{})
		}
		found[len(found)-1].addLine(withoutIdentifiers(bare), position{file, i + 1, len(line) - len(bare) + 1})
		begins = isHeading && !isFix
	}
	return found
}

// quoted matches a string of a shell script on one line. helpLine matches the columns of a line of a help text.
var (
	quoted   = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'([^']*)'`)
	helpLine = regexp.MustCompile(`^ +\S.*?  +(\S.*)$`)
)

// shellMessages returns the messages of a shell script: strings that are sentences, and here-documents of help texts.
func shellMessages(file, content string, fixed messages) []paragraph {
	var found []paragraph
	help := ""
	for i, line := range strings.Split(content, "\n") {
		if help != "" {
			if line == help {
				help = ""
				continue
			}
			var p paragraph
			start := 0
			if m := helpLine.FindStringSubmatchIndex(line); m != nil {
				start = m[2]
			}
			p.addLine(line[start:], position{file, i + 1, start + 1})
			if isProse(string(p.characters)) {
				found = append(found, p)
			}
			continue
		}
		if _, mark, ok := strings.Cut(line, "cat <<'"); ok && path.Base(file) == "install.sh" {
			help = strings.TrimSuffix(mark, "'")
		}
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatchIndex(line, -1) {
			from := max(m[2], m[4])
			s := line[from:max(m[3], m[5])]
			if !isProse(s) || code.MatchString(s) || fixed.contains(s) {
				continue
			}
			var p paragraph
			p.addLine(s, position{file, i + 1, from + 1})
			found = append(found, p)
		}
	}
	return found
}

// Comments are paragraphs, the last of which is still open.
type comments struct {
	found []paragraph
	paragraph
}

// end closes the open paragraph.
func (c *comments) end() {
	if len(c.characters) > 0 {
		c.found = append(c.found, c.paragraph)
	}
	c.paragraph = paragraph{}
}

// shellComments returns the comments that have lines for themselves.
func shellComments(file, content string) []paragraph {
	var c comments
	for i, line := range strings.Split(content, "\n") {
		bare := strings.TrimLeft(line, " \t")
		comment, is := strings.CutPrefix(bare, "# ")
		if !is || strings.HasPrefix(comment, "shellcheck ") || isCode(comment) {
			c.end()
			continue
		}
		c.addLine(withoutIdentifiers(comment), position{file, i + 1, len(line) - len(comment) + 1})
	}
	c.end()
	return c.found
}

// isCode reports whether a line of a comment is indented as code or a table.
func isCode(line string) bool { return strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "   ") }
