// Package jq is the JSON program for scripts.
//
// [Run] is the program. It accepts jq's command line. A filter that only follows a path, with or without a default
// ([Simple], SDK-209), is evaluated on the JSON text itself. Members then keep their order and numbers their digits.
// gojq compiles and runs every other filter, and sorts the members of its results.
//
// Package jqtext renders the values.
//
// Functions with a json.RawMessage expect text that rawjson.Check accepted. The package
// keeps no state between calls, and is safe for concurrent use.
package jq

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"mcp-bash/pkg/json/jqtext"
	"mcp-bash/pkg/json/rawjson"
)

type engine struct {
	code   *gojq.Code
	values []any // of the variables
	result []byte
}

// definitions are functions of jq that gojq lacks.
const definitions = `
	def keys_unsorted: keys;
	def leaf_paths: paths(scalars);
	def recurse_down: recurse;
	def pow10: exp10;
	.`

// modulePaths are the directories in which jq looks for modules without -L.
var modulePaths = []string{"~/.jq", "$ORIGIN/../lib/jq", "$ORIGIN/../lib"}

func compile(filter string, o *options, input *source, stderr io.Writer) (*engine, error) {
	query, err := gojq.Parse(filter)
	if err != nil {
		return nil, &filterError{filter, err}
	}
	prelude, err := gojq.Parse(definitions)
	if err != nil {
		return nil, &filterError{definitions, err}
	}
	query.FuncDefs = append(prelude.FuncDefs, query.FuncDefs...)

	e := &engine{values: []any{goValue(o.arguments())}}
	names := []string{"$ARGS"}
	for _, set := range o.named {
		if jqtext.IsIdentifier(set.name) { // other names are only in $ARGS.named
			names = append(names, "$"+set.name)
			e.values = append(e.values, goValue(set.value))
		}
	}
	libraries := o.libraries
	if len(libraries) == 0 {
		libraries = modulePaths
	}
	e.code, err = gojq.Compile(query,
		gojq.WithVariables(names),
		gojq.WithModuleLoader(gojq.NewModuleLoader(libraries)),
		gojq.WithEnvironLoader(os.Environ),
		gojq.WithInputIter(inputs{input}),
		gojq.WithFunction("input_filename", 0, 0, func(any, []any) any { return input.fileName() }),
		gojq.WithFunction("input_line_number", 0, 0, func(any, []any) any { return input.lineNumber() }),
		gojq.WithFunction("debug", 0, 0, func(v any, _ []any) any {
			stderr.Write(append(appendGoValue(nil, []any{"DEBUG:", v}), '\n'))
			return v
		}),
		gojq.WithFunction("stderr", 0, 0, func(v any, _ []any) any {
			stderr.Write(jqtext.AppendText(nil, appendGoValue(nil, v)))
			return v
		}),
	)
	if err != nil {
		return nil, &filterError{filter, err}
	}
	return e, nil
}

func (e *engine) apply(value json.RawMessage, emit func(json.RawMessage) error) error {
	results := e.code.Run(goValue(value), e.values...)
	for {
		result, ok := results.Next()
		if !ok {
			return nil
		}
		if err, ok := result.(error); ok {
			return err
		}
		e.result = appendGoValue(e.result[:0], result)
		if err := emit(e.result); err != nil {
			return err
		}
	}
}

// inputs returns the input that the program has not read yet, for the functions input and inputs.
type inputs struct{ source *source }

// Next implements gojq.Iter.
func (i inputs) Next() (any, bool) {
	value, err := i.source.next()
	switch {
	case err == io.EOF:
		return nil, false
	case err != nil:
		return err, true
	}
	return goValue(value), true
}

type filterError struct {
	filter string
	err    error
}

func (e *filterError) Error() string {
	var parse *gojq.ParseError
	if !errors.As(e.err, &parse) {
		return e.err.Error() + ": " + e.filter
	}
	before := e.filter[:min(len(e.filter), max(0, parse.Offset-len(parse.Token)))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("%v at line %d, column %d of the filter: %s", e.err, line, column, e.filter)
}

// goValue returns a JSON value in the types of gojq: nil, bool, string, the numbers of
// [numberValue], []any and map[string]any.
func goValue(v json.RawMessage) any {
	switch rawjson.KindOf(v) {
	case rawjson.Object:
		object := map[string]any{}
		for name, member := range rawjson.All(v) {
			object[name] = goValue(member)
		}
		return object
	case rawjson.Array:
		array := []any{}
		for element := range rawjson.Elements(v) {
			array = append(array, goValue(element))
		}
		return array
	case rawjson.String:
		text, _ := rawjson.Text(v)
		return text
	case rawjson.Bool:
		return rawjson.True(v)
	case rawjson.Null:
		return nil
	}
	return numberValue(v)
}

// appendGoValue appends a result of gojq as compact JSON with sorted members.
func appendGoValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case string:
		return rawjson.AppendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, element := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendGoValue(dst, element)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(rawjson.AppendString(dst, name), ':')
			dst = appendGoValue(dst, v[name])
		}
		return append(dst, '}')
	}
	return appendNumberValue(dst, v)
}

// numberValue returns a JSON number in the types of gojq: int, *big.Int or float64.
func numberValue(number []byte) any {
	if !jqtext.IsInteger(number) {
		f := jqtext.ParseFloat(number)
		if f == 0 {
			return 0 // gojq would print the sign of -0.0
		}
		return f
	}
	if i, err := strconv.Atoi(string(number)); err == nil {
		return i
	}
	i, _ := new(big.Int).SetString(string(number), 10)
	return i
}

func appendNumberValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case *big.Int:
		return v.Append(dst, 10)
	case json.Number: // a literal of the filter
		return jqtext.AppendNumber(dst, []byte(v))
	}
	f, _ := v.(float64) // the only type left
	return jqtext.AppendFloat(dst, f)
}
