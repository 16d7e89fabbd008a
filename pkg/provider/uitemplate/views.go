package uitemplate

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// dataTable shows rows that can be sorted by column.
func dataTable(c object) page {
	type column struct {
		Key string `json:"key"`
	}
	p := page{title: c.text("title", "Data"), wide: true}
	columns := []column{}
	p.body.raw(`<div class="scroll" tabindex="0" role="region" aria-label="Table">`, "\n", `<table id="dataTable">`,
		"\n<thead>\n<tr>")
	for _, o := range c.objects("columns") {
		key := o.needed("key")
		columns = append(columns, column{key})
		label := o.text("label", key)
		p.body.raw(`<th scope="col"`).attr("data-key", key)
		if o.flag("sortable", false) {
			p.body.raw(` data-sortable="true" aria-sort="none"><button type="button">`).text(label).raw("</button></th>")
		} else {
			p.body.raw(">").text(label).raw("</th>")
		}
	}
	p.body.raw("</tr>\n</thead>\n", `<tbody id="tableBody"><tr><td class="empty" colspan="`,
		strconv.Itoa(max(1, len(columns))), `">Waiting for data...</td></tr></tbody>`,
		"\n</table>\n</div>\n", message)
	p.config = map[string]any{"columns": columns}
	return p
}

// progress follows a long task and can cancel it.
func progress(c object) page {
	p := page{title: c.text("title", "Progress")}
	b := &p.body
	b.raw(`<div class="progress-row">`, "\n",
		`<div class="progress-bar" role="progressbar" aria-valuemin="0" aria-valuemax="100" aria-valuenow="0" `+
			`aria-label="Progress"><div class="progress-fill" id="progressFill"></div></div>`, "\n")
	if c.flag("showPercentage", true) {
		b.raw(`<output id="progressPercent">0%</output>`, "\n")
	}
	b.raw("</div>\n")
	if c.flag("showCurrentStep", true) {
		b.raw(`<p id="currentStep" role="status" aria-live="polite">Waiting for progress...</p>`, "\n")
	}
	b.raw(`<ol id="stepList" aria-label="Steps"></ol>`, "\n")
	confirm := c.text("cancelConfirm", "Are you sure you want to cancel?")
	tool := c.text("cancelTool", "")
	if tool != "" {
		b.raw(`<div class="actions"><button id="cancelBtn" type="button" data-calls>Cancel</button></div>`, "\n",
			`<div id="confirm" class="confirm" role="alertdialog" aria-labelledby="confirmText" hidden>`, "\n",
			`<p id="confirmText">`).text(confirm).raw("</p>\n",
			`<div class="actions"><button id="confirmYes" class="danger" type="button" data-calls>Yes, cancel</button><button `+
				`id="confirmNo" type="button">Keep going</button></div>`, "\n</div>\n")
	}
	b.raw(message)
	p.config = map[string]string{"cancelTool": tool}
	return p
}

// diffViewer shows two texts line by line.
func diffViewer(c object) page {
	mode := c.oneOf("viewMode", "split", "unified")
	p := page{title: c.text("title", "Diff Viewer"), wide: true}
	left, right := c.text("leftTitle", "Original"), c.text("rightTitle", "Modified")
	pressed := func(is string) string { return ` aria-pressed="` + strconv.FormatBool(mode == is) + `"` }
	p.body.raw(`<div class="toolbar">`, "\n", `<div class="segmented" role="group" aria-label="View">`,
		`<button id="splitBtn" type="button"`, pressed("split"), ">Split</button>",
		`<button id="unifiedBtn" type="button"`, pressed("unified"), ">Unified</button></div>\n",
		`<span id="diffStats" role="status"></span>`, "\n</div>\n", `<div class="diff-panels" id="diffPanels">`, "\n")
	for _, side := range []struct{ title, content string }{{left, "leftContent"}, {right, "rightContent"}} {
		p.body.raw(`<section class="diff-panel"><h3>`).text(side.title).raw(`</h3><div class="lines" id="`,
			side.content, `" tabindex="0" role="region"`).
			attr("aria-label", side.title).raw(`><p class="empty">Waiting for data...</p></div></section>`, "\n")
	}
	p.body.raw("</div>\n", message)
	p.config = map[string]any{
		"viewMode": mode, "leftTitle": left, "rightTitle": right,
		"showLineNumbers": c.flag("showLineNumbers", true), "syntaxHighlight": c.flag("syntaxHighlight", true),
	}
	return p
}

// treeView shows a tree whose nodes can be searched and selected.
func treeView(c object) page {
	p := page{title: c.text("title", "Tree View")}
	p.body.raw(`<div class="toolbar">`, "\n",
		`<input id="searchInput" type="search" placeholder="Filter" aria-label="Filter the tree" autocomplete="off">`,
		"\n",
		`<span id="treeStats" role="status"></span>`, "\n</div>\n",
		`<div class="tree-container">`, "\n", `<ul id="treeRoot" role="tree" aria-label="Tree"></ul>`, "\n",
		`<p class="empty" data-part="empty">Waiting for data...</p>`, "\n</div>\n", message)
	p.consts = constant("selectable", c.flag("selectable", false)) + constant("showIcons", c.flag("showIcons", true)) +
		constant("expandLevel", c.count("expandLevel", 1))
	p.config = map[string]string{"onSelectTool": c.text("onSelectTool", "")}
	return p
}

// kanban shows cards in columns, and lets users move them.
func kanban(c object) page {
	type column struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	p := page{title: c.text("title", "Kanban Board"), wide: true}
	columns := []column{{"todo", "To Do"}, {"in-progress", "In Progress"}, {"done", "Done"}}
	if list := c.objects("columns"); len(list) > 0 {
		columns = columns[:0]
		for _, o := range list {
			id := o.needed("id")
			columns = append(columns, column{id, o.text("title", id)})
		}
	}
	p.body.raw(`<div class="kanban-container" id="kanbanBoard">`, "\n")
	for _, col := range columns {
		p.body.raw(`<section class="kanban-column"`).attr("data-column", col.ID).attr("aria-label",
			col.Title).raw("><h3>").text(col.Title).
			raw(` <span class="count">0</span></h3><ul class="cards"></ul></section>`, "\n")
	}
	p.body.raw("</div>\n", message)
	p.consts = constant("draggable", c.flag("draggable", true))
	p.config = map[string]any{
		"columns": columns, "onMoveTool": c.text("onMoveTool", ""), "onCardClickTool": c.text("onCardClickTool", ""),
	}
	return p
}

// inputs are the types of <input> that a field can have. Other types become text.
var inputs = []string{"text", "email", "password", "number", "date", "time", "datetime-local", "url", "tel", "range",
	"color"}

// form asks for values and calls a tool with them.
func form(c object) page {
	p := page{title: c.text("title", "Form")}
	b := &p.body
	if description := c.text("description", ""); description != "" {
		b.raw(`<p class="lead">`).text(description).raw("</p>\n")
	}
	fields, taken := c.objects("fields"), map[string]bool{}
	for _, f := range fields {
		name := f.needed("name")
		if taken[name] {
			f.wrong("name", "unique: "+strconv.Quote(name)+" is used twice")
		}
		taken[name] = true
	}
	// A field's id is its name, so the page omits its own id if a field has that name.
	own := func(id string) string {
		if taken[id] {
			return ""
		}
		return ` id="` + id + `"`
	}
	cancelable := c.flag("cancelable", false)
	b.raw("<form", own("form"), ` data-part="form">`, "\n")
	for _, f := range fields {
		field(b, f)
	}
	b.raw(`<div class="actions">`, "\n<button", own("submitBtn"), ` class="primary" type="submit" data-part="submit"`)
	submitTool := c.text("submitTool", "")
	if submitTool != "" {
		b.raw(" data-calls")
	}
	b.raw(">Submit</button>\n")
	if cancelable {
		b.raw("<button", own("cancelBtn"), ` type="button" data-part="cancel">Cancel</button>`, "\n")
	}
	b.raw("</div>\n</form>\n", strings.Replace(message, ` id="message"`, own("message"), 1))
	p.config = struct {
		SubmitTool string          `json:"submitTool"`
		SubmitArgs json.RawMessage `json:"submitArgs"`
	}{submitTool, c.object("submitArgs")}
	return p
}

func field(b *markup, f object) {
	name, kind := f.text("name", ""), f.text("type", "text")
	required, fallback := f.flag("required", false), f.text("default", "")
	label := func() {
		b.raw("<label").attr("for", name).raw(">").text(f.text("label", name))
		if required {
			b.raw(` <span class="required" aria-hidden="true">*</span>`)
		}
		b.raw("</label>\n")
	}
	// The attributes of every control.
	control := func(element, sends string) {
		b.raw("<", element).attr("id", name).attr("name", name).raw(` data-field="`, sends, `"`)
		if required {
			b.raw(" required")
		}
	}
	placeholder := func() {
		if text := f.text("placeholder", ""); text != "" {
			b.attr("placeholder", text)
		}
	}
	switch kind {
	case "checkbox":
		b.raw(`<div class="field check">`, "\n")
		control("input", "boolean")
		b.raw(` type="checkbox"`)
		if fallback == "true" {
			b.raw(" checked")
		}
		b.raw(">\n")
		label()
	case "select":
		b.raw(`<div class="field">`, "\n")
		label()
		control("select", "text")
		b.raw(">\n")
		choices := options(f)
		if f.has("placeholder") && !f.has("default") {
			b.raw(`<option value="">`).text(f.text("placeholder", "")).raw("</option>\n")
		}
		for _, o := range choices {
			b.raw("<option").attr("value", o.value)
			if f.has("default") && o.value == fallback {
				b.raw(" selected")
			}
			b.raw(">").text(o.label).raw("</option>\n")
		}
		b.raw("</select>\n")
	case "textarea":
		b.raw(`<div class="field">`, "\n")
		label()
		control("textarea", "text")
		b.raw(` rows="4"`)
		placeholder()
		b.raw(">\n").text(fallback).raw("</textarea>\n") // a line break after the tag is not part of the text
	default:
		if !slices.Contains(inputs, kind) {
			kind = "text"
		}
		sends := "text"
		switch kind {
		case "number", "range":
			sends = "number"
		case "password":
			sends = "secret"
		}
		b.raw(`<div class="field">`, "\n")
		label()
		control("input", sends)
		b.raw(` type="`, kind, `"`)
		if kind == "number" {
			b.raw(` step="any"`)
		}
		placeholder()
		if fallback != "" {
			b.attr("value", fallback)
		}
		b.raw(">\n")
	}
	b.raw("</div>\n")
}

type option struct{ value, label string }

// options returns the choices of a select, which are texts or {value,label}.
func options(f object) []option {
	values, paths := f.list("options")
	var list []option
	for i, v := range values {
		if text, ok := scalar(v); ok {
			list = append(list, option{text, text})
			continue
		}
		if rawjson.KindOf(v) != rawjson.Object {
			f.wrong(paths[i], `text or {"value":...,"label":...}`)
			break
		}
		o := object{v, f.path + "." + paths[i], f.fault}
		value := o.text("value", "")
		if !o.has("value") {
			o.wrong("value", "given")
		}
		list = append(list, option{value, o.text("label", value)})
	}
	return list
}
