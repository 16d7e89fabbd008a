package uitemplate

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// inputs are the types of <input> that a field can have. Other types become text.
var inputs = []string{"text", "email", "password", "number", "date", "time", "datetime-local", "url", "tel", "range",
	"color"}

// form asks for values and calls a tool with them (RES-386).
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
