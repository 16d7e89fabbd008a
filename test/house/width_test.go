package house

import (
	"bytes"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// widest is how many columns a line of a program may have.
const widest = 120

// TestWidth checks that no line of a program is wider than half a screen. It ignores the lines of quoted
// texts, such as scripts in tests.
func TestWidth(t *testing.T) {
	for _, dir := range []string{"bench", "cmd", "examples", "install.sh", "lib", "otel", "pkg", "providers", "release",
		"sdk", "share", "test"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && d.Name() != ".." {
				return err
			}
			switch filepath.Ext(path) {
			case ".go", ".sh", ".bash", ".fish":
			default:
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			quoted := map[int]bool{}
			if filepath.Ext(path) == ".go" {
				quoted = quotedLines(text)
			}
			for i, line := range bytes.Split(text, []byte("\n")) {
				if n := len(bytes.Runes(line)); n > widest && !quoted[i+1] {
					t.Errorf("%s:%d: %d columns, not at most %d", path, i+1, n, widest)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// quotedLines returns the lines that are part of a raw string of several lines.
func quotedLines(text []byte) map[int]bool {
	lines := map[int]bool{}
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	s.Init(file, text, nil, 0)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if n := strings.Count(literal, "\n"); kind == token.STRING && n > 0 {
			for i := range n + 1 {
				lines[file.Line(pos)+i] = true
			}
		}
	}
}
