package jsonedit

import (
	"bytes"
	"errors"
	"fmt"

	"mcp-bash/pkg/json/rawjson"
)

// A Dialect determines which extensions of JSON a program accepts.
type Dialect struct{ Comments, TrailingCommas bool }

// A plainText is JSON in which white space of the same length replaces the extensions of a
// dialect. Every byte keeps its offset.
type plainText struct {
	json   []byte // plain JSON
	commas []byte // the same with the commas before closing brackets
	first  struct{ comment, trailing int }
}

// plain removes comments and trailing commas from a text. The error has the line where the
// text is not JSON or uses an extension that the dialect lacks.
func (d Dialect) plain(text []byte) (*plainText, error) {
	p := &plainText{commas: bytes.Clone(text)}
	p.first.comment, p.first.trailing = -1, -1
	if err := p.blankComments(); err != nil {
		return nil, err
	}
	p.json = bytes.Clone(p.commas)
	p.blankTrailingCommas()
	if len(rawjson.SkipSpace(p.json)) > 0 {
		if _, err := rawjson.Check(p.json); err != nil {
			return nil, placed(text, err)
		}
	}
	switch {
	case p.first.comment >= 0 && !d.Comments:
		return nil, fmt.Errorf("line %d: a comment, where only plain JSON is accepted", lineAt(text, p.first.comment))
	case p.first.trailing >= 0 && !d.TrailingCommas:
		return nil, fmt.Errorf("line %d: a comma before a closing bracket, which is not accepted", lineAt(text,
			p.first.trailing))
	}
	return p, nil
}

// placed adds the line to a syntax error.
func placed(text []byte, err error) error {
	var syntax *rawjson.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("line %d: %s", lineAt(text, syntax.Offset), syntax.Reason)
	}
	return err
}

func lineAt(text []byte, offset int) int {
	return 1 + bytes.Count(text[:min(offset, len(text))], []byte("\n"))
}

// blankComments replaces comments with spaces. The line break after a comment stays.
func (p *plainText) blankComments() error {
	text := p.commas
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '"':
			i = stringEnd(text, i) - 1
			continue
		case text[i] != '/' || i+1 == len(text):
			continue
		}
		end := 0
		switch text[i+1] {
		case '/':
			if end = bytes.IndexByte(text[i:], '\n'); end < 0 {
				end = len(text) - i
			}
			if end > 0 && text[i+end-1] == '\r' {
				end--
			}
		case '*':
			close := bytes.Index(text[i+2:], []byte("*/"))
			if close < 0 {
				return fmt.Errorf("line %d: a comment without an end", lineAt(text, i))
			}
			end = 2 + close + 2
		default:
			continue
		}
		if p.first.comment < 0 {
			p.first.comment = i
		}
		blank(text[i : i+end])
		i += end - 1
	}
	return nil
}

// stringEnd returns the index after the string at text[i]. The string may lack its closing
// quote.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func blank(text []byte) {
	for i := range text {
		text[i] = ' '
	}
}

// blankTrailingCommas replaces commas between a value and a closing bracket with spaces.
func (p *plainText) blankTrailingCommas() {
	text := p.json
	comma, last := -1, byte(0) // the index of the comma if it is the last token, and the byte before it
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n':
			continue
		case '"':
			i = stringEnd(text, i) - 1
			comma, last = -1, '"'
		case ',':
			comma = -1
			if last != 0 && bytes.IndexByte([]byte("[{,:"), last) < 0 {
				comma = i
			}
			last = ','
		case '}', ']':
			if comma >= 0 {
				text[comma] = ' '
				if p.first.trailing < 0 {
					p.first.trailing = comma
				}
			}
			comma, last = -1, c
		default:
			comma, last = -1, c
		}
	}
}
