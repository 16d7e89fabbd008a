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

// maxDepth limits the nesting of values, because the parser recurses without a limit.
const maxDepth = 10000

// parse parses a text. The value of a text without JSON is nil.
func (d Dialect) parse(text []byte) (root hujson.Value, err error) {
	if !utf8.Valid(text) {
		return root, errors.New("invalid UTF-8")
	}
	ended := text
	if last := text[bytes.LastIndexByte(text, '\n')+1:]; bytes.Contains(last, []byte("//")) {
		ended = append(bytes.Clone(text), '\n') // the parser requires a line break after a comment
	}
	switch {
	case hujson.Extra(ended).IsValid():
		root.BeforeExtra = ended
	case isTooDeep(text):
		return root, fmt.Errorf("values are nested deeper than %d levels", maxDepth)
	default:
		if root, err = hujson.Parse(ended); err != nil {
			return root, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
		}
		root.AfterExtra = root.AfterExtra[:len(root.AfterExtra)-len(ended)+len(text)]
	}
	return root, d.check(text, &root)
}

func isTooDeep(text []byte) bool {
	depth := 0
	for i := 0; i < len(text) && depth <= maxDepth; i++ {
		switch text[i] {
		case '"':
			i = rawjson.StringEnd(text, i) - 1
		case '/':
			i += commentEnd(text[i:])
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
	}
	return depth > maxDepth
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
