package runtool

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
)

// A word is an argument on the command line, NAME=VALUE or NAME:=JSON (CLI-819).
type word struct {
	name, value string
	isJSON      bool
}

// readWords parses the operands after the tool. stdin reports that one of them is "-".
func readWords(operands []string) (words []word, stdin bool, err error) {
	for _, text := range operands {
		name, value, found := strings.Cut(text, "=")
		switch {
		case text == "-" && !stdin:
			stdin = true
			continue
		case !utf8.ValidString(text):
			return nil, false, cli.Usagef("%q is not valid UTF-8", text)
		case !found || name == "" || name == ":":
			return nil, false, cli.Usagef("unexpected argument: %s", text).
				WithHint("write arguments of the tool as NAME=VALUE or NAME:=JSON")
		}
		w := word{name: name, value: value}
		w.name, w.isJSON = strings.CutSuffix(name, ":")
		words = append(words, w)
	}
	return words, stdin, nil
}

// withWords returns arguments with the words added. The tool's inputSchema decides their types.
func withWords(arguments json.RawMessage, words []word, inputSchema json.RawMessage) (json.RawMessage, error) {
	given := map[string]bool{}
	for _, w := range words {
		property, err := propertyOf(inputSchema, w.name)
		if err != nil {
			return nil, err
		}
		isList := !w.isJSON && slices.Contains(typesOf(property), "array")
		value, err := w.valueFor(property)
		switch {
		case err != nil:
			return nil, wrongWord(err)
		case given[w.name] && !isList:
			return nil, cli.Usagef("%s is given twice", w.name)
		case isList: // each word is an element
			var b rawjson.Builder
			b.Array()
			if given[w.name] {
				for e := range rawjson.Elements(rawjson.Get(arguments, w.name)) {
					b.Raw(e)
				}
			}
			value = b.Raw(value).End().Bytes()
		}
		given[w.name] = true
		arguments = rawjson.With(arguments, w.name, value)
	}
	return arguments, nil
}

func wrongWord(err error) error {
	var e *cli.Error
	if errors.As(err, &e) {
		e.Exit = cli.ExitUsage
	}
	return err
}

// propertyOf returns the schema of an argument, or nil if the tool takes any.
func propertyOf(inputSchema json.RawMessage, name string) (json.RawMessage, error) {
	properties := rawjson.Get(inputSchema, "properties")
	if property := rawjson.Get(properties, name); property != nil {
		return property, nil
	}
	var names []string
	for other := range rawjson.All(properties) {
		names = append(names, other)
	}
	additional := rawjson.Get(inputSchema, "additionalProperties")
	isOpen := additional != nil && string(additional) != "false" || rawjson.Get(inputSchema, "patternProperties") != nil
	if isOpen || names == nil && additional == nil {
		return nil, nil
	}
	unknown := cli.Failf(cli.CodeInvalid, "the tool has no argument %q%s", name, cli.DidYouMean(name, names))
	if names != nil {
		unknown = unknown.WithHint("its arguments are %s", strings.Join(names, ", "))
	}
	return nil, wrongWord(unknown)
}

// typesOf returns the types that a schema names.
func typesOf(schema json.RawMessage) []string {
	if name, ok := rawjson.Text(rawjson.Get(schema, "type")); ok {
		return []string{name}
	}
	list, _ := rawjson.Strings(rawjson.Get(schema, "type"))
	return list
}

// valueFor returns the value of a word for an argument with a schema. For a list, it is one element.
func (w word) valueFor(property json.RawMessage) (json.RawMessage, error) {
	if w.isJSON {
		v, err := rawjson.Check([]byte(w.value))
		if err != nil {
			return nil, cli.Failf(cli.CodeInvalid, "%s: %q is not JSON", w.name, w.value)
		}
		return v, nil
	}
	types := typesOf(property)
	if slices.Contains(types, "array") {
		property = rawjson.Get(property, "items")
		types = typesOf(property)
	}
	if types == nil {
		for choice := range rawjson.Elements(rawjson.Get(property, "enum")) {
			if string(choice) == w.value {
				return choice, nil
			}
		}
		return rawjson.Quote(w.value), nil
	}
	for _, name := range types {
		if v := asType(w.value, name); v != nil {
			return v, nil
		}
	}
	if slices.Contains(types, "object") || slices.Contains(types, "array") {
		return nil, cli.Failf(cli.CodeInvalid, "%s takes JSON", w.name).WithHint("write %s:=JSON", w.name)
	}
	return nil, cli.Failf(cli.CodeInvalid, "%s: %q is not of type %s", w.name, w.value, strings.Join(types, " or "))
}

// asType returns a text as a value of a type, or nil.
func asType(text, name string) json.RawMessage {
	if name == "string" {
		return rawjson.Quote(text)
	}
	v, err := rawjson.Check([]byte(text))
	if err != nil || string(v) != text {
		return nil
	}
	is := false
	switch rawjson.KindOf(v) {
	case rawjson.Number:
		is = name == "number" || name == "integer" && !strings.ContainsAny(text, ".eE")
	case rawjson.Bool:
		is = name == "boolean"
	case rawjson.Null:
		is = name == "null"
	}
	if !is {
		return nil
	}
	return v
}
