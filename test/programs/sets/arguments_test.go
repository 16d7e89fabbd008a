//go:build programs

package sets

import (
	"encoding/json"
	"reflect"
	"testing"
)

// The same task becomes the right arguments for tools of different shapes.
func TestArguments(t *testing.T) {
	p := &program{
		Operands: []operand{{Name: "PATTERN", Option: "-e"}, {Name: "PATH", Repeat: true, After: "--"}},
	}
	k := task{
		Options:  [][]string{{"-n"}, {"-m", "3"}, {"-g", "a"}, {"-g", "b"}, {"-z"}},
		Operands: map[string][]string{"PATTERN": {"x"}, "PATH": {"one", "two"}},
	}
	options := []found{
		{Names: []string{"-n", "--number"}, Offered: "number"}, {Names: []string{"-m"}, Offered: "max"},
		{Names: []string{"-g", "--glob="}, Offered: "glob"}, {Names: []string{"-z"}},
	}
	typed := map[string]property{
		"number": {Type: "boolean"}, "max": {Type: "integer"}, "glob": {Type: "array"}, "pattern": {Type: "string"},
		"path": {Type: "array"}, "stdin": {Type: "string"},
	}
	with := func(name string, x property) map[string]property {
		more := map[string]property{name: x}
		for n, other := range typed {
			more[n] = other
		}
		return more
	}
	operands := func(names ...string) (list []struct{ Name string }) {
		for _, name := range names {
			list = append(list, struct{ Name string }{name})
		}
		return list
	}
	for name, c := range map[string]struct {
		tool    tool
		input   string
		want    string
		missing []string
	}{
		"typed": {
			tool: tool{report{Options: options, Operands: operands("PATTERN", "PATH")},
				[]string{"number", "max", "glob", "pattern", "path", "stdin"}, typed},
			want:    `{"number":true,"max":3,"glob":["a","b"],"pattern":"x","path":["one","two"]}`,
			missing: []string{"-z"},
		},
		"typed, with input": {
			tool: tool{report{Options: options, Operands: operands("PATTERN", "PATH")},
				[]string{"number", "max", "glob", "pattern", "path", "input"}, with("input", property{Type: "string"})},
			input:   "text",
			want:    `{"number":true,"max":3,"glob":["a","b"],"pattern":"x","path":["one","two"],"input":"text"}`,
			missing: []string{"-z"},
		},
		"the pattern is an option, and -z a choice": {
			tool: tool{report{Options: append([]found{{Names: []string{"-e"}, Offered: "pattern"}}, options...),
				Operands: operands("mode", "path")}, []string{"mode", "number", "max", "glob", "pattern", "path"},
				with("mode", property{Type: "string", Enum: []any{"-z"}})},
			want: `{"mode":"-z","number":true,"max":3,"glob":["a","b"],"pattern":"x","path":["one","two"]}`,
		},
		"generic": {
			tool: tool{report{}, []string{"arguments", "stdin"}, map[string]property{"arguments": {Type: "array"}}},
			want: `{"arguments":["-n","-m","3","-g","a","-g","b","-z","x","--","one","two"]}`,
		},
		"options and a list": {
			tool: tool{report{Options: options}, []string{"number", "max", "glob", "arguments"},
				with("arguments", property{Type: "array"})},
			want: `{"number":true,"max":3,"glob":["a","b"],"arguments":["-z","x","--","one","two"]}`,
		},
	} {
		k := k
		k.Stdin = c.input
		arguments, missing := c.tool.arguments(p, k)
		text, err := json.Marshal(arguments)
		var got, want any
		if err != nil || json.Unmarshal(text, &got) != nil || json.Unmarshal([]byte(c.want), &want) != nil ||
			!reflect.DeepEqual(got, want) || !reflect.DeepEqual(missing, c.missing) {
			t.Errorf("%s: %s, missing %v; not %s, missing %v", name, text, missing, c.want, c.missing)
		}
	}
}

// A task needs a dangerous option if the facts list any of its names.
func TestDangerous(t *testing.T) {
	p := &program{
		Options:   []option{{Names: []string{"-i", "--in-place"}}, {Names: []string{"-n"}}},
		Dangerous: map[string]string{"--in-place": "changes files", "--pre": "runs programs"},
	}
	k := task{Options: [][]string{{"-n"}, {"-i"}, {"--pre", "x"}, {"-i"}}}
	if got := p.dangerous(k); !reflect.DeepEqual(got, []string{"-i", "--pre"}) {
		t.Error(got)
	}
}
