package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// A schema that applies itself to the same value, such as {"$ref":"#"}, would be checked without end. The stack would
// overflow, which ends the process. A reference for a part of the value is fine, because each value has an end.

// appliedHere are keywords whose schemas apply to the value itself, not to a part of it.
var appliedHere = []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}

// data are keywords whose values are not schemas.
var data = []string{"enum", "const", "default", "examples"}

// A document has the objects and lists of a schema by their JSON Pointer, such as "#/$defs/a".
type document struct {
	at    map[string]json.RawMessage
	named map[string][]string // the pointers of anchors and ids
	state map[string]int      // of the search: 1 for open, 2 for done
}

// checkCircular returns an error if a schema applies itself to the same value.
func checkCircular(text json.RawMessage) error {
	d := document{map[string]json.RawMessage{}, map[string][]string{}, map[string]int{}}
	d.add("#", text)
	for at := range d.at {
		if circle := d.search(at); circle != "" {
			return fmt.Errorf("%s refers to itself", circle)
		}
	}
	return nil
}

func (d *document) add(at string, v json.RawMessage) {
	switch rawjson.KindOf(v) {
	case rawjson.Array:
		d.at[at] = v
		i := 0
		for e := range rawjson.Elements(v) {
			d.add(at+"/"+strconv.Itoa(i), e)
			i++
		}
	case rawjson.Object:
		d.at[at] = v
		for name, e := range rawjson.All(v) {
			text, _ := rawjson.Text(e)
			switch {
			case name == "$anchor", name == "$dynamicAnchor":
				d.named["#"+text] = append(d.named["#"+text], at)
			case name == "$id":
				id := strings.TrimSuffix(text, "#")
				d.named[id] = append(d.named[id], at)
			case !slices.Contains(data, name):
				d.add(at+"/"+rawjson.ToPointer.Replace(name), e)
			}
		}
	}
}

// search returns the pointer of a schema that leads to itself, or "".
func (d *document) search(at string) string {
	switch d.state[at] {
	case 1:
		return at
	case 2:
		return ""
	}
	d.state[at] = 1
	defer func() { d.state[at] = 2 }()
	for _, next := range d.next(at) {
		if circle := d.search(next); circle != "" {
			return circle
		}
	}
	return ""
}

// next returns the schemas that apply to the same value as a schema.
func (d *document) next(at string) (list []string) {
	for _, keyword := range appliedHere {
		below := at + "/" + keyword
		switch v := d.at[below]; rawjson.KindOf(v) {
		case rawjson.Array:
			for i := 0; d.at[below+"/"+strconv.Itoa(i)] != nil; i++ {
				list = append(list, below+"/"+strconv.Itoa(i))
			}
		case rawjson.Object:
			if !strings.HasPrefix(keyword, "depend") {
				list = append(list, below)
				continue
			}
			for name := range rawjson.All(v) {
				list = append(list, below+"/"+rawjson.ToPointer.Replace(name))
			}
		}
	}
	for _, keyword := range []string{"$ref", "$dynamicRef"} {
		ref := rawjson.TextOf(d.at[at], keyword)
		base, fragment, _ := strings.Cut(ref, "#")
		switch {
		case ref == "":
			continue
		case fragment == "" && base != "":
			list = append(list, d.named[base]...)
		case fragment != "" && fragment[0] != '/':
			list = append(list, d.named["#"+fragment]...)
		default:
			list = append(list, "#"+fragment)
		}
	}
	return slices.DeleteFunc(list, func(at string) bool { return d.at[at] == nil })
}
