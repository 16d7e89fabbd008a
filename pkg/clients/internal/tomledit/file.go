// Package tomledit adds a table to the text of a TOML file, changes single values in it, and
// removes it. All other bytes stay the same, including comments. The positions of a parser
// determine where to edit. The result is parsed again, and an edit that changed anything
// else is rejected.
package tomledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"mcp-bash/pkg/clients/internal/format"
	"mcp-bash/pkg/json/rawjson"
)

// maxKey limits the number of parts of a key. Each part is a level of nesting.
const maxKey = 100

// A File is the text of another program's TOML file.
type File struct {
	text    []byte
	all     map[string]any // the content; never changed
	headers []header
	strings map[string]span // the positions of strings, by joined path
}

type header struct {
	path []string
	line int // the offset of the header's line
	end  int // the offset of the line's end, before the line break
}

type span struct{ from, to int }

// joined returns a path as a key of a map.
func joined(path []string) string { return strings.Join(path, "\x00") }

// Open parses the text of a file.
func Open(text []byte) (*File, error) {
	f := &File{text: text, strings: map[string]span{}}
	var p unstable.Parser
	p.Reset(text)
	var table []string
	keys := 0
	for p.NextExpression() {
		e := p.Expression()
		var path []string
		start := -1
		for it := e.Key(); it.Next(); {
			if start < 0 {
				start = int(it.Node().Raw.Offset)
			}
			path = append(path, string(it.Node().Data))
		}
		if len(path) > maxKey {
			return nil, fmt.Errorf("line %d: a key of more than %d parts", f.lineAt(start), maxKey)
		}
		if keys += keysIn(e); keys > maxKeys {
			return nil, fmt.Errorf("line %d: more than %d keys", f.lineAt(max(start, 0)), maxKeys)
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = path
			end := bytes.IndexByte(text[start:], '\n')
			if end < 0 {
				end = len(text) - start
			}
			f.headers = append(f.headers, header{path, f.lineStart(start), start + end})
		case unstable.KeyValue:
			if v := e.Value(); v.Kind == unstable.String {
				from := int(v.Raw.Offset)
				f.strings[joined(slices.Concat(table, path))] = span{from, from + int(v.Raw.Length)}
			}
		}
	}
	if err := toml.Unmarshal(text, &f.all); err != nil { // this parser's errors have a line
		return nil, placed(err)
	}
	if err := p.Error(); err != nil {
		return nil, err
	}
	return f, nil
}

// placed adds the line to an error if the parser knows it.
func placed(err error) error {
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ := at.Position()
		return fmt.Errorf("line %d: %s", line, strings.TrimPrefix(at.Error(), "toml: "))
	}
	return errors.New(strings.TrimPrefix(err.Error(), "toml: "))
}

// Bytes returns the text.
func (f *File) Bytes() []byte { return f.text }

// Get returns the value at a path as JSON, or nil.
func (f *File) Get(path ...string) (json.RawMessage, error) {
	var value any = f.all
	for i, name := range path {
		table, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s is not a table", strings.Join(path[:i], "."))
		}
		if value, ok = table[name]; !ok {
			return nil, nil
		}
	}
	return json.Marshal(value)
}

// Set sets the value at a path. It adds a table, adds a key to a table, or replaces a string.
func (f *File) Set(value json.RawMessage, path ...string) error {
	present, err := f.Get(path...)
	if err != nil || present != nil && rawjson.Equal(present, value) {
		return err
	}
	var text []byte
	br := format.LineBreak(f.text)
	isTable := rawjson.KindOf(value) == rawjson.Object
	switch at, isString := f.strings[joined(path)]; {
	case isString && rawjson.KindOf(value) == rawjson.String:
		text = slices.Concat(f.text[:at.from], []byte(format.Literal(value)), f.text[at.to:])
	case present != nil:
		return format.Unusual(path)
	case isTable:
		place := len(f.text)
		for i, h := range f.headers { // insert after the last table with the same parent
			if len(path) > 2 && isBelow(h.path, path[:len(path)-1]) {
				place = f.blockEnd(i)
			}
		}
		before := f.text[:place]
		if len(before) > 0 && before[len(before)-1] != '\n' {
			before = slices.Concat(before, []byte(br))
		}
		if len(bytes.TrimSpace(before)) > 0 {
			before = slices.Concat(before, []byte(br))
		}
		text = slices.Concat(before, []byte(format.Table(path, value, br)), f.text[place:])
	default:
		i := slices.IndexFunc(f.headers, func(h header) bool { return slices.Equal(h.path, path[:len(path)-1]) })
		if i < 0 {
			return format.Unusual(path)
		}
		end := f.headers[i].end
		line := []byte(format.Key(path[len(path)-1]) + " = " + format.Literal(value))
		if end < len(f.text) && f.text[end-1] == '\r' {
			end--
		}
		text = slices.Concat(f.text[:end], []byte(br), line, f.text[end:])
	}
	return f.replace(text, value, path)
}

// Remove deletes the tables at a path and below it if they exist. Comments before and after
// them are kept.
func (f *File) Remove(path ...string) error {
	present, err := f.Get(path...)
	if err != nil || present == nil {
		return err
	}
	var text []byte
	at := 0
	for i, h := range f.headers {
		if !isBelow(h.path, path) {
			continue
		}
		from := h.line
		// Also delete the empty line before the table.
		if from > at {
			above := f.lineStart(from - 1)
			if len(bytes.TrimSpace(f.text[above:from])) == 0 && len(bytes.TrimSpace(f.text[:above])) > 0 && above >= at {
				from = above
			}
		}
		text = append(text, f.text[at:from]...)
		at = f.blockEnd(i)
	}
	if at == 0 {
		return format.Unusual(path)
	}
	return f.replace(append(text, f.text[at:]...), nil, path)
}

func isBelow(path, of []string) bool {
	return len(path) >= len(of) && slices.Equal(path[:len(of)], of)
}

// blockEnd returns the offset of the end of a table. Trailing empty lines and comments belong
// to the next table.
func (f *File) blockEnd(i int) int {
	end := len(f.text)
	if i+1 < len(f.headers) {
		end = f.headers[i+1].line
	}
	for end > f.headers[i].end {
		line := f.lineStart(end - 1)
		text := bytes.TrimSpace(f.text[line:end])
		if line <= f.headers[i].line || len(text) > 0 && text[0] != '#' {
			break
		}
		end = line
	}
	return end
}

func (f *File) lineStart(at int) int { return bytes.LastIndexByte(f.text[:at], '\n') + 1 }
func (f *File) lineAt(at int) int    { return 1 + bytes.Count(f.text[:at], []byte("\n")) }

// replace accepts a new text if it differs from the present one only in the value at a path.
func (f *File) replace(text []byte, value json.RawMessage, path []string) error {
	edited, err := Open(text)
	if err != nil {
		return format.Unusual(path)
	}
	got, err := edited.Get(path...)
	if err != nil || !rawjson.Equal(got, value) ||
		!reflect.DeepEqual(without(f.all, path), without(edited.all, path)) {
		return format.Unusual(path)
	}
	*f = *edited
	return nil
}

// without returns a copy of a table without the value at a path, and without parents that become empty.
func without(table map[string]any, path []string) map[string]any {
	inner, isTable := table[path[0]].(map[string]any)
	if len(path) > 1 && !isTable {
		return table
	}
	rest := maps.Clone(table)
	if len(path) > 1 {
		if inner = without(inner, path[1:]); len(inner) > 0 {
			rest[path[0]] = inner
			return rest
		}
	}
	delete(rest, path[0])
	return rest
}

// maxKeys limits the number of keys in a file, because the decoder's time is quadratic: it compares each key with all
// previous ones. Parts of dotted keys and headers count. Tables and arrays in values count, too.
const maxKeys = 5000

func keysIn(n *unstable.Node) (count int) {
	switch n.Kind {
	case unstable.Table, unstable.ArrayTable, unstable.KeyValue:
		for it := n.Key(); it.Next(); {
			count++
		}
		if n.Kind == unstable.KeyValue {
			count += keysIn(n.Value())
		}
	case unstable.InlineTable, unstable.Array:
		count = 1
		for it := n.Children(); it.Next(); {
			count += keysIn(it.Node())
		}
	}
	return count
}
