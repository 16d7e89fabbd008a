package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// extractGo returns the comments of a Go file and, unless it is a test, the strings in it that
// are sentences. Generated files have neither.
func extractGo(file string, content []byte, fixed messages) ([]text, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(parsed) {
		return nil, nil
	}
	comments := text{name: file + ".comments.md", file: file}
	for _, group := range parsed.Comments {
		comments.paragraphs = append(comments.paragraphs, commentParagraphs(files, group)...)
	}
	found := []text{comments}
	if !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(file, "test/") {
		found = append(found, text{name: file + ".strings.md", file: file, paragraphs: sentences(files, parsed, fixed)})
	}
	return found, nil
}

// listItem matches the marker that begins an item of a list in a comment.
var listItem = regexp.MustCompile(`^ *(?:[-*•]|\d+[.)]) `)

// commentParagraphs returns the paragraphs of a comment, without its code and directives.
func commentParagraphs(files *token.FileSet, group *ast.CommentGroup) []paragraph {
	var c comments
	for _, comment := range group.List {
		at := files.Position(comment.Pos())
		for i, line := range strings.Split(comment.Text, "\n") {
			from := position{at.Filename, at.Line + i, 1}
			if i == 0 {
				from.column = at.Column
			}
			bare, isLine := strings.CutPrefix(line, "//")
			switch {
			case isLine && bare != "" && bare[0] != ' ' && bare[0] != '\t': // a directive
				continue
			case isLine:
				bare = strings.TrimPrefix(bare, " ")
			default:
				bare = strings.TrimLeft(strings.TrimSuffix(strings.TrimPrefix(line, "/*"), "*/"), " \t")
			}
			from.column += strings.LastIndex(line, bare)
			if marker := listItem.FindString(bare); marker != "" {
				c.end()
				bare, from.column = bare[len(marker):], from.column+len(marker)
			}
			if strings.TrimSpace(bare) == "" || isCode(bare) {
				c.end()
				continue
			}
			c.addLine(withoutIdentifiers(bare), from)
		}
	}
	c.end()
	return c.found
}

// sentences returns the strings of a file that are prose and that the contract does not fix.
func sentences(files *token.FileSet, file *ast.File, fixed messages) []paragraph {
	var found []paragraph
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			return n.Tag == nil
		case *ast.BinaryExpr, *ast.BasicLit:
			var s literal
			s.join(files, n, visit)
			if s.literals > 0 && !fixed.contains(string(s.characters)) {
				found = append(found, s.paragraphs()...)
			}
			return false
		}
		return true
	}
	ast.Inspect(file, visit)
	return found
}

// A literal is the value of a string or of strings that are joined with +.
type literal struct {
	paragraph
	literals int
}

// join adds the value of an expression: the characters of literals, and a word for anything
// else, which visit is called with.
func (s *literal) join(files *token.FileSet, n ast.Node, visit func(ast.Node) bool) {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		s.join(files, n.X, visit)
		s.join(files, n.Y, visit)
	case *ast.BasicLit:
		if n.Kind == token.STRING {
			s.literals++
			s.addLiteral(n.Value, files.Position(n.Pos()))
		}
	default:
		s.add('X', fromToken(files.Position(n.Pos())))
		ast.Inspect(n, visit)
	}
}

func fromToken(p token.Position) position { return position{p.Filename, p.Line, p.Column} }

// addLiteral adds the characters that a literal stands for.
func (s *literal) addLiteral(quoted string, start token.Position) {
	from, quote := fromToken(start), quoted[0]
	for rest := quoted[1 : len(quoted)-1]; rest != ""; {
		from.column = start.Column + len(quoted) - 1 - len(rest)
		if quote != '`' {
			r, _, tail, err := strconv.UnquoteChar(rest, quote)
			if err != nil {
				return // the parser has accepted it
			}
			s.add(r, from)
			rest = tail
			continue
		}
		r, size := utf8.DecodeRuneInString(rest)
		s.add(r, from)
		rest = rest[size:]
		if r == '\n' {
			from.line++
			start.Column = 1 - (len(quoted) - 1 - len(rest))
		}
	}
}

// paragraphs returns the paragraphs of a string that are prose: lines up to an empty line or
// an indented one.
func (s *literal) paragraphs() []paragraph {
	if code.MatchString(string(s.characters)) {
		return nil
	}
	var found []paragraph
	var p paragraph
	end := func() {
		if isProse(string(p.characters)) {
			found = append(found, p)
		}
		p = paragraph{}
	}
	for i, r := range s.characters {
		if i > 0 && s.characters[i-1] == '\n' && strings.ContainsRune("\n \t-", r) {
			end()
		}
		if r == '\n' || r == '\t' {
			r = ' '
		}
		if r != ' ' || len(p.characters) > 0 {
			p.add(r, s.from[i])
		}
	}
	end()
	return found
}

// code matches what occurs in programs and data but not in sentences.
var code = regexp.MustCompile(`^\s*(?:[{\[<(^]|#!)|\$\(|\$\{|&&|\|\||:=|=>|</|/>|\);|\\[bdsw]|;;| \{\n`)

var (
	word  = regexp.MustCompile(`^["'(]*[A-Za-z][a-z]*(?:[-'][a-z]+)*["')]*[.,:;?!]*$`)
	lower = regexp.MustCompile(`^[a-z]+[.,:;]?$`)
)

// isProse reports whether a string reads like a sentence or part of one: four words or more
// of which most are ordinary words.
func isProse(s string) bool {
	fields := strings.Fields(s)
	words, small := 0, 0
	for _, field := range fields {
		if word.MatchString(field) {
			words++
		}
		if lower.MatchString(field) {
			small++
		}
	}
	return small >= 3 && words*10 >= len(fields)*6
}

// messages is text that the contract quotes.
type messages string

// fixedMessages reads the code in the pages of the contract.
func fixedMessages(root string, files []string) (messages, error) {
	var all strings.Builder
	for _, file := range files {
		if !within(file, "docs/contract") {
			continue
		}
		page, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		for i, part := range strings.Split(string(page), "`") {
			if i%2 == 1 {
				all.WriteString(strings.Join(strings.Fields(part), " ") + "\n")
			}
		}
	}
	return messages(all.String()), nil
}

// verb matches a verb of fmt.
var verb = regexp.MustCompile(`%[-+# 0-9.*]*[a-zA-Z]`)

// contains reports whether the contract quotes a message: all its parts between values, one of
// them three words or longer.
func (m messages) contains(message string) bool {
	longest := 0
	for _, part := range verb.Split(message, -1) {
		fields := strings.Fields(strings.Trim(part, " :;,.()\"'\n\t"))
		if !strings.Contains(string(m), strings.Join(fields, " ")) {
			return false
		}
		longest = max(longest, len(fields))
	}
	return longest >= 3
}
