package item

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// A checker checks a field that clients will read. It leaves out the parts that a client would refuse, often together
// with the whole list that contains them. It returns valid values without copying them.
type checker struct {
	fields   *Fields
	source   *Source // the source of the field
	topic    Topic   // of messages about faults
	path     []step  // from the field to the current value
	reported int
}

// A step leads to a member of an object, or to an element of an array.
type step struct {
	name  string
	index int // notAnElement for a member
}

const notAnElement = -1

// place returns the path in the notation of JavaScript: "a.b[0]".
func (c *checker) place() string {
	var b strings.Builder
	for i, at := range c.path {
		switch {
		case at.index != notAnElement:
			fmt.Fprintf(&b, "[%d]", at.index)
		case i > 0:
			b.WriteString("." + at.name)
		default:
			b.WriteString(at.name)
		}
	}
	return b.String()
}

// maxReported is the maximum number of logged faults of one field.
const maxReported = 10

// fault reports that the piece at the path is left out.
func (c *checker) fault(piece json.RawMessage, what string) {
	if c.reported++; c.reported <= maxReported {
		path := c.place()
		c.fields.fault(c.path[0].name, path+": "+what,
			Message{Topic: c.topic, At: c.source.At(piece), Text: path + ": " + what + "; left out"})
	}
}

// checked returns the result of a check of a field, or nil if the field is missing. Messages about faults have the
// topic.
func (f *Fields) checked(topic Topic, name string, v json.RawMessage,
	sound func(c *checker) json.RawMessage) json.RawMessage {
	for i := range f.Sources {
		if s := &f.Sources[i]; v != nil && sameBytes(s.get(name), v) {
			return sound(f.checker(topic, s, name))
		}
	}
	return v
}

func (f *Fields) checker(topic Topic, s *Source, name string) *checker {
	return &checker{fields: f, source: s, topic: topic, path: []step{{name, notAnElement}}}
}

func sameBytes(a, b []byte) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// object returns an object with the values that check returns. A member whose value is
// nil is left out.
func (c *checker) object(v json.RawMessage,
	check func(name string, value json.RawMessage) json.RawMessage) json.RawMessage {
	members := rawjson.Members(v)
	changed := false
	for i, m := range members {
		c.path = append(c.path, step{m.Name, notAnElement})
		members[i].Value = check(m.Name, m.Value)
		c.path = c.path[:len(c.path)-1]
		changed = changed || !sameBytes(members[i].Value, m.Value)
	}
	if !changed {
		return v
	}
	var b rawjson.Builder
	b.Object()
	for _, m := range members {
		b.OptionalRaw(m.Name, m.Value)
	}
	return b.End().Bytes()
}

// array returns an array with the elements that check returns, without nil elements.
func (c *checker) array(v json.RawMessage, check func(value json.RawMessage) json.RawMessage) json.RawMessage {
	elements := slices.Collect(rawjson.Elements(v))
	changed := false
	for i, e := range elements {
		c.path = append(c.path, step{index: i})
		elements[i] = check(e)
		c.path = c.path[:len(c.path)-1]
		changed = changed || !sameBytes(elements[i], e)
	}
	if !changed {
		return v
	}
	var b rawjson.Builder
	b.Array()
	for _, e := range elements {
		if e != nil {
			b.Raw(e)
		}
	}
	return b.End().Bytes()
}

// members checks the members of an object that have a rule. It keeps the other members, and reports those with nearly
// the name of a rule.
func (c *checker) members(v json.RawMessage, forms []form) json.RawMessage {
	known := []string{"name", "src"} // of arguments and icons
	for _, f := range forms {
		known = append(known, f.name)
	}
	return c.object(v, func(name string, value json.RawMessage) json.RawMessage {
		for _, f := range forms {
			if f.name == name {
				return c.value(value, f.is)
			}
		}
		if near := NearestKey(name, known); near != "" && near != name && c.fields.Reject == nil {
			c.fields.Dir.Log(Message{Level: mcp.Warning, Topic: UnknownKey, At: c.source.At(value),
				Text: fmt.Sprintf("%s: unknown key %q; did you mean %s?", c.path[0].name, name, near)})
		}
		return value
	})
}

// A rule describes and checks the form of a value.
type rule struct {
	want string
	met  func(v json.RawMessage) bool
}

type form struct {
	name string
	is   rule
}

// The tables contain only names of functions, so that a program initializes them without
// work at its start.
var (
	aString  = rule{"a string", isString}
	aBool    = rule{"true or false", isBool}
	anArray  = rule{"an array", isArray}
	anObject = rule{"an object", isObject}
	aNumber  = rule{"a number", isNumeric}
	aCount   = rule{"a whole number, not negative", isCount}
	aFactor  = rule{"a number above 0", isFactor}
	someText = rule{"an array of different strings", areNames}
)

var (
	toolHints = []form{
		{"title", aString}, {"readOnlyHint", aBool}, {"destructiveHint", aBool}, {"idempotentHint", aBool},
		{"openWorldHint", aBool},
	}
	annotationForms = []form{
		{"audience", rule{`an array of "user" and "assistant"`, isAudience}},
		{"priority", rule{"a number from 0 to 1", isPriority}},
		{"lastModified", rule{"a time like 2025-01-12T15:00:58Z", isTime}},
	}
	iconForms = []form{
		{"mimeType", aString}, {"sizes", rule{"an array of strings", rawjson.IsStrings}},
		{"theme", rule{`"light" or "dark"`, isTheme}},
	}
	argumentForms = []form{{"title", aString}, {"description", aString}, {"required", aBool}}
)

func isString(v json.RawMessage) bool  { return rawjson.KindOf(v) == rawjson.String }
func isBool(v json.RawMessage) bool    { return rawjson.KindOf(v) == rawjson.Bool }
func isArray(v json.RawMessage) bool   { return rawjson.KindOf(v) == rawjson.Array }
func isObject(v json.RawMessage) bool  { return rawjson.KindOf(v) == rawjson.Object }
func isNumeric(v json.RawMessage) bool { return rawjson.KindOf(v) == rawjson.Number }

func isAudience(v json.RawMessage) bool {
	list, ok := rawjson.Strings(v)
	return ok && !slices.ContainsFunc(list, func(who string) bool { return who != "user" && who != "assistant" })
}

func isPriority(v json.RawMessage) bool {
	var n float64
	return rawjson.KindOf(v) == rawjson.Number && json.Unmarshal(v, &n) == nil && n >= 0 && n <= 1
}

func isTime(v json.RawMessage) bool {
	text, _ := rawjson.Text(v)
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

func isTheme(v json.RawMessage) bool { return string(v) == `"light"` || string(v) == `"dark"` }

// ToolAnnotations returns the annotations of a tool.
func (f *Fields) ToolAnnotations() json.RawMessage { return f.annotationsOf(toolHints) }

// Annotations returns the annotations of a resource or template.
func (f *Fields) Annotations() json.RawMessage { return f.annotationsOf(annotationForms) }

func (f *Fields) annotationsOf(forms []form) json.RawMessage {
	v := f.OfKind("annotations", rawjson.Object)
	return f.checked(LeftOut, "annotations", v, func(c *checker) json.RawMessage { return c.members(v, forms) })
}

// OutputSchema returns the output schema of a tool, or nil.
func (f *Fields) OutputSchema() json.RawMessage {
	v := f.ofKind(BadSchema, "outputSchema", rawjson.Object)
	return f.checked(BadSchema, "outputSchema", v, func(c *checker) json.RawMessage { return c.offered(v) })
}

// Arguments returns the arguments of a prompt. The default is a schema that accepts any
// arguments.
func (f *Fields) Arguments() json.RawMessage {
	v := f.Pick("arguments", "a schema or an array of arguments", isArguments)
	if v = f.checked(LeftOut, "arguments", v, func(c *checker) json.RawMessage { return c.arguments(v) }); v == nil {
		return anyObject
	}
	return v
}

// isArguments reports whether a value is a schema, or a list in the form of the protocol.
func isArguments(v json.RawMessage) bool {
	kind := rawjson.KindOf(v)
	return kind == rawjson.Object || kind == rawjson.Array
}

func (c *checker) icons(v json.RawMessage) json.RawMessage {
	return c.array(v, func(icon json.RawMessage) json.RawMessage {
		if src, _ := rawjson.Text(rawjson.Get(icon, "src")); src == "" {
			c.topic = BadIcons
			c.fault(icon, "must be an object with the text src")
			c.topic = LeftOut
			return nil
		}
		return c.members(icon, iconForms)
	})
}

func (c *checker) arguments(v json.RawMessage) json.RawMessage {
	if rawjson.KindOf(v) == rawjson.Object {
		return c.schema(v)
	}
	return c.array(v, func(argument json.RawMessage) json.RawMessage {
		if rawjson.KindOf(argument) != rawjson.Object || rawjson.TextOf(argument, "name") == "" {
			c.fault(argument, "must be an object with a name")
			return nil
		}
		return c.members(argument, argumentForms)
	})
}

// CheckKeys warns about keys that resemble a known key. Other unknown keys may belong to other programs.
func (s *Input) CheckKeys(known []string) {
	for i := range s.Sources {
		source := &s.Sources[i]
		for _, m := range source.members {
			if m.isOneOf(known) || s.Reject != nil {
				continue
			}
			name, _ := rawjson.Text(m.name)
			if near := NearestKey(name, known); near != "" {
				s.Log(Message{Level: mcp.Warning, Topic: UnknownKey, At: source.At(m.name),
					Text: fmt.Sprintf("unknown key %q; did you mean %s?", name, near)})
			}
		}
	}
}

// NearestKey returns the known key that a name probably means, or "". Case, "_" and "-" do not count, and a known key
// may have a longer name: timeout means timeoutSecs.
func NearestKey(name string, known []string) string {
	letters := strings.NewReplacer("_", "", "-", "")
	plain := strings.ToLower(letters.Replace(name))
	for _, key := range known {
		if strings.ToLower(letters.Replace(key)) == plain {
			return key
		}
	}
	if near := cli.Nearest(name, known); near != "" {
		return near
	}
	const shortest = 5 // letters
	for _, key := range known {
		if len(plain) >= shortest && strings.HasPrefix(strings.ToLower(key), plain) {
			return key
		}
	}
	return ""
}

// value returns the value if it satisfies a rule. Otherwise it reports a fault and returns
// nil.
func (c *checker) value(v json.RawMessage, is rule) json.RawMessage {
	if !is.met(v) {
		c.fault(v, "must be "+is.want)
		return nil
	}
	return v
}

func isEmptyList(v json.RawMessage) bool {
	for range rawjson.Elements(v) {
		return false
	}
	return true
}

func areNames(v json.RawMessage) bool {
	if !rawjson.IsStrings(v) {
		return false
	}
	seen := make(map[string]bool)
	for e := range rawjson.Elements(v) {
		text, _ := rawjson.Text(e)
		if seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

// isCount reports whether a value is a whole number that is not negative, written
// like 3 or 3.0.
func isCount(v json.RawMessage) bool {
	if rawjson.KindOf(v) != rawjson.Number {
		return false
	}
	if strings.ContainsAny(string(v), "eE") {
		return v[0] != '-'
	}
	whole, fraction, _ := strings.Cut(string(v), ".")
	return strings.Trim(whole, "0123456789") == "" && strings.Trim(fraction, "0") == ""
}

func isFactor(v json.RawMessage) bool {
	return rawjson.KindOf(v) == rawjson.Number && v[0] != '-' && strings.ContainsAny(mantissa(v), "123456789")
}

func mantissa(v json.RawMessage) string {
	digits, _, _ := strings.Cut(strings.ToLower(string(v)), "e")
	return digits
}
