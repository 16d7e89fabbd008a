package market

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"mcp-bash/pkg/bundle/plugins"
	"mcp-bash/pkg/json/rawjson"
)

type member struct {
	name     string
	max      int // characters
	required bool
}

// The texts of the objects in a description. schemas/marketplace.schema.json states the same rules for editors. The
// program does not contain it, because it would contain all schemas (50 KB).
var (
	rootTexts = []member{
		{"$schema", 500, false}, {"name", 64, true}, {"title", 200, false}, {"description", 2000, false},
	}
	ownerTexts    = []member{{"name", 200, true}, {"email", 200, false}}
	pluginTexts   = []member{{"path", 500, true}, {"category", 100, false}}
	registryTexts = []member{{"name", 200, true}, {"bundle", 500, true}, {"url", 2000, true}}
)

const maxPlugins = 1000

// check returns the first fault of a description (PL-40).
func check(doc json.RawMessage) error {
	if err := checkObject("the description", doc, rootTexts, "owner", "plugins"); err != nil {
		return err
	}
	if name := rawjson.TextOf(doc, "name"); plugins.Name(name) != name {
		return fmt.Errorf("name: %q: use lower-case letters, digits and single dashes", name)
	}
	if err := checkObject("owner", rawjson.Get(doc, "owner"), ownerTexts); err != nil {
		return err
	}
	list := rawjson.Get(doc, "plugins")
	if rawjson.KindOf(list) != rawjson.Array {
		return errors.New("plugins: not a list")
	}
	count := 0
	for item := range rawjson.Elements(list) {
		where := fmt.Sprintf("plugins[%d]", count)
		if count++; count > maxPlugins {
			return fmt.Errorf("plugins: more than %d", maxPlugins)
		}
		if err := checkObject(where, item, pluginTexts, "registry"); err != nil {
			return err
		}
		if r := rawjson.Get(item, "registry"); r != nil {
			if err := checkObject(where+".registry", r, registryTexts); err != nil {
				return err
			}
		}
	}
	if count == 0 {
		return errors.New("plugins: the list is empty")
	}
	return nil
}

// checkObject checks the members of an object. others are the members that are not texts.
func checkObject(where string, v json.RawMessage, texts []member, others ...string) error {
	if rawjson.KindOf(v) != rawjson.Object {
		return fmt.Errorf("%s: not an object", where)
	}
	for _, m := range rawjson.Members(v) {
		at := slices.IndexFunc(texts, func(t member) bool { return t.name == m.Name })
		switch value, isText := rawjson.Text(m.Value); {
		case at < 0 && slices.Contains(others, m.Name):
		case at < 0:
			return fmt.Errorf("%s: unknown member %q", where, m.Name)
		case !isText:
			return fmt.Errorf("%s: %s is not a text", where, m.Name)
		case value == "" && m.Name != "$schema", utf8.RuneCountInString(value) > texts[at].max:
			return fmt.Errorf("%s: %s has not between 1 and %d characters", where, m.Name, texts[at].max)
		}
	}
	for _, t := range texts {
		if t.required && rawjson.Get(v, t.name) == nil {
			return fmt.Errorf("%s: %s is missing", where, t.name)
		}
	}
	return nil
}
