package prompt

import (
	"encoding/json"

	"mcp-bash/pkg/json/rawjson"
)

// Metadata declares arguments as a JSON Schema object, or as the array that clients get (T-820).

func requiredOf(arguments json.RawMessage) []string {
	var names []string
	switch rawjson.KindOf(arguments) {
	case rawjson.Object:
		for e := range rawjson.Elements(rawjson.Get(arguments, "required")) {
			if name, ok := rawjson.Text(e); ok {
				names = append(names, name)
			}
		}
	case rawjson.Array:
		for e := range rawjson.Elements(arguments) {
			if rawjson.True(rawjson.Get(e, "required")) {
				names = append(names, rawjson.TextOf(e, "name"))
			}
		}
	}
	return names
}

// missingOf returns the required arguments that are absent or null. An empty string counts as given (T-803).
func missingOf(required []string, given json.RawMessage) []string {
	var missing []string
	for _, name := range required {
		if rawjson.Absent(rawjson.Get(given, name)) {
			missing = append(missing, name)
		}
	}
	return missing
}

// AppendListed appends a registry entry in the form of prompts/list.
func AppendListed(dst []byte, item json.RawMessage) []byte {
	b := rawjson.Over(dst)
	b.Object()
	for _, m := range rawjson.Members(item) {
		switch m.Name {
		case "elicit":
		case "metadata":
			if !rawjson.Absent(m.Value) {
				b.Name(m.Name).Raw(m.Value)
			}
		case "arguments":
			b.Name(m.Name)
			appendArguments(b, m.Value)
		default:
			b.Name(m.Name).Raw(m.Value)
		}
	}
	return b.End().Bytes()
}

func appendArguments(b *rawjson.Builder, arguments json.RawMessage) {
	if rawjson.KindOf(arguments) == rawjson.Array {
		b.Raw(arguments)
		return
	}
	required := map[string]bool{}
	for _, name := range requiredOf(arguments) {
		required[name] = true
	}
	b.Array()
	for _, p := range rawjson.Members(rawjson.Get(arguments, "properties")) {
		b.Object().Name("name").String(p.Name).Name("description").String(rawjson.TextOf(p.Value, "description")).
			Name("required").Bool(required[p.Name]).End()
	}
	b.End()
}

// formFor returns the schema of a form that asks for these arguments (M-58). Forms support simple
// types only, so other arguments become text fields.
func formFor(arguments json.RawMessage, names []string) json.RawMessage {
	var b rawjson.Builder
	b.Object().Name("type").String("object").Name("properties").Object()
	for _, name := range names {
		b.Name(name).Raw(fieldFor(arguments, name))
	}
	return b.End().Name("required").Strings(names).End().Bytes()
}

func fieldFor(arguments json.RawMessage, name string) json.RawMessage {
	property := rawjson.Path(arguments, "properties", name)
	for e := range rawjson.Elements(arguments) {
		if rawjson.TextOf(e, "name") == name {
			property = e
		}
	}
	var b rawjson.Builder
	kind := "string"
	switch t := rawjson.TextOf(property, "type"); t {
	case "number", "integer", "boolean":
		kind = t
	}
	b.Object().Name("type").String(kind)
	for _, keyword := range []string{"title", "description", "enum", "default", "minimum", "maximum", "minLength",
		"maxLength", "format"} {
		if v := rawjson.Get(property, keyword); !rawjson.Absent(v) {
			b.Name(keyword).Raw(rawjson.Normal(v))
		}
	}
	return b.End().Bytes()
}

// merge returns the members of both objects. Members of over take precedence.
func merge(base, over json.RawMessage) json.RawMessage {
	var b rawjson.Builder
	b.Object()
	for _, m := range rawjson.Members(base) {
		if rawjson.Get(over, m.Name) == nil {
			b.Name(m.Name).Raw(m.Value)
		}
	}
	for _, m := range rawjson.Members(over) {
		b.Name(m.Name).Raw(rawjson.Normal(m.Value))
	}
	return b.End().Bytes()
}
