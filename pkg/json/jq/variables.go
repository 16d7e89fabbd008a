package jq

import (
	"encoding/json"
	"fmt"
	"os"

	"mcp-bash/pkg/json/rawjson"
)

func slurpFile(name string) (json.RawMessage, error) {
	values, _, err := fileValues(name)
	return values, err
}

// valueFile returns the value in a file. If the file does not have exactly one value, it
// returns the array of its values.
func valueFile(name string) (json.RawMessage, error) {
	array, count, err := fileValues(name)
	if err == nil && count == 1 {
		return array[1 : len(array)-1], nil
	}
	return array, err
}

func fileValues(name string) (array json.RawMessage, count int, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	r := reader{name: name, src: file, beforeRead: func() {}}
	array, err = wholeArray(func() (json.RawMessage, error) {
		value, err := r.value()
		if err == nil {
			count++
		}
		return value, err
	})
	return array, count, err
}

func textFile(name string) (json.RawMessage, error) {
	text, err := os.ReadFile(name)
	return rawjson.AppendString(nil, text), err
}

func (o *options) loadVariables() error {
	for i := range o.named {
		if b := &o.named[i]; b.load != nil {
			var err error
			if b.value, err = b.load(b.file); err != nil {
				return fmt.Errorf("cannot set $%s: %w", b.name, err)
			}
		}
	}
	return nil
}

func (o *options) arguments() json.RawMessage {
	var b rawjson.Builder
	b.Object().Name("positional").Array()
	for _, value := range o.positional {
		b.Raw(value)
	}
	b.End().Name("named").Object()
	for _, set := range o.named {
		b.Name(set.name).Raw(set.value)
	}
	b.End().End()
	return b.Bytes()
}
