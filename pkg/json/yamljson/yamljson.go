// Package yamljson reads YAML as JSON. Values have the types of the core schema of YAML 1.2. Anchors, aliases, tags
// and duplicate keys are errors.
package yamljson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"mcp-bash/pkg/json/rawjson"
)

const maxDepth = 16 // levels of mappings and sequences

// A Document is one document of a stream.
type Document struct {
	JSON   json.RawMessage
	lines  map[string]int // by JSON Pointers
	before int            // lines before the text
}

// A SyntaxError means that a text is not YAML.
type SyntaxError struct{ cause error }

func (e *SyntaxError) Error() string { return e.cause.Error() }

// Line returns the line of the value that a JSON Pointer names, or of the nearest value around it. For a member of an
// object, it is the line of its key. Lines count from 1.
func (d *Document) Line(pointer string) int {
	for {
		if line := d.lines[pointer]; line > 0 || pointer == "" {
			return line
		}
		pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
	}
}

// Parse returns the documents of a text. before is the number of lines before the text in its file. The error may be a
// [*SyntaxError]. Other errors name a line.
func Parse(text []byte, before int) (documents []Document, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		switch err := decoder.Decode(&node); {
		case errors.Is(err, io.EOF):
			return documents, nil
		case err != nil:
			return nil, &SyntaxError{err}
		}
		d := Document{lines: map[string]int{}, before: before}
		var b rawjson.Builder
		for _, value := range node.Content { // one, unless the document is empty
			if err := d.appendNode(&b, value, "", 0); err != nil {
				return nil, err
			}
		}
		d.JSON = b.Bytes()
		documents = append(documents, d)
	}
}

// appendNode appends a value, and records the line of each value and member by its JSON Pointer.
func (d *Document) appendNode(b *rawjson.Builder, n *yaml.Node, pointer string, depth int) error {
	line := n.Line + d.before
	at := func(format string, args ...any) error {
		return fmt.Errorf("line %d: "+format, append([]any{line}, args...)...)
	}
	if d.lines[pointer] == 0 {
		d.lines[pointer] = line
	}
	switch {
	case depth > maxDepth:
		return at("more than %d levels", maxDepth)
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		return at("anchors and aliases are not supported")
	case n.Style&yaml.TaggedStyle != 0:
		return at("tags are not supported")
	}
	switch n.Kind {
	case yaml.MappingNode:
		b.Object()
		seen := map[string]bool{}
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0 {
				return at("a key must be a plain text")
			}
			if seen[key.Value] {
				return at("%q is repeated", key.Value)
			}
			seen[key.Value] = true
			member := pointer + "/" + rawjson.ToPointer.Replace(key.Value)
			d.lines[member] = key.Line + d.before
			if err := d.appendNode(b.Name(key.Value), n.Content[i+1], member, depth+1); err != nil {
				return err
			}
		}
		b.End()
	case yaml.SequenceNode:
		b.Array()
		for i, item := range n.Content {
			if err := d.appendNode(b, item, fmt.Sprintf("%s/%d", pointer, i), depth+1); err != nil {
				return err
			}
		}
		b.End()
	default:
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			b.String(n.Value)
			return nil
		}
		value, ok := plain(n.Value)
		if !ok {
			return at("JSON has no number %s", n.Value)
		}
		b.Raw(value)
	}
	return nil
}

// numbers are the forms of numbers in the core schema.
var numbers = sync.OnceValue(func() [3]*regexp.Regexp {
	return [3]*regexp.Regexp{
		regexp.MustCompile(`^[-+]?[0-9]+$`),
		regexp.MustCompile(`^0(o[0-7]+|x[0-9a-fA-F]+)$`),
		regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`),
	}
})

// plain returns the value of a scalar without quotes, by the core schema of YAML 1.2. ok is false for infinity and
// "not a number".
func plain(text string) (value json.RawMessage, ok bool) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return json.RawMessage("null"), true
	case "true", "True", "TRUE":
		return json.RawMessage("true"), true
	case "false", "False", "FALSE":
		return json.RawMessage("false"), true
	}
	switch strings.ToLower(strings.TrimLeft(text, "+-")) {
	case ".inf", ".nan":
		return nil, false
	}
	forms := numbers()
	for i, base := range []int{10, 0} {
		if n, isInt := new(big.Int).SetString(text, base); isInt && forms[i].MatchString(text) {
			return json.RawMessage(n.String()), true
		}
	}
	if forms[2].MatchString(text) {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, false // out of range
		}
		return json.RawMessage(strconv.FormatFloat(f, 'g', -1, 64)), true
	}
	return rawjson.Quote(text), true
}
