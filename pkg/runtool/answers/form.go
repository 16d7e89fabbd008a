package answers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/wire/mcp"
)

type form struct {
	message string
	url     string // page to open, or ""
	schema  json.RawMessage
	fields  []field
}

type field struct {
	name, title, description string
	required                 bool
	schema                   json.RawMessage
	kind                     string // string, number, integer, boolean or array
	choices                  []choice
	initial                  json.RawMessage // default, or nil
}

type choice struct{ value, title string }

func readForm(q mcp.InputRequest) *form {
	f := &form{
		message: rawjson.TextOf(q.Params, "message"), url: rawjson.TextOf(q.Params, "url"),
		schema: rawjson.Get(q.Params, "requestedSchema"),
	}
	required, _ := rawjson.Strings(rawjson.Get(f.schema, "required"))
	for name, s := range rawjson.All(rawjson.Get(f.schema, "properties")) {
		f.fields = append(f.fields, readField(name, s, slices.Contains(required, name)))
	}
	return f
}

func readField(name string, s json.RawMessage, required bool) field {
	f := field{
		name: name, title: rawjson.TextOf(s, "title"), description: rawjson.TextOf(s, "description"),
		required: required,
		schema:   s, kind: rawjson.TextOf(s, "type"), initial: rawjson.Get(s, "default"),
	}
	f.title = cmp.Or(f.title, name)
	if rawjson.Absent(f.initial) {
		f.initial = nil
	}
	if f.kind == "array" {
		s = rawjson.Get(s, "items")
	}
	f.choices = readChoices(s)
	return f
}

// readChoices returns the values that a schema lists, in all notations of the protocol.
func readChoices(s json.RawMessage) []choice {
	var list []choice
	for _, word := range []string{"oneOf", "anyOf"} {
		for e := range rawjson.Elements(rawjson.Get(s, word)) {
			list = append(list, choice{rawjson.TextOf(e, "const"), rawjson.TextOf(e, "title")})
		}
	}
	titles, _ := rawjson.Strings(rawjson.Get(s, "enumNames"))
	for e := range rawjson.Elements(rawjson.Get(s, "enum")) {
		value, _ := rawjson.Text(e)
		c := choice{value: value}
		if len(titles) > 0 {
			c.title, titles = titles[0], titles[1:]
		}
		list = append(list, c)
	}
	return list
}

func (f *field) parse(text string) (json.RawMessage, error) {
	var value json.RawMessage
	switch {
	case f.kind == "array":
		var b rawjson.Builder
		b.Array()
		for part := range strings.SplitSeq(text, ",") {
			part = strings.TrimSpace(part)
			if part == "" {
				continue
			}
			chosen, err := f.chosen(part)
			if err != nil {
				return nil, err
			}
			b.String(chosen)
		}
		value = b.End().Bytes()
	case len(f.choices) > 0:
		chosen, err := f.chosen(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		value = rawjson.Quote(chosen)
	case f.kind == "boolean":
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "y", "yes", "true":
			value = json.RawMessage("true")
		case "n", "no", "false":
			value = json.RawMessage("false")
		default:
			return nil, fmt.Errorf("type y or n")
		}
	case f.kind == "number" || f.kind == "integer":
		v, err := rawjson.Check([]byte(text))
		if err != nil || rawjson.KindOf(v) != rawjson.Number {
			return nil, fmt.Errorf("type a number")
		}
		value = v
	default:
		value = rawjson.Quote(text)
	}
	return value, f.check(value)
}

// chosen returns the value for the number, value or title of a choice.
func (f *field) chosen(text string) (string, error) {
	for _, c := range f.choices {
		if text == c.value {
			return c.value, nil
		}
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(f.choices) {
		return f.choices[n-1].value, nil
	}
	for _, c := range f.choices {
		if c.title != "" && strings.EqualFold(text, c.title) {
			return c.value, nil
		}
	}
	if len(f.choices) == 0 { // a list of any values
		return text, nil
	}
	return "", fmt.Errorf("%q is not one of the choices", text)
}

// check validates a value against the field's schema, including the format.
func (f *field) check(value json.RawMessage) error {
	if s, err := schema.Compile(f.schema); err == nil {
		if violations := s.Check(value); violations != nil {
			return fmt.Errorf("it %s", violations[0].Message)
		}
	}
	text, isText := rawjson.Text(value)
	if !isText {
		return nil
	}
	return checkFormat(rawjson.TextOf(f.schema, "format"), text)
}

func checkFormat(format, text string) error {
	var err error
	switch format {
	case "email":
		if !regexp.MustCompile(`^[^@\s]+@[^@\s]+$`).MatchString(text) {
			return fmt.Errorf("type an e-mail address: name@example.com")
		}
	case "uri":
		if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*:\S+$`).MatchString(text) {
			return fmt.Errorf("type a URI: https://example.com/")
		}
	case "date":
		if _, err = time.Parse(time.DateOnly, text); err != nil {
			return fmt.Errorf("type a date: 2026-01-31")
		}
	case "date-time":
		if _, err = time.Parse(time.RFC3339, text); err != nil {
			return fmt.Errorf("type a time: 2026-01-31T12:00:00Z")
		}
	}
	return nil
}

// content returns the answer with the values of fields, and default values for others. missing is
// the name of a required field without a value.
func (f *form) content(values map[string]json.RawMessage) (content json.RawMessage, missing string) {
	var b rawjson.Builder
	b.Object()
	for i := range f.fields {
		field := &f.fields[i]
		value := values[field.name]
		if value == nil {
			value = field.initial
		}
		switch {
		case value != nil:
			b.Name(field.name).Raw(rawjson.Normal(value))
		case field.required:
			missing = field.name
		}
	}
	return b.End().Bytes(), missing
}
