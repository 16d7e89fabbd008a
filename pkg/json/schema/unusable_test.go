package schema

import (
	"strings"
	"testing"
)

// CLI-1015: an error has the keyword and the JSON types, but no types of Go.
func TestFormError(t *testing.T) {
	for text, want := range map[string]string{
		`{"required":5}`:                        "required: expected an array of strings, found a number",
		`{"properties":{"a":{"required":"x"}}}`: "properties.a.required: expected an array of strings, found a string",
		`{"allOf":[{},{"title":5}]}`:            "allOf[1].title: expected a string, found a number",
		`{"items":{"pattern":[]}}`:              "items.pattern: expected a string, found an array",
		`{"type":5}`:                            "type: expected the name of a type, or an array of names, found a number",
		`{"minLength":"x"}`:                     "minLength: expected a whole number, found a string",
		`{"properties":[]}`:                     "properties: expected an object, found an array",
		`{"items":"x"}`:                         "items: expected an object, found a string",
		`{"required":["a",5]}`:                  "required: expected an array of strings, found another value in it",
		`{"uniqueItems":"x"}`:                   "uniqueItems: expected true or false, found a string",
		`{"multipleOf":"x"}`:                    "multipleOf: expected a number, found a string",
		`{"enum":5}`:                            "enum: expected an array, found a number",
		`{"properties":{"a":5}}`:                "properties: expected an object of other values, found a wrong one in it",
		`{"dependentRequired":{"a":5}}`:         "dependentRequired: expected an array of strings, found an object",
		`5`:                                     "expected an object, found a number",
		`{"pattern":"("}`:                       "pattern: error parsing regexp: missing closing ): `(`",
	} {
		_, err := Compile([]byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
	for _, text := range []string{
		`{"$vocabulary":{"a":5}}`, `{"dependencies":{"a":5}}`, `{"$defs":{"a":{"allOf":{}}}}`, `{"minLength":1.5}`, `[]`,
		`{"additionalProperties":3}`, `{"not":[]}`, `"x"`, `{"$ref":"#/x"}`,
	} {
		_, err := Compile([]byte(text))
		if err == nil || strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "jsonschema") ||
			strings.Contains(err.Error(), "struct") || strings.Contains(err.Error(), "unmarshal") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
