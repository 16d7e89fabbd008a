package recipe

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/schemas"
)

// maxText limits the size of a recipe in bytes.
const maxText = 256 << 10

// A Fault is one error in a recipe.
type Fault struct {
	Line, Column int    // from 1, or 0 if the fault has no place
	Path         string // JSON Pointer, such as "/arguments/3/choices"
	Reason       string
}

// Error returns the place and the reason.
func (f Fault) Error() string {
	text := f.Reason
	if f.Path != "" {
		text = f.Path + ": " + text
	}
	if f.Line > 0 {
		text = fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, text)
	}
	return text
}

// Faults are the errors in a recipe.
type Faults []Fault

// Error returns the first fault and the number of the others.
func (f Faults) Error() string {
	if len(f) == 1 {
		return f[0].Error()
	}
	return fmt.Sprintf("%s (and %d more faults)", f[0].Error(), len(f)-1)
}

// Parse reads a recipe. It refuses unknown and repeated members, control characters in texts, and values that
// contradict each other. The error is of type [Faults].
func Parse(text []byte) (*Recipe, error) {
	if len(text) > maxText {
		return nil, Faults{{Reason: fmt.Sprintf("a recipe has at most %d KiB", maxText>>10)}}
	}
	doc, err := rawjson.Check(text)
	var syntax *rawjson.SyntaxError
	switch {
	case errors.As(err, &syntax):
		line, column := syntax.Position(text)
		return nil, Faults{{Line: line, Column: column, Reason: err.Error()}}
	case err != nil:
		return nil, Faults{{Reason: err.Error()}}
	}
	faults := inspect(doc, "", nil)
	for _, v := range schemas.Compile(schemas.Recipe).Check(doc) {
		faults = append(faults, Fault{Path: v.Path, Reason: v.Message})
	}
	r := new(Recipe)
	if len(faults) == 0 {
		if err := json.Unmarshal(doc, r); err != nil {
			return nil, Faults{{Reason: err.Error()}}
		}
		if faults = r.check(); len(faults) == 0 {
			return r, nil
		}
	}
	for i := range faults {
		faults[i].Line, faults[i].Column, _ = rawjson.Position(text, rawjson.At(doc, faults[i].Path))
	}
	return nil, faults
}

// inspect appends a fault for each member that an object has twice, and each text that could hide some of itself from
// a reader.
func inspect(v json.RawMessage, path string, faults Faults) Faults {
	switch rawjson.KindOf(v) {
	case rawjson.Object:
		seen := map[string]bool{}
		for name, value := range rawjson.All(v) {
			below := path + "/" + rawjson.ToPointer.Replace(name)
			if seen[name] {
				faults = append(faults, Fault{Path: below, Reason: "is given twice"})
			}
			seen[name] = true
			faults = inspect(value, below, inspect(rawjson.Quote(name), below, faults))
		}
	case rawjson.Array:
		i := 0
		for value := range rawjson.Elements(v) {
			faults = inspect(value, path+"/"+strconv.Itoa(i), faults)
			i++
		}
	case rawjson.String:
		if text, _ := rawjson.Text(v); strings.ContainsFunc(text, hides) {
			faults = append(faults, Fault{Path: path, Reason: "contains a control character"})
		}
	}
	return faults
}

func hides(r rune) bool {
	return unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r)
}
