package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/revision"
)

// names are the members of params that the header Mcp-Name repeats, by method.
var names = map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

// A parameter is an argument of a tool that a header repeats.
type parameter struct {
	header string
	path   []string
}

// parameters finds the arguments that the schema of a tool's input marks so.
func parameters(schema json.RawMessage, path ...string) []parameter {
	var list []parameter
	for name, property := range rawjson.All(rawjson.Get(schema, "properties")) {
		at := append(slices.Clone(path), name)
		if header := rawjson.TextOf(property, "x-mcp-header"); header != "" {
			list = append(list, parameter{"Mcp-Param-" + header, at})
		}
		list = append(list, parameters(property, at...)...)
	}
	return list
}

// checkHeaders returns an error unless the headers of a stateless request agree with its body. The
// parameters belong to the tool that the request calls.
func checkHeaders(h http.Header, m message, parameters []parameter) error {
	version, err := header(h, "Mcp-Protocol-Version")
	if err != nil {
		return err
	}
	if inBody, named := rawjson.Text(m.meta(revision.MetaVersion)); named && version != inBody {
		return differ("MCP-Protocol-Version", version, inBody)
	}
	method, err := header(h, "Mcp-Method")
	if err != nil {
		return err
	}
	if method != m.method {
		return differ("Mcp-Method", method, m.method)
	}
	if inBody, has := rawjson.Text(rawjson.Get(m.params, names[m.method])); has && names[m.method] != "" {
		name, err := decoded(h, "Mcp-Name")
		if err != nil {
			return err
		}
		if name != inBody {
			return differ("Mcp-Name", name, inBody)
		}
	}
	for _, p := range parameters {
		inBody := rawjson.Path(rawjson.Get(m.params, "arguments"), p.path...)
		if rawjson.Absent(inBody) {
			continue
		}
		value, err := decoded(h, p.header)
		if err != nil {
			return err
		}
		if !equals(value, inBody) {
			return differ(p.header, value, string(inBody))
		}
	}
	return nil
}

// equals compares the text of a header with a value: numbers as numbers.
func equals(text string, value json.RawMessage) bool {
	switch rawjson.KindOf(value) {
	case rawjson.String:
		s, _ := rawjson.Text(value)
		return text == s
	case rawjson.Number:
		a, err := strconv.ParseFloat(text, 64)
		b, err2 := strconv.ParseFloat(string(value), 64)
		return err == nil && err2 == nil && a == b
	}
	return text == string(value)
}

func differ(name, inHeader, inBody string) error {
	return fmt.Errorf("%s is %q, and the body says %q", name, inHeader, inBody)
}

// header is the value of a header that there must be, once, in printable ASCII.
func header(h http.Header, name string) (string, error) {
	values := h.Values(name)
	if len(values) != 1 {
		return "", fmt.Errorf("%s must be there once, and is %d times", name, len(values))
	}
	if strings.ContainsFunc(values[0], func(c rune) bool { return c != '\t' && (c < ' ' || c > '~') }) {
		return "", fmt.Errorf("%s has characters other than printable ASCII", name)
	}
	return values[0], nil
}

// decoded is the value of a header whose values may be encoded, because a header
// cannot hold them.
func decoded(h http.Header, name string) (string, error) {
	value, err := header(h, name)
	if err != nil {
		return "", err
	}
	coded, begins := strings.CutPrefix(value, "=?base64?")
	coded, ends := strings.CutSuffix(coded, "?=")
	if !begins || !ends {
		return value, nil
	}
	text, err := base64.StdEncoding.Strict().DecodeString(coded)
	if err != nil {
		return "", fmt.Errorf("%s is no Base64: %w", name, err)
	}
	return string(text), nil
}
