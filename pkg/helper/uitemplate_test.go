package helper

import (
	"strings"
	"testing"
)

// RES-389.
func TestUITemplate(t *testing.T) {
	for _, c := range []struct {
		input string
		args  []string
		out   string // the beginning of stdout
		err   string // the beginning of stderr
		code  int
	}{
		{`{"title":"T"}`, []string{"form"}, "<!DOCTYPE html>", "", 0},
		{" \n", []string{"kanban"}, "<!DOCTYPE html>", "", 0},
		{`{}`, []string{"chart"}, "", "Unknown template: chart\n", 1},
		{`[]`, []string{"form"}, "", "ui-template: the configuration must be one JSON object\n", 2},
		{`{"title":`, []string{"form"}, "", "ui-template: the configuration must be one JSON object: ", 2},
		{`{"fields":[{}]}`, []string{"form"}, "", "ui-template: config.fields[0].name must be given, and not empty\n",
			2},
		{``, nil, "", "ui-template: give the name of one template: form, ", 2},
		{``, []string{"form", "kanban"}, "", "ui-template: give the name of one template: form, ", 2},
		{``, []string{"--bogus"}, "", "ui-template: give the name of one template: form, ", 2},
	} {
		out, errOut, code := run(t, c.input, append([]string{"ui-template"}, c.args...)...)
		if code != c.code || !strings.HasPrefix(out, c.out) || !strings.HasPrefix(errOut, c.err) ||
			c.out == "" && out != "" || c.err == "" && errOut != "" {
			t.Errorf("%q < %s: %d, %.100q, %q", c.args, c.input, code, out, errOut)
		}
	}
}

// SDK-148, T-128.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		input string
		args  []string
		out   string
		code  int
	}{
		{`{"b":{"result":{"z":1, "a":1.50}},"a":{"result":null}}`, nil, `{"b":{"z":1,"a":1.50},"a":null}`, 0},
		{`{"b":{"error":{"code":-32601,"message":"no"}},"a":{"result":5}}`, nil,
			`{"b":{"error":{"code":-32601,"message":"no"}},"a":5}`, 1},
		{`{"b":{},"a":7,"c":{"error":"x"}}`, nil, `{"b":` + string(noAnswer) + `,"a":` + string(noAnswer) + `,"c":` +
			string(noAnswer) + `}`, 1},
		{`{"b":{"result":{"x":1}},"a":{"result":5}}`, []string{"a"}, `5`, 0},
		{`{"a":{"error":{"code":1,"message":"m"}}}`, []string{"a"}, `{"error":{"code":1,"message":"m"}}`, 1},
		{`{}`, []string{"a"}, string(noAnswer), 1},
		{`[]`, nil, ``, 5},
		{`{"a":`, nil, ``, 5},
	} {
		out, _, code := run(t, c.input, append([]string{"answers"}, c.args...)...)
		if out != c.out || code != c.code {
			t.Errorf("%q < %s: %d %s, want %d %s", c.args, c.input, code, out, c.code, c.out)
		}
	}
}
