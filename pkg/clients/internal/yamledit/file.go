// Package yamledit adds an entry to the text of a YAML file, changes single values in it,
// and removes it. All other bytes stay the same, including comments. The positions of a
// parser determine where to edit. The result is parsed again, and an edit that changed
// anything else is rejected.
package yamledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"mcp-bash/pkg/clients/internal/format"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/text/lazyregexp"
)

// A File is the text of another program's YAML file. It is a mapping in which a path of
// names leads to a value. In a list, a name leads to the item whose member "name" has that
// value.
type File struct {
	text  []byte
	lines []int      // the offset of each line
	root  *yaml.Node // nil: the text only has comments
	list  bool       // a missing parent of entries is created as a list
}

// Open parses the text of a file. list reports whether a missing parent of entries is
// created as a list.
func Open(text []byte, list bool) (f *File, err error) {
	defer func() {
		if fault := recover(); fault != nil { // a safeguard against bugs in the parser, as the text is untrusted
			f, err = nil, fmt.Errorf("the parser fails: %v\n%s", fault, debug.Stack())
		}
	}()
	f = &File{text: text, lines: linesOf(text), list: list}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	switch err := d.Decode(&document); {
	case err == io.EOF:
		return f, nil
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := d.Decode(&more); err != io.EOF {
		return nil, errors.New("more than one document, or text after the first")
	}
	f.root = document.Content[0]
	switch {
	case isNull(f.root) && f.root.Value == "":
		f.root = nil
	case f.root.Kind != yaml.MappingNode:
		return nil, errors.New("not a mapping")
	}
	return f, nil
}

// lineEnd matches the line breaks that the parser recognizes.
var lineEnd = lazyregexp.New("\r\n|[\r\n\u0085\u2028\u2029]")

func linesOf(text []byte) []int {
	lines := []int{0}
	for _, at := range lineEnd.FindAllIndex(text, -1) {
		lines = append(lines, at[1])
	}
	return lines
}

// Bytes returns the text.
func (f *File) Bytes() []byte { return f.text }

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// A step is one name of a path, with its value in the file.
type step struct {
	at     *yaml.Node // the key, or the item of a list
	value  *yaml.Node
	parent *yaml.Node
}

// width returns the number of nodes of the step in its parent: an item is one node, and a member
// is two.
func (s step) width() int {
	if s.at == s.value {
		return 1
	}
	return 2
}

func (f *File) follow(path []string) (steps []step, err error) {
	for node := f.root; node != nil && len(steps) < len(path); {
		name := path[len(steps)]
		var found []step
		switch node.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(node.Content); i += 2 {
				if k := node.Content[i]; k.Kind == yaml.ScalarNode && k.Value == name {
					found = append(found, step{k, node.Content[i+1], node})
				}
			}
		case yaml.SequenceNode:
			for _, item := range node.Content {
				if isNamed(item, name) {
					found = append(found, step{item, item, node})
				}
			}
		default:
			if isNull(node) {
				return steps, nil
			}
			return nil, fmt.Errorf("%s cannot have entries", strings.Join(path[:len(steps)], "."))
		}
		switch len(found) {
		case 0:
			return steps, nil
		case 1:
		default:
			return nil, fmt.Errorf("line %d: %s is repeated", found[1].at.Line, strings.Join(path[:len(steps)+1], "."))
		}
		steps, node = append(steps, found[0]), found[0].value
	}
	return steps, nil
}

func isNamed(item *yaml.Node, name string) bool {
	if item.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(item.Content); i += 2 {
		if item.Content[i].Value == "name" && item.Content[i+1].Value == name {
			return true
		}
	}
	return false
}

// Get returns the value at a path as JSON, or nil.
func (f *File) Get(path ...string) (json.RawMessage, error) {
	steps, err := f.follow(path)
	if err != nil || len(steps) < len(path) {
		return nil, err
	}
	return appendJSON(nil, steps[len(steps)-1].value, 0)
}

// Set sets the value at a path. It adds a member or an item, or replaces a string.
func (f *File) Set(value json.RawMessage, path ...string) error {
	steps, err := f.follow(path)
	if err != nil {
		return err
	}
	var text []byte
	if len(steps) == len(path) {
		n := steps[len(steps)-1].value
		if now, err := appendJSON(nil, n, 0); err == nil && rawjson.Equal(now, value) {
			return nil
		}
		from, to := f.scalar(n)
		if from < 0 || rawjson.KindOf(value) != rawjson.String {
			return format.Unusual(path)
		}
		text = slices.Concat(f.text[:from], []byte(format.Scalar(value)), f.text[to:])
	} else {
		text = f.insert(steps, path, value)
	}
	if text == nil {
		return format.Unusual(path)
	}
	return f.replace(text, value, path)
}

// insert adds a value at the end of a path. It returns nil if it does not support the
// layout.
func (f *File) insert(steps []step, path []string, value json.RawMessage) []byte {
	missing := path[len(steps):]
	value = format.Nested(value, missing[1:], f.list && len(steps) == 0)
	br := format.LineBreak(f.text)
	if len(steps) == 0 {
		indent := 0
		if f.root != nil {
			if f.root.Style&yaml.FlowStyle != 0 {
				return f.insertFlow(f.root, missing[0], value)
			}
			if len(f.root.Content) > 0 {
				indent = f.root.Content[0].Column - 1
			}
		}
		text := f.text
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = slices.Concat(text, []byte(br))
		}
		return slices.Concat(text, []byte(format.Member(missing[0], value, indent, br)))
	}
	last := steps[len(steps)-1]
	node := last.value
	asList := node.Kind == yaml.SequenceNode || isNull(node) && f.list && len(steps) == 1
	line, indent := last.at.Line, last.at.Column+1 // insert after this line
	text, cut := f.text, 0                         // the number of bytes that were removed from the line
	switch {
	case isNull(node) && node.Value == "" && node.Anchor == "":
	case node.Style&yaml.FlowStyle != 0:
		// Empty brackets are removed. Removing the last entry restores them.
		from := max(1, f.offset(node))
		rest := string(text[from-1:])
		if node.Line != line || !strings.HasPrefix(rest, " {}") && !strings.HasPrefix(rest, " []") {
			return f.insertFlow(node, missing[0], value)
		}
		cut = len(" {}")
		text = slices.Concat(text[:from-1], text[from-1+cut:])
	case node == last.at: // a list item whose first member is on the same line
		line, indent = node.Content[0].Line, node.Content[0].Column-1
	case len(node.Content) > 0 && node.Content[0].Line > line:
		indent = node.Column - 1
	default:
		return nil
	}
	lines := format.Member(missing[0], value, indent, br)
	if asList {
		lines = format.Item(value, indent, br)
	}
	return spliced(text, f.lineStart(line)-cut, lines, br)
}

// spliced inserts lines before the line at an offset. It returns nil if the previous line
// ends unusually, such as with a single carriage return.
func spliced(text []byte, at int, lines, br string) []byte {
	if at > 0 && text[at-1] != '\n' {
		if at < len(text) || text[at-1] == '\r' {
			return nil
		}
		lines = br + strings.TrimSuffix(lines, br)
	}
	return slices.Concat(text[:at], []byte(lines), text[at:])
}

// insertFlow inserts a value as the first one between brackets.
func (f *File) insertFlow(node *yaml.Node, name string, value json.RawMessage) []byte {
	at := f.offset(node)
	if at < 0 || f.text[at] != '{' && f.text[at] != '[' {
		return nil
	}
	text := format.Flow(name, value, node.Kind == yaml.SequenceNode)
	if len(node.Content) > 0 {
		text += ", "
	}
	return slices.Concat(f.text[:at+1], []byte(text), f.text[at+1:])
}

// Remove deletes the value at a path if it exists. Comments before and after it are kept.
func (f *File) Remove(path ...string) error {
	steps, err := f.follow(path)
	if err != nil || len(steps) < len(path) {
		return err
	}
	last := steps[len(steps)-1]
	if last.parent.Style&yaml.FlowStyle != 0 {
		return f.removeFlow(last, path)
	}
	if f.offset(last.at) < 0 {
		return format.Unusual(path)
	}
	from := f.lines[last.at.Line-1]
	before := string(f.text[from:max(from, f.offset(last.at))])
	if last.at == last.value {
		before = strings.Replace(before, "-", " ", 1)
	}
	if strings.Trim(before, " ") != "" {
		return format.Unusual(path)
	}
	to := f.end(steps)
	text := slices.Concat(f.text[:from], f.text[to:])
	if len(path) > 1 && len(last.parent.Content) == last.width() {
		if text = f.emptied(text, steps[len(steps)-2]); text == nil {
			return format.Unusual(path)
		}
	}
	return f.replace(text, nil, path)
}

// removeFlow deletes an entry between brackets that insertFlow wrote.
func (f *File) removeFlow(last step, path []string) error {
	value, err := appendJSON(nil, last.value, 0)
	if err != nil {
		return err
	}
	at := f.offset(last.at)
	text := []byte(format.Flow(path[len(path)-1], value, last.parent.Kind == yaml.SequenceNode))
	if at < 0 || !bytes.HasPrefix(f.text[at:], text) {
		return format.Unusual(path)
	}
	rest := bytes.TrimPrefix(f.text[at+len(text):], []byte(", "))
	return f.replace(slices.Concat(f.text[:at], rest), nil, path)
}

// emptied inserts empty brackets after a key whose last entry was removed.
func (f *File) emptied(text []byte, owner step) []byte {
	if owner.at == owner.value {
		return nil
	}
	_, at := f.scalar(owner.at)
	if at < 0 || at >= len(text) || text[at] != ':' {
		return nil
	}
	brackets := " {}"
	if owner.value.Kind == yaml.SequenceNode {
		brackets = " []"
	}
	return slices.Concat(text[:at+1], []byte(brackets), text[at+1:])
}

// end returns the line after the last step of a path. Trailing empty lines and comments
// belong to the next entry.
func (f *File) end(steps []step) int {
	first := steps[len(steps)-1].at.Line // the next line, counted from 0
	line := len(f.lines)
	if f.lines[line-1] == len(f.text) {
		line-- // the empty text after the last line break is not a line
	}
	for _, s := range slices.Backward(steps) {
		if next := following(s); next != nil {
			line = next.Line - 1
			break
		}
	}
	for i := first; i < line; i++ {
		if text := f.line(i); bytes.HasPrefix(text, []byte("...")) || bytes.HasPrefix(text, []byte("---")) {
			line = i
		}
	}
	for line > first {
		if text := bytes.TrimSpace(f.line(line - 1)); len(text) > 0 && text[0] != '#' {
			break
		}
		line--
	}
	return f.lineStart(line)
}

// lineStart returns the offset of a line, counted from 0, or the end of the text.
func (f *File) lineStart(line int) int {
	if line >= len(f.lines) {
		return len(f.text)
	}
	return f.lines[line]
}

// following returns the node after a step in its parent, or nil.
func following(s step) *yaml.Node {
	i := slices.Index(s.parent.Content, s.at) + s.width()
	if i < len(s.parent.Content) {
		return s.parent.Content[i]
	}
	return nil
}

func (f *File) line(i int) []byte { return f.text[f.lines[i]:f.lineStart(i+1)] }

// offset returns the offset of a node, or -1 if it is unknown.
func (f *File) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(f.lines) {
		return -1
	}
	at := f.lines[n.Line-1]
	for range n.Column - 1 {
		if at >= len(f.text) {
			return -1
		}
		_, size := utf8.DecodeRune(f.text[at:])
		at += size
	}
	if at >= len(f.text) {
		return -1
	}
	return at
}

// scalar returns the range of a scalar on one line, or -1 if it is unknown.
func (f *File) scalar(n *yaml.Node) (from, to int) {
	from = f.offset(n)
	if from < 0 || n.Kind != yaml.ScalarNode || n.Anchor != "" {
		return -1, -1
	}
	switch n.Style {
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		if quoted := quotedScalar.FindIndex(f.text[from:]); quoted != nil {
			return from, from + quoted[1]
		}
	case 0:
		if bytes.HasPrefix(f.text[from:], []byte(n.Value)) {
			return from, from + len(n.Value)
		}
	}
	return -1, -1
}

// quotedScalar matches a scalar in quotes on one line.
var quotedScalar = lazyregexp.New(`^(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*')`)

// replace accepts a new text if it differs from the present one only in the value at a path.
func (f *File) replace(text []byte, value json.RawMessage, path []string) error {
	edited, err := Open(text, f.list)
	if err != nil {
		return format.Unusual(path)
	}
	got, err := edited.Get(path...)
	if err != nil || !rawjson.Equal(got, value) || !equal(f.without(path), edited.without(path)) {
		return format.Unusual(path)
	}
	*f = *edited
	return nil
}

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

// without returns the tree without the value at a path, and without parents that become empty.
func (f *File) without(path []string) *yaml.Node {
	rest, _ := Open(f.text, f.list) // no error: the text was parsed before
	steps, _ := rest.follow(path)
	for i, s := range slices.Backward(steps) {
		if i+1 < len(path) && len(s.value.Content) > 0 {
			return rest.root
		}
		at := slices.Index(s.parent.Content, s.at)
		s.parent.Content = slices.Delete(s.parent.Content, at, at+s.width())
	}
	if rest.root != nil && len(rest.root.Content) == 0 {
		return nil
	}
	return rest.root
}

// equal reports whether two trees have the same values in the same order.
func equal(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.ShortTag() == b.ShortTag() && a.Value == b.Value && a.Anchor == b.Anchor &&
		slices.EqualFunc(a.Content, b.Content, equal)
}
