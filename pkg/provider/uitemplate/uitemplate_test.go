package uitemplate

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
)

// full are configurations that use all features of a template.
var full = map[string]string{
	"form": `{"title":"T","description":"D","submitTool":"save","submitArgs":{"id":7},"cancelable":true,"fields":[
		{"name":"a","required":true,"placeholder":"p"},{"name":"b","type":"select","options":["a","b",{"value":"c","label":"See"}],"default":"b"},
		{"name":"c","type":"textarea","default":"x"},{"name":"d","type":"checkbox","default":"true"},{"name":"e","type":"number","default":5},{"name":"f","type":"file"}]}`,
	"data-table":  `{"columns":[{"key":"a","label":"A","sortable":true},{"key":"b"}]}`,
	"progress":    `{"cancelTool":"stop"}`,
	"diff-viewer": `{"viewMode":"unified"}`,
	"tree-view":   `{"selectable":true,"onSelectTool":"pick-node"}`,
	"kanban":      `{"onMoveTool":"move-card","onCardClickTool":"open-card"}`,
}

func render(t *testing.T, name, config string) string {
	t.Helper()
	document, err := Render(name, []byte(config))
	if err != nil {
		t.Fatalf("%s %s: %v", name, config, err)
	}
	return string(document)
}

// RES-385, RES-386: the required and the forbidden parts of a document.
func TestContent(t *testing.T) {
	for _, c := range []struct {
		name, config string
		holds, lacks []string
	}{
		{"form", `{}`, []string{`<title>Form</title>`, `<h2>Form</h2>`, `<form id="form"`, `id="message"`,
			`id="submitBtn"`, `>Submit</button>`}, []string{`id="cancelBtn"`}},
		{"form", full["form"], []string{`<h2>T</h2>`, `>D</p>`, `id="cancelBtn"`, `>Cancel</button>`,
			`"submitTool":"save"`, `"submitArgs":{"id":7}`,
			`<label for="a">a <span class="required" aria-hidden="true">*</span></label>`,
			`<input id="a" name="a" data-field="text" required type="text" placeholder="p">`,
			`<select id="b" name="b"`, `<option value="a">a</option>`, `<option value="b" selected>b</option>`,
			`<option value="c">See</option>`,
			"<textarea id=\"c\" name=\"c\" data-field=\"text\" rows=\"4\">\nx</textarea>",
			`data-field="boolean" type="checkbox" checked>`,
			`type="number" step="any" value="5">`, `<input id="f" name="f" data-field="text" type="text">`}, nil},
		{"form", `{"cancelable":false,"fields":[{"name":"x","type":"checkbox","default":false},{"name":"s","type":"select",` +
			`"placeholder":"Choose","options":[1]}]}`,
			[]string{`type="checkbox">`, "<option value=\"\">Choose</option>\n<option value=\"1\">1</option>"},
			[]string{"cancelBtn", " checked>"}},
		{"data-table", `{}`, []string{`<h2>Data</h2>`, `<table id="dataTable">`, `<thead>`, `<tbody id="tableBody">`,
			`Waiting for data...`}, []string{`data-sortable="true" aria-sort`}},
		{"data-table", full["data-table"],
			[]string{`<th scope="col" data-key="a" data-sortable="true" aria-sort="none"><button type="button">A</button></th>`,
				`<th scope="col" data-key="b">b</th>`}, nil},
		{"progress", `{}`, []string{`<h2>Progress</h2>`, `class="progress-bar"`,
			`class="progress-fill" id="progressFill"`, `id="progressPercent"`, `id="currentStep"`, `id="stepList"`},
			[]string{`id="cancelBtn"`}},
		{"progress", full["progress"], []string{`id="cancelBtn"`, `Are you sure you want to cancel?`,
			`"cancelTool":"stop"`}, nil},
		{"progress", `{"showPercentage":false,"showCurrentStep":"false","cancelConfirm":"Stop?"}`, nil,
			[]string{`id="progressPercent"`, `id="currentStep"`, "Stop?"}},
		{"diff-viewer", `{}`, []string{`<h2>Diff Viewer</h2>`, `class="diff-panels" id="diffPanels"`,
			`<section class="diff-panel"><h3>Original</h3>`, `<h3>Modified</h3>`, `id="leftContent"`,
			`id="rightContent"`,
			`id="splitBtn" type="button" aria-pressed="true"`, `id="unifiedBtn"`, `id="diffStats"`,
			`"showLineNumbers":true`, `"syntaxHighlight":true`}, nil},
		{"diff-viewer", full["diff-viewer"], []string{`id="unifiedBtn" type="button" aria-pressed="true"`}, nil},
		{"tree-view", `{}`, []string{`<h2>Tree View</h2>`, `class="tree-container"`, `id="searchInput"`,
			`id="treeRoot"`, `id="treeStats"`, `const selectable = false;`, `const showIcons = true;`,
			`const expandLevel = 1;`}, nil},
		{"tree-view", full["tree-view"], []string{`selectable = true`, `"pick-node"`}, nil},
		{"kanban", `{}`, []string{`<h2>Kanban Board</h2>`, `class="kanban-container" id="kanbanBoard"`,
			`class="kanban-column" data-column="todo"`, `>To Do <`, `data-column="in-progress"`, `>In Progress <`,
			`data-column="done"`, `>Done <`, `draggable = true`}, nil},
		{"kanban", full["kanban"], []string{`"move-card"`, `"open-card"`}, nil},
		{"kanban", `{"draggable":false,"columns":[{"id":"x"}]}`, []string{`const draggable = false;`, `data-column="x"`,
			`>x <`}, []string{`data-column="todo"`}},
	} {
		document := render(t, c.name, c.config)
		for _, want := range c.holds {
			if !strings.Contains(document, want) {
				t.Errorf("RES-385: %s %s lacks %s", c.name, c.config, want)
			}
		}
		for _, bad := range c.lacks {
			if strings.Contains(document, bad) {
				t.Errorf("RES-385: %s %s has %s", c.name, c.config, bad)
			}
		}
	}
}

// RES-380, RES-381: properties of all documents.
func TestEveryDocument(t *testing.T) {
	for _, name := range Names() {
		document := render(t, name, full[name])
		for _, want := range []string{"<!DOCTYPE html>\n",
			"<!-- MCP Apps view; protocol of @modelcontextprotocol/ext-apps 2026-01-26 -->", `<html lang="en">`,
			`<meta charset="utf-8">`, `<meta name="viewport"`,
			"--font-sans", "--color-text-primary", "--color-background-primary", "ui/initialize"} {
			if !strings.Contains(document, want) {
				t.Errorf("%s lacks %s", name, want)
			}
		}
		if !strings.HasPrefix(document, "<!DOCTYPE html>") || !strings.HasSuffix(document, "</html>\n") {
			t.Errorf("%s is not a whole document", name)
		}
		// The document loads nothing, and no attribute is a script.
		for _, bad := range []string{`\ssrc=`, `\shref=`, `@import`, `url\(`, `import\(`, `\bfetch\(`, `XMLHttpRequest`,
			`<[^>]*\son[a-z]+="`, `innerHTML`, `insertAdjacentHTML`, `document\.write`, `\beval\(`} {
			if found := regexp.MustCompile(bad).FindString(document); found != "" {
				t.Errorf("RES-381, RES-382: %s has %q", name, found)
			}
		}
		if again := render(t, name, full[name]); again != document {
			t.Errorf("RES-388: %s is another one the second time", name)
		}
	}
}

// RES-382: a title with markup stays text, and a configuration cannot end the script.
func TestEscaping(t *testing.T) {
	document := render(t, "kanban",
		`{"title":"</title><b>\"'&\u2028","onMoveTool":"</script><script>x","columns":[{"id":"\"><i>","title":"\u0000"}]}`)
	for _, want := range []string{"<h2>&lt;/title&gt;&lt;b&gt;&#34;&#39;&amp;\u2028</h2>",
		`data-column="&#34;&gt;&lt;i&gt;"`, `\u003c/script\u003e\u003cscript\u003ex`} {
		if !strings.Contains(document, want) {
			t.Errorf("no %s in %s", want, document)
		}
	}
	if n := strings.Count(document, "<script"); n != 2 {
		t.Errorf("%d scripts", n)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, config, message string }{
		{"nope", `{}`, "Unknown template: nope"},
		{"nope", `no JSON`, "Unknown template: nope"},
		{"form", ``, "the configuration must be one JSON object: "},
		{"form", `[]`, "the configuration must be one JSON object"},
		{"form", `{} {}`, "the configuration must be one JSON object: "},
		{"form", `{"title":{}}`, "config.title must be text"},
		{"form", `{"fields":{}}`, "config.fields must be an array"},
		{"form", `{"fields":[{"name":"a"},5]}`, "config.fields[1] must be an object"},
		{"form", `{"fields":[{"label":"A"}]}`, "config.fields[0].name must be given, and not empty"},
		{"form", `{"fields":[{"name":"a"},{"name":"a"}]}`,
			`config.fields[1].name must be unique: "a" is used twice`},
		{"form", `{"fields":[{"name":"a","type":"select","options":["x",[]]}]}`,
			`config.fields[0].options[1] must be text or {"value":...,"label":...}`},
		{"form", `{"fields":[{"name":"a","type":"select","options":[{"label":"x"}]}]}`,
			"config.fields[0].options[0].value must be given"},
		{"form", `{"submitArgs":[1]}`, "config.submitArgs must be an object"},
		{"form", `{"cancelable":"maybe"}`, "config.cancelable must be true or false"},
		{"data-table", `{"columns":[{"label":"x"}]}`, "config.columns[0].key must be given, and not empty"},
		{"diff-viewer", `{"viewMode":"side"}`, `config.viewMode must be one of ["split" "unified"]`},
		{"tree-view", `{"expandLevel":-1}`, "config.expandLevel must be a whole number from 0"},
		{"kanban", `{"columns":[{"id":""}]}`, "config.columns[0].id must be given, and not empty"},
	} {
		document, err := Render(c.name, []byte(c.config))
		if err == nil || document != nil || !strings.HasPrefix(err.Error(), c.message) {
			t.Errorf("%s %s: %v, want %s", c.name, c.config, err, c.message)
		}
	}
	_, err := Render("nope", nil)
	if unknown := UnknownError(""); !errors.As(err, &unknown) || unknown != "nope" {
		t.Errorf("RES-380: %T", err)
	}
}

// RES-388: the cache returns the same bytes, and drops the document that was unused for the
// longest time.
func TestCache(t *testing.T) {
	c := NewCache(2)
	get := func(config string) []byte {
		t.Helper()
		document, err := c.Render("kanban", []byte(config))
		if err != nil {
			t.Fatal(err)
		}
		return document
	}
	same := func(a, b []byte) bool { return &a[0] == &b[0] }
	one := get(`{"title":"1"}`)
	two := get(`{"title":"2"}`)
	if !same(one, get(`{"title":"1"}`)) {
		t.Error("made again")
	}
	get(`{"title":"3"}`)
	if !same(one, get(`{"title":"1"}`)) || same(two, get(`{"title":"2"}`)) {
		t.Error("the cache dropped the wrong document")
	}
	if other, err := c.Render("progress", []byte(`{"title":"2"}`)); err != nil ||
		bytes.Contains(other, []byte("kanban")) {
		t.Errorf("another template: %v", err)
	}
	if _, err := c.Render("kanban", []byte(`[]`)); !errors.Is(err, errNotJSON) {
		t.Errorf("%v", err)
	}
	none := NewCache(0)
	a, _ := none.Render("form", []byte(`{}`))
	b, _ := none.Render("form", []byte(`{}`))
	if same(a, b) || !bytes.Equal(a, b) {
		t.Error("a cache of none keeps something")
	}
}

// FuzzRender: any configuration produces an error or one complete document, in which its
// text opens no element.
func FuzzRender(f *testing.F) {
	for _, name := range Names() {
		f.Add(name, []byte(full[name]))
	}
	f.Add("form", []byte(`{"fields":[{"name":"</form><script>","type":"select","options":["</select>"]}]}`))
	f.Add("kanban", []byte(`{"columns":[{"id":"\ud800","title":"]]>--><!--"}],"onMoveTool":"\u2029</SCRIPT "}`))
	count := func(document []byte, tag string) int { return bytes.Count(bytes.ToLower(document), []byte(tag)) }
	f.Fuzz(func(t *testing.T, name string, config []byte) {
		document, err := Render(name, config)
		if err != nil {
			return
		}
		if count(document, "<script") != 2 || count(document, "</script") != 2 || count(document, "<style") != 1 ||
			count(document, "</html>") != 1 || count(document, "<!--") != 1 {
			t.Errorf("%s with %s: %s", name, config, document)
		}
		if json.Valid(document) {
			t.Error("no document")
		}
	})
}

// RES-388: rendering takes less than 5 ms.
func BenchmarkRender(b *testing.B) {
	for _, name := range Names() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Render(name, []byte(full[name])); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
