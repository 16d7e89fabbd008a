package validate

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/kinds"
)

// Characters of a result that Claude Code gives its model by default, and that a tool may ask for.
// It stores longer results in a file (LR-40).
const (
	shownByDefault = 50_000
	shownAtMost    = 500_000
	shownMember    = "anthropic/maxResultSizeChars"
)

// large checks the member of _meta with which tools ask for more characters (LR-40).
func (c *check) large() {
	for _, tool := range c.offered.items[kinds.Tools] {
		if shown, declared := shownOf(tool.json); declared && shown == 0 {
			c.at("large.invalid", c.labelOf(tool), fmt.Sprintf("%q must be a number above 0", shownMember))
		} else if declared && shown > shownAtMost {
			c.at("large.invalid", c.labelOf(tool),
				fmt.Sprintf("Claude Code shows %d characters at most, not %d", shownAtMost, shown))
		}
		bound := rawjson.Get(tool.json, "largeResultBytes")
		n := rawjson.PositiveInt(bound)
		switch {
		case rawjson.Absent(bound) || !rawjson.Absent(rawjson.Get(tool.json, "outputSchema")):
		case n > shownByDefault:
			c.suggestShown(tool, n, fmt.Sprintf("a result can have %d bytes (\"largeResultBytes\")", n))
		case n == 0 && c.p.Meta.LargeResult > 0:
			c.suggestShown(tool, shownAtMost, `"largeResultBytes": 0 sends results of any size`)
		}
	}
}

// shownOf returns the number of characters that a tool asks for, or 0 for an invalid one.
func shownOf(tool json.RawMessage) (n int, declared bool) {
	v := rawjson.Get(rawjson.Get(tool, "_meta"), shownMember)
	if rawjson.Absent(v) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || f <= 0 {
		return 0, true
	}
	return int(min(f, 1<<30)), true
}

// suggestShown reports a tool with large results that asks for no or too few characters.
func (c *check) suggestShown(tool offer, need int, why string) {
	need = min(need, shownAtMost)
	if shown, declared := shownOf(tool.json); declared && (shown == 0 || shown >= need) {
		return
	}
	c.at("large.shown", c.labelOf(tool), fmt.Sprintf(
		"%s, and Claude Code stores those of more than %d characters in a file: add \"_meta\": {%q: %d}",
		why, shownByDefault, shownMember, need))
}

// pictureOf checks the size of a picture in a sample's result.
func (c *check) pictureOf(tool offer, content json.RawMessage) {
	of, data := content, "data"
	if resource := rawjson.Get(content, "resource"); resource != nil {
		of, data = resource, "blob"
	}
	size := base64.StdEncoding.DecodedLen(len(rawjson.TextOf(of, data)))
	c.picture(c.labelOf(tool), rawjson.TextOf(of, "mimeType"), size)
}

// measure checks the size of a sample's result.
func (c *check) measure(tool offer, result json.RawMessage) {
	n := 0
	for content := range rawjson.Elements(rawjson.Get(result, "content")) {
		n += utf8.RuneCountInString(rawjson.TextOf(content, "text"))
		c.pictureOf(tool, content)
	}
	bound := c.p.Meta.LargeResult
	if v := rawjson.Get(tool.json, "largeResultBytes"); !rawjson.Absent(v) {
		bound = rawjson.PositiveInt(v)
	}
	if n > shownByDefault && (bound == 0 || bound > shownByDefault) {
		c.suggestShown(tool, n, fmt.Sprintf("the result of a sample has %d characters", n))
	}
}
