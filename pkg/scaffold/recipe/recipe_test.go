package recipe

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"mcp-bash/share/recipes"
)

var builtin = Library{Files: recipes.Files}

// RCP-1, WRAP-8: each recipe of the library is right, is found by its words, and has two examples. The library reads
// them without checks, and they are the same.
func TestLibrary(t *testing.T) {
	all, err := builtin.All()
	if err != nil || len(all) < 3 {
		t.Fatal(len(all), err)
	}
	for _, r := range all {
		text, err := recipes.Files.ReadFile(r.FileName())
		if err != nil {
			t.Fatal(err)
		}
		if checked, err := Parse(text); err != nil || !reflect.DeepEqual(checked, r) {
			t.Errorf("%s: %v", r.FileName(), err)
		}
		if len(r.Examples) < 2 || r.Documentation == "" {
			t.Errorf("%s: %d examples, documentation %q", r.FileName(), len(r.Examples), r.Documentation)
		}
		if text, err := json.Marshal(r); err != nil {
			t.Error(err)
		} else if _, err := Parse(text); err != nil {
			t.Errorf("%s, written again: %v", r.FileName(), err)
		}
		for _, program := range append([]string{r.Program}, r.Aliases...) {
			if !r.Is(append([]string{program}, r.Words()[1:]...)) {
				t.Errorf("%s is not found by its words", r.FileName())
			}
		}
	}
}

// recipeOf returns a recipe with arguments and more members.
func recipeOf(arguments, more string) string {
	return `{"program":"brew","title":"Brew","summary":"Brews tea.","verified":false,"output":{"type":"text"},` +
		`"capabilities":[],"effects":{},` + more + `"arguments":[` + arguments + `]}`
}

// RCP-2: faults are found, with their places.
func TestFaults(t *testing.T) {
	const leaf = `{"name":"leaf","type":"string"}`
	for _, c := range []struct{ arguments, more, want string }{
		{`{"name":"a","option":"-a"}`, ``, `/arguments/0: needs a name and a type`},
		{`{"option":"-a","type":"switch"}`, ``, `/arguments/0: needs a name and a type, or words`},
		{`{"name":"a","type":"switch"}`, ``, `/arguments/0/type: a switch needs an option`},
		{`{"name":"a","option":"all","type":"switch"}`, ``, `/option: must begin with a dash`},
		{leaf + "," + leaf, ``, `/arguments/1/name: two arguments have the name leaf`},
		{leaf, `"stderr":true,"progress":"curl",`, `/stderr: is only for`},
		{leaf, `"stdin":{"name":"leaf","description":""},`, `two arguments have the name leaf`},
		{`{"name":"a","type":"choice"}`, ``, `/choices`},
		{`{"name":"a","type":"string","choices":["x"]}`, ``, `/choices`},
		{`{"name":"a","type":"path","pattern":"x"}`, ``, `/pattern`},
		{`{"name":"a","type":"string","pattern":"("}`, ``, `/pattern: is not a regular expression`},
		{`{"name":"a","type":"string","minimum":1}`, ``, `only numbers`},
		{`{"name":"a","type":"integer","minimum":2,"maximum":1}`, ``, `/minimum`},
		{`{"name":"a","type":"integer","default":1.5}`, ``, `/default: must be an integer`},
		{`{"name":"a","type":"string","access":"write"}`, ``, `/access`},
		{`{"name":"a","option":"-","type":"string","form":"attached"}`, ``, `/option: needs a longer name`},
		{`{"name":"a","type":"string","unless":"x"}`, ``, `/unless: is only for a path`},
		{`{"name":"a","type":"path","unless":"\\d"}`, ``, `/unless: is not a POSIX regular expression`},
		{`{"name":"a","type":"string","form":"equals"}`, ``, `/form`},
		{`{"name":"a","type":"string","negation":"--no"}`, ``, `/negation`},
		{`{"name":"a","type":"string","dashes":true}`, ``, `/dashes`},
		{leaf + `,{"name":"b","type":"string","required":true}`, ``,
			`/arguments/1: a required operand cannot follow leaf`},
		{`{"words":["--"],"name":"a"}`, ``, `no other member`},
		{`{"words":["\u001b[31m"]}`, ``, `control character`},
		{leaf, `"requires":[["leaf","pot"]],`, `/requires/0: there is no argument pot`},
		{leaf, `"examples":[{"description":"","arguments":{"pot":1}}],`,
			`/examples/0/arguments/pot: is not expected`},
		{leaf, `"examples":[{"description":"","arguments":{"leaf":1}}],`, `/examples/0/arguments/leaf: must be a string`},
		{`{"name":"a","option":"-e","aliases":["--exec"],"type":"string"}`, `"dangers":{"--exec":"runs"},`,
			`"only": true`},
		{leaf, `"excludes":[["leaf","pot"]],"stdin":{"name":"pot","description":""},` +
			`"examples":[{"description":"","arguments":{"leaf":"a","pot":"b"}}],`, `/examples/0/arguments/pot: is not expected`},
		{leaf, `"requires":[["leaf","pot"]],"stdin":{"name":"pot","description":""},` +
			`"examples":[{"description":"","arguments":{}}],`, `/examples/0/arguments: needs one of leaf, pot`},
		{`{"name":"a","type":"string","required":true}`, `"examples":[{"description":"","arguments":{}}],`,
			`/examples/0/arguments/a: is required`},
		{`{"name":"a","option":"-a","type":"string","only":true}`, `"examples":[{"description":"","arguments":{"a":"x"}}],`,
			`/examples/0/arguments/a: is not expected`},
		{leaf, `"aliases":["tea\u0007"],`, `/aliases/0: contains a control character`},
		{leaf, `"dangers":{"-x\u202e":"runs"},`, `contains a control character`},
		{leaf, `"version":{"from":"2","below":"1.9"},`, `/version: no version`},
		{leaf, `"colour":1,`, `/colour`},
		{leaf, `"verified":true,"verified":true,`, `/verified: is given twice`},
		{`{"name":"a","type":"text"}`, ``, `/arguments/0/type`},
	} {
		_, err := Parse([]byte(recipeOf(c.arguments, c.more)))
		var faults Faults
		if !errors.As(err, &faults) || !strings.Contains(fmt.Sprint([]Fault(faults)), c.want) {
			t.Errorf("%s %s: %v, want %q", c.arguments, c.more, err, c.want)
			continue
		}
		if faults[0].Line != 1 || faults[0].Column == 0 {
			t.Errorf("%s: no place: %v", c.want, faults[0])
		}
	}
	_, err := Parse([]byte("{\n  \"program\": tea}"))
	if err == nil || !strings.Contains(err.Error(), "line 2, column 14") {
		t.Error(err)
	}
	if _, err := Parse([]byte(strings.Repeat(" ", maxText) + "{}")); err == nil {
		t.Error("a large recipe was read")
	}
}

// RCP-3: a recipe is found by an alias, and only with all words of its command.
func TestFind(t *testing.T) {
	files := fstest.MapFS{
		"brew.json": {Data: []byte(recipeOf("", `"aliases":["tea"],`))},
		"brew-green.json": {Data: []byte(strings.Replace(recipeOf("", `"command":["green"],"aliases":["tea"],`), "Brews tea",
			"Brews green tea", 1))},
	}
	l := Library{Files: files}
	for words, want := range map[string]string{
		"brew": "brew.json", "tea": "brew.json", "brew green": "brew-green.json", "tea green": "brew-green.json",
		"brew-green": "", "green": "", "brew black": "", "../brew": "",
	} {
		r, err := l.Find(strings.Fields(words))
		got := ""
		if r != nil {
			got = r.FileName()
		}
		if err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", words, got, err, want)
		}
	}
	if list, err := l.Of("tea"); err != nil || len(list) != 2 {
		t.Errorf("%d %v", len(list), err)
	}
	files["brew-black.json"] = &fstest.MapFile{Data: []byte("{")}
	if _, err := l.All(); err == nil || !strings.Contains(err.Error(), "brew-black.json") {
		t.Error(err)
	}
}

// RCP-4: versions in the output of programs, and ranges.
func TestVersions(t *testing.T) {
	for output, want := range map[string]string{
		"rg 13.0.0\nfeatures:+simd": "13.0.0", "jq-1.6": "1.6", "less 590 (GNU)": "590", "systemd 252 (252.1)": "252.1",
		"ip utility, iproute2-6.1.0, libbpf 1.1.0": "6.1.0", "unknown option": "",
	} {
		if got := VersionIn(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
	v := Version{From: "8.5", Below: "10"}
	for version, want := range map[string]bool{
		"8.5": true, "8.5.1": true, "9.99": true, "8.4.9": false, "10": false, "10.0": false, "": false, "8.10": true,
	} {
		if v.Contains(version) != want {
			t.Errorf("%q: %v", version, !want)
		}
	}
}

// FuzzParse: any text gives a recipe that is right, or faults.
func FuzzParse(f *testing.F) {
	f.Add([]byte(recipeOf(`{"name":"a","type":"string"}`, `"requires":[["a","a"]],`)))
	f.Add([]byte(`{"program":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Parse(text)
		if err != nil {
			if faults := (Faults)(nil); !errors.As(err, &faults) || len(faults) == 0 || faults.Error() == "" {
				t.Fatal(err)
			}
			return
		}
		if faults := r.check(); len(faults) > 0 {
			t.Fatal(faults)
		}
	})
}
