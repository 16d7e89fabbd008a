package page

import (
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	got := Parse("text\n\n<!-- run by TestX -->\n```sh\na\nb\n```\n\n```json file.json\n{}\n```\n" +
		"<!-- not run: it needs a registry -->\n\n```console\n$ c\nprinted\n```\n" +
		"<!-- not run: lost -->\nmore text\n```sh\nd\n```\n")
	want := []Block{
		{Line: 4, Language: "sh", Text: "a\nb\n", RunBy: "TestX"},
		{Line: 9, Language: "json", Argument: "file.json", Text: "{}\n"},
		{Line: 14, Language: "console", Text: "$ c\nprinted\n", NotRun: "it needs a registry"},
		{Line: 20, Language: "sh", Text: "d\n"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := got[2].Commands(); got != "c\n" {
		t.Errorf("commands: %q", got)
	}
	if got := got[0].Commands(); got != "a\nb\n" {
		t.Errorf("commands: %q", got)
	}
}
