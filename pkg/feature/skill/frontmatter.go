package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"mcp-bash/pkg/json/rawjson"
)

const (
	maxFrontmatter = 64 << 10 // bytes
	maxDepth       = 16       // levels of mappings and sequences
)

// parseFrontmatter returns the front matter of a SKILL.md as a JSON object. The result has the types of the core
// schema of YAML 1.2, because clients compare it with what they parse. Anchors, aliases, tags and duplicate keys are
// errors.
func parseFrontmatter(text []byte) (json.RawMessage, error) {
	matter, err := cutFrontmatter(bytes.TrimPrefix(text, rawjson.ByteOrderMark))
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(matter, &document); err != nil {
		return nil, fmt.Errorf("the front matter is not YAML: %w", err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("the front matter is not a mapping of keys to values")
	}
	var b rawjson.Builder
	if err := appendNode(&b, document.Content[0], 0); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// cutFrontmatter returns the text between the first two lines "---".
func cutFrontmatter(text []byte) ([]byte, error) {
	rest, ok := cutLine(text)
	if !ok {
		return nil, errors.New(`the first line must be "---"`)
	}
	for at := 0; at < len(rest); {
		if _, ok := cutLine(rest[at:]); ok {
			if at > maxFrontmatter {
				return nil, fmt.Errorf("the front matter has more than %d bytes", maxFrontmatter)
			}
			if !utf8.Valid(rest[:at]) {
				return nil, errors.New("the front matter is not valid UTF-8")
			}
			return rest[:at], nil
		}
		end := bytes.IndexByte(rest[at:], '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	return nil, errors.New(`the front matter has no last line "---"`)
}

// cutLine returns the text after the first line, if that line is "---".
func cutLine(text []byte) (rest []byte, ok bool) {
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	return rest, bytes.HasPrefix(line, []byte("---")) && len(bytes.TrimRight(line[3:], " \t\r")) == 0
}

// appendNode appends a value. Numbers of lines count from the first line of the file.
func appendNode(b *rawjson.Builder, n *yaml.Node, depth int) error {
	at := func(format string, args ...any) error {
		return fmt.Errorf("line %d: "+format, append([]any{n.Line + 1}, args...)...)
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
			if err := appendNode(b.Name(key.Value), n.Content[i+1], depth+1); err != nil {
				return err
			}
		}
		b.End()
	case yaml.SequenceNode:
		b.Array()
		for _, item := range n.Content {
			if err := appendNode(b, item, depth+1); err != nil {
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
