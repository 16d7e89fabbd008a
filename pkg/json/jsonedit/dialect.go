package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"mcp-bash/pkg/json/rawjson"
)

// A Dialect determines which extensions of JSON a program accepts.
type Dialect struct{ Comments, TrailingCommas bool }

// Limits on a text (CLI-711). The parser recurses without a limit, and a value takes about 500
// bytes of memory.
const (
	maxDepth  = 10_000
	maxValues = 500_000
)

// parse parses a text. The value of a text without JSON is nil.
func (d Dialect) parse(text []byte) (root hujson.Value, err error) {
	if !utf8.Valid(text) {
		return root, errors.New("invalid UTF-8")
	}
	ended := text
	if last := text[bytes.LastIndexByte(text, '\n')+1:]; bytes.Contains(last, []byte("//")) {
		ended = append(bytes.Clone(text), '\n') // the parser requires a line break after a comment
	}
	if err := checkSize(text); err != nil {
		return root, err
	}
	if hujson.Extra(ended).IsValid() {
		root.BeforeExtra = ended
	} else if root, err = hujson.Parse(ended); err != nil {
		return root, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	root.AfterExtra = root.AfterExtra[:max(0, len(root.AfterExtra)-len(ended)+len(text))]
	return root, d.check(text, &root)
}

// checkSize checks the number of values and their nesting before the text is parsed.
func checkSize(text []byte) error {
	depth, values := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = rawjson.StringEnd(text, i) - 1
		case '/':
			i += commentEnd(text[i:])
		case '[', '{':
			depth++
			values++
		case ',':
			values++
		case ']', '}':
			depth--
		}
		if depth > maxDepth || values > maxValues {
			return fmt.Errorf("more than %d values, or values nested deeper than %d levels", maxValues, maxDepth)
		}
	}
	return nil
}

// commentEnd returns the offset of the last byte of the comment that a text begins with, or 0.
// The line break after a comment is not a part of it.
func commentEnd(text []byte) int {
	mark, last := "\n", 1
	switch {
	case bytes.HasPrefix(text, []byte("/*")):
		mark, last = "*/", 3
	case !bytes.HasPrefix(text, []byte("//")):
		return 0
	}
	at := bytes.Index(text[2:], []byte(mark))
	if at < 0 {
		return len(text) - 1
	}
	return at + last
}

// check returns an error with the line of an extension that the dialect lacks.
func (d Dialect) check(text []byte, root *hujson.Value) error {
	for v := range root.All() {
		if err := d.checkSpace(text, v.BeforeExtra, v.StartOffset-len(v.BeforeExtra)); err != nil {
			return err
		}
		if err := d.checkSpace(text, v.AfterExtra, v.EndOffset); err != nil {
			return err
		}
		var last *hujson.Value
		var inside hujson.Extra // the space before the closing bracket
		switch v := v.Value.(type) {
		case *hujson.Object:
			if inside = v.AfterExtra; len(v.Members) > 0 {
				last = &v.Members[len(v.Members)-1].Value
			}
		case *hujson.Array:
			if inside = v.AfterExtra; len(v.Elements) > 0 {
				last = &v.Elements[len(v.Elements)-1]
			}
		}
		if err := d.checkSpace(text, inside, v.EndOffset-1-len(inside)); err != nil {
			return err
		}
		if last != nil && last.AfterExtra != nil && !d.TrailingCommas {
			return fmt.Errorf("line %d: a comma before a closing bracket, which is not accepted",
				lineAt(text, last.EndOffset+len(last.AfterExtra)))
		}
	}
	return nil
}

// checkSpace checks the white space and comments at an offset.
func (d Dialect) checkSpace(text []byte, space hujson.Extra, at int) error {
	if d.Comments || space.IsStandard() {
		return nil
	}
	at += bytes.IndexByte(space, '/')
	return fmt.Errorf("line %d: a comment, where only plain JSON is accepted", lineAt(text, at))
}

func lineAt(text []byte, offset int) int {
	return 1 + bytes.Count(text[:offset], []byte("\n"))
}
