package yamledit

import (
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

// appendJSON appends the value of a node as JSON.
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
		isName := n.Kind == yaml.MappingNode && i%2 == 0
		if i > 0 && (isName || n.Kind == yaml.SequenceNode) {
			dst = append(dst, ',')
		}
		if isName {
			dst = append(rawjson.AppendString(dst, c.Value), ':')
		} else if dst, err = appendJSON(dst, c, depth+1); err != nil {
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

// sameBut reports whether two texts differ only in the value at a path.
func sameBut(text, other []byte, list bool, path []string) bool {
	a, errA := Open(text, list)
	b, errB := Open(other, list)
	if errA != nil || errB != nil {
		return false
	}
	a.drop(path)
	b.drop(path)
	return equal(a.root, b.root)
}

// drop removes the value at a path from the tree, and parents that are empty then. The text stays.
func (f *File) drop(path []string) {
	steps, _ := f.follow(path)
	for i, s := range slices.Backward(steps) {
		if i+1 < len(path) && len(s.value.Content) > 0 {
			return
		}
		at := slices.Index(s.parent.Content, s.at)
		s.parent.Content = slices.Delete(s.parent.Content, at, at+s.width())
	}
	if f.root != nil && len(f.root.Content) == 0 {
		f.root = nil
	}
}

// equal reports whether two trees have the same values in the same order.
func equal(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.ShortTag() == b.ShortTag() && a.Value == b.Value && a.Anchor == b.Anchor &&
		slices.EqualFunc(a.Content, b.Content, equal)
}
