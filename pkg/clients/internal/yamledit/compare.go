package yamledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"

	"mcp-bash/pkg/json/rawjson"
)

// Limits on an entry, because aliases can expand a short text to a large value.
const (
	maxDepth = 100
	maxEntry = 1 << 20 // bytes of JSON
)

var errTooLarge = errors.New("the entry is too large or too deeply nested")

// toJSON returns the value of a node as JSON.
func toJSON(n *yaml.Node) (json.RawMessage, error) {
	out, err := appendJSON(nil, n, 0)
	if err != nil {
		return nil, err
	}
	return out, nil
}

func appendJSON(dst []byte, n *yaml.Node, depth int) (_ []byte, err error) {
	if depth > maxDepth || len(dst) > maxEntry {
		return nil, errTooLarge
	}
	open, shut := byte('['), byte(']')
	switch n.Kind {
	case yaml.AliasNode:
		return appendJSON(dst, n.Alias, depth+1)
	case yaml.MappingNode:
		open, shut = '{', '}'
	case yaml.SequenceNode:
	default:
		return appendScalar(dst, n), nil
	}
	dst = append(dst, open)
	for i, c := range n.Content {
		isValue := n.Kind == yaml.MappingNode && i%2 == 1
		switch {
		case isValue:
			dst = append(dst, ':')
		case i > 0:
			dst = append(dst, ',')
		}
		if n.Kind == yaml.MappingNode && !isValue {
			dst = rawjson.AppendString(dst, c.Value)
			continue
		}
		if dst, err = appendJSON(dst, c, depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, shut), nil
}

func appendScalar(dst []byte, n *yaml.Node) []byte {
	switch n.ShortTag() {
	case "!!null":
		return append(dst, "null"...)
	case "!!bool", "!!int", "!!float":
		if v, err := rawjson.Check([]byte(n.Value)); err == nil {
			return append(dst, v...)
		}
	}
	return rawjson.AppendString(dst, n.Value)
}

// same reports whether two values are equal, regardless of the order of members.
func same(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return bytes.Equal(rawjson.AppendCanonical(nil, a), rawjson.AppendCanonical(nil, b))
}

// without returns a copy of a tree without the value at a path and without parents that are
// empty then. It returns nil if nothing remains.
func without(n *yaml.Node, path []string) *yaml.Node {
	if n == nil || isNull(n) {
		return nil
	}
	copied := *n
	copied.Content = slices.Clone(n.Content)
	for i := 0; i < len(copied.Content); i++ {
		at, width, value := copied.Content[i], 1, i
		if n.Kind == yaml.MappingNode {
			width, value = 2, i+1
		}
		matches := n.Kind == yaml.SequenceNode && isNamed(at, path[0]) ||
			n.Kind == yaml.MappingNode && at.Kind == yaml.ScalarNode && at.Value == path[0]
		if !matches {
			i += width - 1
			continue
		}
		var rest *yaml.Node
		inner := copied.Content[value]
		if len(path) > 1 && (inner.Kind == yaml.MappingNode || inner.Kind == yaml.SequenceNode || isNull(inner)) {
			rest = without(inner, path[1:])
		} else if len(path) > 1 {
			i += width - 1
			continue
		}
		if rest == nil {
			copied.Content = slices.Delete(copied.Content, i, i+width)
			i--
		} else {
			copied.Content[value] = rest
			i += width - 1
		}
	}
	if len(copied.Content) == 0 && len(path) > 0 {
		return nil
	}
	return &copied
}

// equal reports whether two trees have the same values in the same order.
func equal(a, b *yaml.Node, depth int) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || a.Value != b.Value || a.Anchor != b.Anchor ||
		len(a.Content) != len(b.Content) {
		return false
	}
	for i, c := range a.Content {
		if !equal(c, b.Content[i], depth+1) {
			return false
		}
	}
	return true
}
