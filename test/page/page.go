// Package page reads the blocks of a page of the documentation, and the notes with the tests that run them.
package page

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// A Block is a block of code. The first line of a block is ```LANGUAGE ARGUMENT.
type Block struct {
	Line     int
	Language string
	Argument string
	Text     string
	RunBy    string // a test that runs the block
	NotRun   string // why no test runs it
}

// note is a comment before a block, such as <!-- run by TestName --> and <!-- not run: reason -->.
var note = regexp.MustCompile(`^<!-- (?:run by (Test\w+)|not run: (.*\S)) -->$`)

// Read returns the blocks of a page.
func Read(file string) ([]Block, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(string(data)), nil
}

// Parse returns the blocks of a text.
func Parse(text string) (blocks []Block) {
	inside := false
	var next Block
	for i, line := range strings.Split(text, "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && inside:
			inside = false
		case fence:
			next.Line = i + 1
			next.Language, next.Argument, _ = strings.Cut(info, " ")
			blocks, inside, next = append(blocks, next), true, Block{}
		case inside:
			blocks[len(blocks)-1].Text += line + "\n"
		default:
			if m := note.FindStringSubmatch(line); m != nil {
				next = Block{RunBy: m[1], NotRun: m[2]}
			} else if line != "" {
				next = Block{}
			}
		}
	}
	return blocks
}

// ForTest returns the blocks that the test runs of a page in docs. Without such a block the test fails.
func ForTest(t *testing.T, page string) (blocks []Block) {
	t.Helper()
	all, err := Read(filepath.Join(checkout.Root(), "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if b.RunBy == t.Name() {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		t.Fatalf("docs/%s has no block with the note: run by %s", page, t.Name())
	}
	return blocks
}

// Commands returns the commands of a block. In a block of console, lines with a prompt are commands.
func (b Block) Commands() string {
	if b.Language != "console" || !strings.HasPrefix(b.Text, "$ ") {
		return b.Text
	}
	var commands strings.Builder
	for line := range strings.Lines(b.Text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			commands.WriteString(command)
		}
	}
	return commands.String()
}
