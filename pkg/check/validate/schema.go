package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/feature/tool/paramheader"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
)

// dialect is the JSON Schema dialect that clients assume for a schema without $schema. The official
// libraries write draft-07.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// schemas checks the schemas of a tool. The registry has checked each keyword.
func (c *check) schemas(doc json.RawMessage, label string) {
	input := rawjson.Get(doc, "inputSchema")
	if rawjson.Absent(input) {
		input = rawjson.Get(doc, "arguments")
	}
	if rawjson.KindOf(input) == rawjson.Object && rawjson.Get(input, "type") == nil &&
		rawjson.Get(input, "properties") == nil {
		c.at("schema.empty", label, `inputSchema has no "type" or "properties"`)
	}
	c.schema("inputSchema", input, label)
	_, faults := paramheader.Parse(input)
	for _, fault := range faults { // H-441
		message := paramheader.Annotation + " " + fault.Reason
		c.add(c.near(fault.Piece, finding.Finding{ID: "schema.header", Path: label, Message: message}))
	}
	output := rawjson.Get(doc, "outputSchema")
	c.schema("outputSchema", output, label)
	if rawjson.KindOf(output) == rawjson.Object && rawjson.TextOf(output, "type") != "object" {
		c.at("schema.output_type", label, `outputSchema is not of "type": "object"`)
	}
}

func (c *check) schema(name string, v json.RawMessage, label string) {
	if rawjson.KindOf(v) != rawjson.Object {
		return // absent, or reported by the registry
	}
	if given := rawjson.TextOf(v, "$schema"); given != "" && strings.TrimSuffix(given, "#") != dialect {
		c.at("schema.dialect", label, fmt.Sprintf("%s is of the dialect %s, not JSON Schema 2020-12", name, given))
	}
	if _, err := schema.Compile(v); err != nil {
		f := finding.Finding{ID: "schema.unusable", Path: label, Message: fmt.Sprintf("%s cannot be used: %v", name, err)}
		if form, ok := errors.AsType[*schema.FormError](err); ok {
			f = c.near(form.Piece, f)
		}
		c.add(f)
	}
}
