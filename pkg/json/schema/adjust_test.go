package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// T-15: arguments as models send them, in the form that the schema wants.
func TestAdjust(t *testing.T) {
	const tool = `{"type":"object","required":["id"],"additionalProperties":false,"properties":{
		"id":{"type":"integer"},"n":{"type":"integer","minimum":1},"x":{"type":"number"},"flag":{"type":"boolean"},
		"name":{"type":"string","minLength":1},"text":{"type":"string"},"kind":{"enum":["a","b"]},
		"tags":{"type":"array","items":{"type":"string"}},"sizes":{"type":"array","items":{"type":"integer"}},
		"pair":{"prefixItems":[{"type":"integer"},{"type":"boolean"}]},
		"box":{"type":"object","required":["w"],"properties":{"w":{"type":"integer"},"h":{"type":"integer"}}},
		"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},
		"maybeBox":{"anyOf":[{"$ref":"#/$defs/point"},{"type":"null"}]},
		"point":{"$ref":"#/$defs/point"},"both":{"allOf":[{"$ref":"#/$defs/point"},{"required":["y"]}]},
		"free":{},"more":{"type":"object","additionalProperties":{"type":"integer"}},
		"either":{"type":["integer","string"]},"tree":{"$ref":"#/$defs/tree"},"deep":{"$ref":"#/$defs/point/properties/x"}},
		"$defs":{"point":{"type":"object","properties":{"x":{"type":"integer"},"y":{"type":"integer"}}},
			"tree":{"type":"object","properties":{
				"v":{"type":"integer"},"kids":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}}}`
	s, err := Compile(json.RawMessage(tool))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ in, want, changes string }{
		// Absent.
		{`{"n":null,"id":1}`, `{"id":1}`, `/n absent`},
		{`{"id":1,"name":null,"flag":null}`, `{"id":1}`, `/name absent, /flag absent`},
		{`{"tags":null,"id":1}`, `{"id":1}`, `/tags absent`},
		{`{"id":1,"n":"","kind":"","tags":"","name":"","box":""}`, `{"id":1}`,
			`/n absent, /kind absent, /tags absent, /name absent, /box absent`},
		{`{"id":1,"box":{"w":2,"h":null}}`, `{"id":1,"box":{"w":2}}`, `/box/h absent`},
		// Text.
		{`{"id":"10"}`, `{"id":10}`, `/id number`},
		{`{"id":1,"x":"1.50","flag":"true"}`, `{"id":1,"x":1.50,"flag":true}`, `/x number, /flag boolean`},
		{`{"id":1,"sizes":"[1,2]"}`, `{"id":1,"sizes":[1,2]}`, `/sizes array`},
		{`{"id":1,"sizes":["1",2]}`, `{"id":1,"sizes":[1,2]}`, `/sizes/0 number`},
		{`{"id":1,"sizes":"[\"1\",2]"}`, `{"id":1,"sizes":[1,2]}`, `/sizes array, /sizes/0 number`},
		{`{"id":1,"pair":["1","false"]}`, `{"id":1,"pair":[1,false]}`, `/pair/0 number, /pair/1 boolean`},
		{`{"id":1,"box":"{\"w\":\"2\",\"h\":null}"}`, `{"id":1,"box":{"w":2}}`, `/box object, /box/w number, /box/h absent`},
		{`{"id":1,"maybe":"3","maybeBox":"{\"x\":\"1\"}"}`, `{"id":1,"maybe":3,"maybeBox":{"x":1}}`,
			`/maybe number, /maybeBox object, /maybeBox/x number`},
		{`{"id":1,"maybe":"null"}`, `{"id":1,"maybe":null}`, `/maybe null`},
		{`{"id":1,"point":{"x":"1"},"both":{"x":"1","y":"2"}}`, `{"id":1,"point":{"x":1},"both":{"x":1,"y":2}}`,
			`/point/x number, /both/x number, /both/y number`},
		{`{"id":1,"more":{"a/b":"1"}}`, `{"id":1,"more":{"a/b":1}}`, `/more/a~1b number`},
		{`{"id":1,"tree":{"v":"1","kids":[{"v":"2","kids":"[{\"v\":\"3\"}]"}]}}`,
			`{"id":1,"tree":{"v":1,"kids":[{"v":2,"kids":[{"v":3}]}]}}`,
			`/tree/v number, /tree/kids/0/v number, /tree/kids/0/kids array, /tree/kids/0/kids/0/v number`},
		{`{"id":"12345678901234567890"}`, `{"id":12345678901234567890}`, `/id number`},
		{`{"id":1,"deep":"5"}`, `{"id":1,"deep":5}`, `/deep number`},
		// As they are.
		{`{"id":1,"text":"10","name":"true","free":"[1]","maybe":null,"either":"5"}`,
			`{"id":1,"text":"10","name":"true","free":"[1]","maybe":null,"either":"5"}`, ``},
		{`{"id":1,"text":""}`, `{"id":1,"text":""}`, ``},
		{`{"id":null}`, `{"id":null}`, ``},
		{`{"id":""}`, `{"id":""}`, ``},
		{`{"id":1,"unknown":null}`, `{"id":1,"unknown":null}`, ``},
		{`{"id":1,"n":"0"}`, `{"id":1,"n":"0"}`, ``},
		{`{"id":1,"n":" 1"}`, `{"id":1,"n":" 1"}`, ``},
		{`{"id":1,"n":"1 2"}`, `{"id":1,"n":"1 2"}`, ``},
		{`{"id":1,"n":"01"}`, `{"id":1,"n":"01"}`, ``},
		{`{"id":1,"flag":"True"}`, `{"id":1,"flag":"True"}`, ``},
		{`{"id":1,"flag":1,"n":true,"text":5}`, `{"id":1,"flag":1,"n":true,"text":"5"}`, `/text string`},
		{`{"id":1,"text":true}`, `{"id":1,"text":true}`, ``},
		{`{"id":1,"tags":"a"}`, `{"id":1,"tags":"a"}`, ``},
		{`{"id":1,"sizes":[null,""]}`, `{"id":1,"sizes":[null,""]}`, ``},
		{`{"id":1,"box":{"w":null}}`, `{"id":1,"box":{"w":null}}`, ``},
		{`[]`, `[]`, ``}, {`5`, `5`, ``},
		// Valid parts next to invalid ones.
		{`{"id":"1","n":"no"}`, `{"id":1,"n":"no"}`, `/id number`},
	} {
		got, done := s.Adjust(json.RawMessage(tc.in))
		list := make([]string, len(done))
		for i, d := range done {
			list[i] = d.Path + " " + d.To
		}
		if string(got) != tc.want || strings.Join(list, ", ") != tc.changes {
			t.Errorf("%s:\n got %s (%s)\nwant %s (%s)", tc.in, got, strings.Join(list, ", "), tc.want, tc.changes)
		}
		if valid := s.Check(got) == nil; valid != (s.Check(json.RawMessage(tc.want)) == nil) {
			t.Errorf("%s: %v", tc.in, s.Check(got))
		}
	}
}

// Adjusting ends soon for every value, and reports a limited number of changes.
func TestAdjustLimits(t *testing.T) {
	list, err := Compile(json.RawMessage(`{"properties":{"a":{"type":"array","items":{"type":"integer"}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	values := func(n int) json.RawMessage {
		return json.RawMessage(`{"a":[` + strings.TrimSuffix(strings.Repeat(`"1",`, n), ",") + `]}`)
	}
	got, done := list.Adjust(values(40_000))
	if len(done) != maxViolations || list.Check(got) != nil {
		t.Errorf("%d adjustments", len(done))
	}
	if got, _ := list.Adjust(values(maxValues + 10)); list.Check(got) == nil {
		t.Error("more values than the limit are adjusted")
	}
	branches := strings.TrimSuffix(strings.Repeat(`{"required":["x"]},`, 100), ",")
	many, err := Compile(json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#"}},"anyOf":[` + branches + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	nested := strings.Repeat(`{"a":`, 60) + `"1"` + strings.Repeat("}", 60)
	inText := "1"
	for range 14 {
		inText = string(must(json.Marshal(`{"a":` + inText + `}`)))
	}
	for what, value := range map[string]string{"nested": nested, "text in text": `{"a":` + inText + `}`,
		"large": `{"a":"` + strings.Repeat("[", 1<<20) + `"}`} {
		if got, _ := many.Adjust(json.RawMessage(value)); !json.Valid(got) {
			t.Error(what)
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// T-15: no adjustment of a valid value, and none of a value in a valid one.
func FuzzAdjust(f *testing.F) {
	f.Add(`{"properties":{"n":{"type":"integer"},"b":{"anyOf":[{"$ref":"#"},{"type":"boolean"}]}}}`,
		`{"n":"1","b":"{\"n\":\"2\"}"}`)
	f.Add(`{"required":["a"],"additionalProperties":{"type":"array","items":[{"type":"boolean"}]}}`,
		`{"a":null,"b":"","c":"[\"true\"]"}`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := Compile(json.RawMessage(text))
		if err != nil || !json.Valid([]byte(value)) {
			return
		}
		got, done := s.Adjust(json.RawMessage(value))
		if !json.Valid(got) {
			t.Fatalf("%s: %s", value, got)
		}
		if len(done) == 0 && string(got) != value {
			t.Errorf("%s: %s without a change", value, got)
		}
		again, more := s.Adjust(got)
		if s.Check(got) == nil && fmt.Sprint(s.Check(again)) != fmt.Sprint(s.Check(got)) {
			t.Errorf("%s: %s, then %s (%v)", value, got, again, more)
		}
	})
}
