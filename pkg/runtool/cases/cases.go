// Package cases reads test cases of tools, and compares results with what the cases expect. It runs nothing.
//
// [Parse] makes a [Case] of each document in a file. [Expectation.Compare] returns each [Difference] from an outcome.
// [Rewrite] puts new expected values into the text of a file, and keeps the rest.
package cases

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/json/yamljson"
	"mcp-bash/pkg/wire/mcp"
	"mcp-bash/schemas"
)

// Limits on a file.
const (
	MaxFile  = 1 << 20 // bytes
	MaxCases = 1000
)

// A Case is one call of a tool and what it must return.
type Case struct {
	Name      string // "" for the name of the file
	Line      int    // at which the case begins
	Tool      string
	Arguments json.RawMessage // compact object
	Roots     []string
	HasRoots  bool
	Answers   json.RawMessage // array or object, or nil
	Env       map[string]string
	Timeout   int // seconds, or 0
	Cancel    Cancel
	DryRun    bool
	Expect    Expectation
}

// A Cancel is the moment at which the client cancels a call.
type Cancel string

// The moments. Others are durations, for [Cancel.After].
const (
	Never      Cancel = ""
	AtProgress Cancel = "progress"
	AtQuestion Cancel = "question"
)

// After returns the time until the cancellation. ok is false unless it is at a fixed time.
func (c Cancel) After() (d time.Duration, ok bool) {
	seconds, err := strconv.ParseFloat(string(c), 64)
	return time.Duration(seconds * float64(time.Second)), err == nil
}

// An Expectation describes the result that a call must return.
type Expectation struct {
	Text       *string
	Contains   []string
	Matches    []*regexp.Regexp
	Structured json.RawMessage // nil if it does not matter
	Error      json.RawMessage // true or an object; nil: no error
}

// fixed are variables that a case cannot set, because files cannot loosen these settings.
var fixed = []string{"MCPBASH_SECURITY_LEVEL", "MCPBASH_CONFINE"}

// Parse returns the cases in a text. Each line of the error is one fault, with the number of its line.
func Parse(text []byte) ([]Case, error) {
	if len(text) > MaxFile {
		return nil, fmt.Errorf("larger than %d bytes", MaxFile)
	}
	documents, err := yamljson.Parse(bytes.TrimPrefix(text, rawjson.ByteOrderMark), 0)
	if err != nil {
		return nil, err
	}
	documents = slices.DeleteFunc(documents, func(d yamljson.Document) bool { return rawjson.Absent(d.JSON) })
	switch {
	case len(documents) == 0:
		return nil, errors.New("there is no case")
	case len(documents) > MaxCases:
		return nil, fmt.Errorf("more than %d cases", MaxCases)
	}
	var list []Case
	var faults []error
	for i := range documents {
		c, wrong := read(&documents[i])
		list, faults = append(list, c), append(faults, wrong...)
	}
	return list, errors.Join(faults...)
}

// read reads one document.
func read(d *yamljson.Document) (c Case, faults []error) {
	fault := func(pointer, text string) {
		faults = append(faults, fmt.Errorf("line %d: %s", d.Line(pointer), text))
	}
	violations := schemas.Compile(schemas.Case).Check(d.JSON)
	slices.SortStableFunc(violations, func(a, b schema.Violation) int { return d.Line(a.Path) - d.Line(b.Path) })
	for _, v := range violations {
		fault(v.Path, v.String())
	}
	if faults != nil {
		return c, faults
	}
	c = Case{Line: d.Line(""), Name: rawjson.TextOf(d.JSON, "name"), Tool: rawjson.TextOf(d.JSON, "tool"),
		Arguments: json.RawMessage("{}"), Answers: rawjson.Get(d.JSON, "answers"),
		Timeout: rawjson.PositiveInt(rawjson.Get(d.JSON, "timeout")), DryRun: rawjson.True(rawjson.Get(d.JSON, "dryRun"))}
	if arguments := rawjson.Get(d.JSON, "arguments"); arguments != nil {
		c.Arguments = arguments
	}
	roots := rawjson.Get(d.JSON, "roots")
	c.Roots, _ = rawjson.Strings(roots)
	c.HasRoots = roots != nil
	for name, value := range rawjson.All(rawjson.Get(d.JSON, "env")) {
		if slices.Contains(fixed, name) {
			fault("/env/"+name, "/env/"+name+": a case cannot set this variable")
		}
		if c.Env == nil {
			c.Env = map[string]string{}
		}
		c.Env[name], _ = rawjson.Text(value)
	}
	if cancel := rawjson.Get(d.JSON, "cancel"); cancel != nil {
		word, isText := rawjson.Text(cancel)
		if !isText {
			word = string(cancel)
		}
		c.Cancel = Cancel(word)
	}
	c.Expect = readExpectation(rawjson.Get(d.JSON, "expect"), fault)
	if c.Cancel != Never && c.Expect.Error == nil {
		c.Expect.Error = fmt.Appendf(nil, `{"code":%d}`, mcp.CodeToolCancelled)
	}
	return c, faults
}

func readExpectation(v json.RawMessage, fault func(pointer, text string)) (e Expectation) {
	if text, ok := rawjson.Text(rawjson.Get(v, "text")); ok {
		e.Text = &text
	}
	e.Contains = texts(rawjson.Get(v, "contains"))
	for _, text := range texts(rawjson.Get(v, "matches")) {
		re, err := regexp.Compile(text)
		if err != nil {
			fault("/expect/matches", "/expect/matches: "+err.Error())
			continue
		}
		e.Matches = append(e.Matches, re)
	}
	e.Structured, e.Error = rawjson.Get(v, "structured"), rawjson.Get(v, "error")
	for _, part := range []string{"structured", "error"} {
		checkPatterns(rawjson.Get(v, part), "/expect/"+part, fault)
	}
	return e
}

// texts returns the strings of a value that is a string or an array of strings.
func texts(v json.RawMessage) []string {
	if text, ok := rawjson.Text(v); ok {
		return []string{text}
	}
	list, _ := rawjson.Strings(v)
	return list
}

// checkPatterns reports the invalid expressions in a value that others are compared with.
func checkPatterns(v json.RawMessage, pointer string, fault func(pointer, text string)) {
	if pattern, ok := patternOf(v); ok {
		if _, err := regexp.Compile(pattern); err != nil {
			fault(pointer, pointer+": "+err.Error())
		}
		return
	}
	for name, member := range rawjson.All(v) {
		checkPatterns(member, pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), fault)
	}
	for i, e := range slices.Collect(rawjson.Elements(v)) {
		checkPatterns(e, fmt.Sprintf("%s/%d", pointer, i), fault)
	}
}

// patternOf returns the expression of {"$matches": "REGEX"}.
func patternOf(v json.RawMessage) (pattern string, ok bool) {
	if rawjson.KindOf(v) != rawjson.Object || len(rawjson.Members(v)) != 1 {
		return "", false
	}
	return rawjson.Text(rawjson.Get(v, "$matches"))
}
