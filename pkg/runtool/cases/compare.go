package cases

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/runtool/outcome"
)

// A Difference is one thing that an outcome has and the case does not expect.
type Difference struct {
	What string // such as "text", or "structured/message"
	Want string // "" if What names it
	Got  string
}

// Compare returns the differences between an outcome and the expectation.
func (e *Expectation) Compare(o *outcome.Outcome) (list []Difference) {
	text := o.Text()
	switch {
	case e.Error == nil && o.Failed():
		return []Difference{{What: "the call failed", Got: errorText(o)}}
	case e.Error != nil && !o.Failed():
		list = append(list, Difference{What: "the call did not fail", Got: text})
	case rawjson.KindOf(e.Error) == rawjson.Object && o.Error == nil:
		list = append(list, Difference{What: "error", Want: string(e.Error), Got: "a result that is an error: " + text})
	case rawjson.KindOf(e.Error) == rawjson.Object:
		list = subset(list, e.Error, o.Error, "error")
	}
	if e.Text != nil && outcome.Trim(*e.Text) != text {
		list = append(list, Difference{"text", outcome.Trim(*e.Text), text})
	}
	for _, part := range e.Contains {
		if !strings.Contains(text, part) {
			list = append(list, Difference{"text does not contain", part, text})
		}
	}
	for _, re := range e.Matches {
		if !re.MatchString(text) {
			list = append(list, Difference{"text does not match", re.String(), text})
		}
	}
	if e.Structured != nil {
		list = subset(list, e.Structured, o.Structured(), "structured")
	}
	return list
}

func errorText(o *outcome.Outcome) string {
	if o.Error == nil {
		return o.Text()
	}
	return fmt.Sprintf("error %s: %s", rawjson.Get(o.Error, "code"), o.Text())
}

// subset appends the differences between a value and the part of it that is wanted. at is the place of the value.
func subset(list []Difference, want, got json.RawMessage, at string) []Difference {
	differs := func() []Difference { return append(list, Difference{at, string(want), shown(got)}) }
	if pattern, ok := patternOf(want); ok {
		text, isText := rawjson.Text(got)
		if re, err := regexp.Compile(pattern); err != nil || !isText || !re.MatchString(text) {
			return append(list, Difference{at + " does not match", pattern, shown(got)})
		}
		return list
	}
	if rawjson.KindOf(want) != rawjson.KindOf(got) || got == nil {
		return differs()
	}
	switch rawjson.KindOf(want) {
	case rawjson.Object:
		for name, member := range rawjson.All(want) {
			list = subset(list, member, rawjson.Get(got, name), at+"/"+name)
		}
	case rawjson.Array:
		var others []json.RawMessage
		for e := range rawjson.Elements(got) {
			others = append(others, e)
		}
		n := 0
		for range rawjson.Elements(want) {
			n++
		}
		if n != len(others) {
			return differs()
		}
		i := 0
		for e := range rawjson.Elements(want) {
			list = subset(list, e, others[i], fmt.Sprintf("%s/%d", at, i))
			i++
		}
	default:
		if !rawjson.Equal(want, got) && !sameNumber(string(want), string(got)) {
			return differs()
		}
	}
	return list
}

// sameNumber reports whether two numbers are equal, and one of them is not written as an integer.
func sameNumber(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y && strings.ContainsAny(a+b, ".eE")
}

func shown(v json.RawMessage) string {
	if v == nil {
		return "(missing)"
	}
	return string(v)
}
