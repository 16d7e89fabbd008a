//go:build browser

package browser

import (
	"bytes"
	"encoding/json"
	"image"
	_ "image/png"
	"os"
	"testing"

	"mcp-bash/pkg/provider/uitemplate"
)

var shared *chromium

// One browser serves all tests.
func TestViews(t *testing.T) {
	shared = start(t)
	for name, test := range map[string]func(*testing.T){
		"form": testForm, "form edges": testFormEdges, "data-table": testTable, "progress": testProgress,
		"diff-viewer":  testDiff,
		"diff changes": testDiffChanges, "tree-view": testTree, "kanban": testKanban, "kanban drag": testKanbanDrag,
		"results": testResults, "no tools": testNoTools, "protocol": testProtocol, "host theming": testTheming,
		"hostile configuration": testHostile, "looks": testLooks, "page by hand": testByHand,
	} {
		t.Run(name, test)
	}
}

func render(t *testing.T, name, config string) []byte {
	t.Helper()
	document, err := uitemplate.Render(name, []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

const orderForm = `{"title":"New order","description":"What shall we send, and where?","submitTool":"order","submitArgs":{"shop":7,"kind":"x"},"cancelable":true,
"fields":[
{"name":"customer","label":"Customer","required":true,"placeholder":"Ada Lovelace"},
{"name":"email","type":"email","label":"E-mail"},
{"name":"size","type":"select","label":"Size","options":["small",{"value":"m","label":"Medium"},"large"],"default":"m"},
{"name":"count","type":"number","label":"Count","default":1},
{"name":"secret","type":"password","label":"Voucher"},
{"name":"stars","type":"range","label":"Rating","default":30},
{"name":"notes","type":"textarea","label":"Notes","default":"first line\nsecond"},
{"name":"gift","type":"checkbox","label":"Wrap it as a gift","default":true}]}`

// RES-386: the tool gets the typed values with their types.
func testForm(t *testing.T) {
	h := shared.show(t, render(t, "form", orderForm), wish{Answers: map[string]any{"order": text("done")}})
	h.press("Tab") // the first field: no mouse is needed
	h.want(`document.activeElement.id`, `"customer"`)
	h.command("Input.insertText", map[string]any{"text": `Ada "A" <Lovelace>`})
	h.fill("#secret", "xyzzy")
	h.inView(`document.getElementById("count").select()`)
	h.fill("#count", "")
	h.inView(`document.getElementById("count").select()`)
	h.command("Input.insertText", map[string]any{"text": "12.5"})
	h.click("label[for=gift]")
	h.click("#submitBtn")
	h.gets("tools/call", `{"name":"order","arguments":{"shop":7,"kind":"x","customer":"Ada \"A\" <Lovelace>","email":"",`+
		`"size":"m","count":12.5,"secret":"xyzzy","stars":30,"notes":"first line\nsecond","gift":false}}`)
	h.shows("#message", "Form submitted successfully")
	h.gets("ui/message", `{"role":"user","content":{"type":"text","text":`+quote(`Form submitted: {"shop":7,"kind":"x",`+
		`"customer":"Ada \"A\" <Lovelace>","email":"","size":"m","count":12.5,"secret":"(hidden)","stars":30,`+
		`"notes":"first line\nsecond","gift":false}`)+`}}`)
	h.want(`document.getElementById("submitBtn").disabled`, "false")
	h.click("#cancelBtn")
	h.shows("#message", "Form cancelled")
	h.want(`[...document.querySelectorAll("button, input, select, textarea")].every(e => e.disabled)`, "true")
}

func testFormEdges(t *testing.T) {
	// A required field that is empty: nothing is sent.
	h := shared.show(t, render(t, "form",
		`{"submitTool":"t","fields":[{"name":"a","required":true},{"name":"n","type":"number"}]}`),
		wish{Answers: map[string]any{"t": map[string]any{"isError": true,
			"content": []any{map[string]any{"type": "text", "text": "no <b>room</b>"}}}}})
	h.click("#submitBtn")
	h.want(`document.activeElement.id`, `"a"`)
	h.want(`document.querySelector("#a").matches(":invalid")`, "true")
	if got := h.inHost(`of("tools/call").length`); got != "0" {
		t.Fatalf("%s calls of an invalid form", got)
	}
	// An error of the tool is shown as text, nothing is announced, and one may try again. Enter submits.
	h.fill("#a", "x")
	h.press("Enter")
	h.shows("#message", "Error: no <b>room</b>")
	h.gets("tools/call", `{"name":"t","arguments":{"a":"x"}}`)
	h.want(`document.getElementById("submitBtn").disabled`, "false")
	if got := h.inHost(`of("ui/message").length`); got != "0" {
		t.Fatalf("a failed form was announced")
	}
	// An error of the protocol.
	h.inHost(`answers.t = {error: {code: -32000, message: "gone"}}`)
	h.click("#submitBtn")
	h.shows("#message", "Error: gone")
	// Names of fields that are also names in our code, in forms and in objects.
	h = shared.show(t, render(t, "form",
		`{"submitTool":"t","fields":[{"name":"message"},{"name":"form"},{"name":"submitBtn"},{"name":"elements"},`+
			`{"name":"addEventListener"},{"name":"__proto__"},{"name":"submit"}]}`),
		wish{Answers: map[string]any{"t": text("ok")}})
	h.fill("input[name=message]", "m")
	h.fill("input[name=__proto__]", "p")
	h.click("button[type=submit]")
	h.gets("tools/call", `{"name":"t","arguments":{"message":"m","form":"","submitBtn":"","elements":"",`+
		`"addEventListener":"","__proto__":"p","submit":""}}`)
	h.shows(".message", "Form submitted successfully")
	h.want(`(ids => ids.length === new Set(ids).size)([...document.querySelectorAll("[id]")].map(e => e.id))`, "true")
	// A form without a tool only sends a message to the conversation.
	h = shared.show(t, render(t, "form", `{"fields":[{"name":"a"}]}`), wish{NoTools: true, Arrays: true})
	h.fill("#a", "x")
	h.click("#submitBtn")
	h.gets("ui/message", `{"role":"user","content":[{"type":"text","text":"Form submitted: {\"a\":\"x\"}"}]}`)
}

const people = `{"title":"People","columns":[{"key":"name","label":"Name","sortable":true},{"key":"age",` +
	`"label":"Age","sortable":true},{"key":"more"}]}`

func testTable(t *testing.T) {
	h := shared.show(t, render(t, "data-table", people), wish{})
	h.shows("#tableBody", "Waiting for data...")
	h.data(`{"items":[{"name":"Bo","age":9,"more":{"a":[1]}},{"name":"al","age":10},{"name":"<i>Cy</i>","age":-1,` +
		`"more":null}]}`)
	names := `[...document.querySelectorAll("#tableBody td:first-child")].map(e => e.textContent).join()`
	h.want(names, `"Bo,al,<i>Cy</i>"`)
	h.want(`document.querySelector("#tableBody td:last-child").textContent`, `"{\"a\":[1]}"`)
	h.click(`th[data-key=age] button`) // numbers, not texts
	h.want(names, `"<i>Cy</i>,Bo,al"`)
	h.want(`document.querySelector("th[data-key=age]").ariaSort`, `"ascending"`)
	h.press("Enter")
	h.want(names, `"al,Bo,<i>Cy</i>"`)
	h.want(`document.querySelector("th[data-key=age]").ariaSort`, `"descending"`)
	h.data(`[{"name":"one"}]`)
	h.want(names, `"one"`)
	h.data(`{"name":"alone","age":3}`)
	h.want(names, `"alone"`)
	h.data(`[]`)
	h.shows("#tableBody", "No data")
	// Without columns: those of the data.
	h = shared.show(t, render(t, "data-table", `{}`), wish{})
	h.data(`[{"a":1},{"b":2,"__proto__":3}]`)
	h.want(`[...document.querySelectorAll("th")].map(e => e.textContent).join()`, `"a,b,__proto__"`)
}

func testProgress(t *testing.T) {
	h := shared.show(t, render(t, "progress", `{"title":"Backup","cancelTool":"stop","cancelConfirm":"Really stop?"}`),
		wish{Answers: map[string]any{"stop": text("stopped")}})
	h.data(`{"percent":25.4,"message":"Copying"}`)
	h.shows("#progressPercent", "25%")
	h.shows("#currentStep", "Copying")
	h.data(`{"progress":3,"total":4,"step":"Checking"}`)
	h.shows("#progressPercent", "75%")
	h.want(`document.querySelector(".progress-bar").getAttribute("aria-valuenow")`, `"75"`)
	h.want(`document.querySelector("#stepList").children.length`, "2")
	h.click("#cancelBtn")
	h.shows("#confirmText", "Really stop?")
	h.press("Escape")
	h.want(`document.querySelector("#confirm").hidden`, "true")
	h.press("Enter") // the focus is back on Cancel
	h.click("#confirmYes")
	h.gets("tools/call", `{"name":"stop","arguments":{}}`)
	h.shows("#message", "Cancelled")
	h = shared.show(t, render(t, "progress", `{"showPercentage":false,"showCurrentStep":"false"}`), wish{})
	h.data(`{"percent":400,"message":"Done"}`)
	h.want(`document.querySelector("#progressFill").style.width`, `"100%"`)
	h.want(`document.querySelector("#progressPercent, #currentStep, #cancelBtn")`, "null")
}

const texts = `{"left":"package main\n\nfunc main() {\n\tprintln(\"hello\", 1)\n}\n","right":"package main\n\n// ` +
	`says hello\nfunc main() {\n\tprintln(\"world\", 2)\n}\n"}`

func testDiff(t *testing.T) {
	h := shared.show(t, render(t, "diff-viewer", `{"title":"main.go"}`), wish{})
	h.data(texts)
	h.shows("#diffStats", "+2 / -1 lines")
	left := `[...document.querySelectorAll("#leftContent .line")].map(e => e.classList[1]).join()`
	h.want(left, `"same,same,filler,same,removed,same"`)
	h.want(`[...document.querySelectorAll("#rightContent .line")].map(e => e.classList[1]).join()`,
		`"same,same,added,same,added,same"`)
	h.want(`[...document.querySelectorAll("#rightContent code")].map(e => e.textContent).join("|")`,
		`"package main||// says hello|func main() {|\tprintln(\"world\", 2)|}"`)
	h.click("#unifiedBtn")
	h.want(left, `"same,same,added,same,removed,added,same"`)
	h.want(`document.querySelector("#rightContent").offsetParent`, "null")
	h.want(`document.querySelector("#unifiedBtn").ariaPressed`, `"true"`)
	h.press("Tab")
	h.click("#splitBtn")
	h.want(left, `"same,same,filler,same,removed,same"`)
	// The sides show the texts for every difference.
	h.inView(`(() => { window.random = (s => () => (s = s * 1103515245 + 12345 & 0x7fffffff) / 0x7fffffff)(42); })()`)
	for i := 0; i < 40; i++ {
		h.inView(`window.pair = [0, 1].map(() => Array.from({length: Math.floor(random() * 30)}, () => ` +
			`"abcde"[Math.floor(random() * 5)]).join("\n"))`)
		pair := h.inView(`pair`)
		h.inHost(`result({structuredContent: {original: ` + pair + `[0], modified: ` + pair + `[1]}})`)
		h.want(`pair.map((text, i) => [...document.querySelectorAll(i ? "#rightContent .line:not(.filler) code" : `+
			`"#leftContent .line:not(.filler) code")].map(e => e.textContent).join("\n") === text.replace(/\n$/, ""))`,
			"[true,true]")
	}
	// Texts that share nothing, and are long.
	h.inHost(`result({structuredContent: {left: Array.from({length: 4000}, (_, i) => "a" + i).join("\n"), right: ` +
		`Array.from({length: 4000}, (_, i) => "b" + i).join("\n")}})`)
	h.shows("#diffStats", "+4000 / -4000 lines")
}

func testDiffChanges(t *testing.T) {
	h := shared.show(t, render(t, "diff-viewer",
		`{"viewMode":"unified","syntaxHighlight":false,"leftTitle":"a","rightTitle":"b"}`), wish{})
	h.data(`{"changes":[{"value":"same\nsame\n","lineNumber":10},{"value":"old\n","removed":true},` +
		`{"value":"<b>new</b>\n","added":true,"count":1}]}`)
	h.shows("#diffStats", "+1 / -1 lines")
	h.want(`[...document.querySelectorAll("#leftContent .line")].map(e => `+
		`[...e.querySelectorAll("[data-number]")].map(n => n.dataset.number).join("/")).join()`, `"10/10,11/11,12/,/12"`)
	h.want(`document.querySelector(".added code").textContent`, `"<b>new</b>"`)
	h.shows("h3", "a → b")
}

const files = `[{"id":"src","label":"src","meta":"2 files","children":[{"id":"m","label":"main.go","meta":"1.2 kB"},{"id":"d","label":"deep","children":[{"id":"x","label":"Main_test.go"}]}]},
{"id":"r","label":"README.md","icon":"file"},{"id":"s","label":"Starred","iconChar":"★"}]`

func testTree(t *testing.T) {
	h := shared.show(t, render(t, "tree-view", `{"selectable":true,"onSelectTool":"open"}`),
		wish{Answers: map[string]any{"open": text("ok")}})
	h.data(files)
	h.shows("#treeStats", "6 items")
	open := `[...document.querySelectorAll("#treeRoot li")].filter(e => e.offsetParent).map(e => e.node.id).join()`
	h.want(open, `"src,m,d,r,s"`)
	h.click(`li[aria-label="main.go"] .label`)
	h.gets("tools/call", `{"name":"open","arguments":{"nodeId":"m"}}`)
	h.gets("ui/message", `{"role":"user","content":{"type":"text","text":"Selected: m"}}`)
	h.want(`document.querySelector('[aria-selected="true"]').node.id`, `"m"`)
	// The keyboard alone.
	h.press("ArrowDown", "ArrowRight", "ArrowRight", " ")
	h.gets("tools/call", `{"name":"open","arguments":{"nodeId":"x"}}`)
	h.press("ArrowLeft", "ArrowLeft", "End", "Home", "ArrowLeft")
	h.want(open, `"src,r,s"`)
	h.want(`document.activeElement.node.id`, `"src"`)
	h.fill("#searchInput", "MAIN")
	h.shows("#treeStats", "2 of 6 items")
	h.want(open, `"src,m,d,x"`)
	// Not selectable: a click opens and closes.
	h = shared.show(t, render(t, "tree-view", `{"expandLevel":0,"showIcons":false}`), wish{})
	h.data(files)
	h.want(open, `"src,r,s"`)
	h.click(`li[aria-label="src"] .label`)
	h.want(open, `"src,m,d,r,s"`)
	h.want(`document.querySelectorAll(".icon").length`, "0")
	h.data(`[]`)
	h.shows(".empty", "No data")
}

const cards = `{"cards":[{"id":"c1","title":"Write the parser","description":"With a fuzz target.","column":"todo","priority":"high","tags":["core","<b>"],"assignee":"ada"},
{"id":2,"title":"Fix the door","status":"in-progress","priority":"low"},{"id":"c3","title":"Lost","column":"nowhere"},{"id":"c4","title":"Ship","column":"done","priority":"medium"}]}`

func testKanban(t *testing.T) {
	h := shared.show(t, render(t, "kanban", `{"onMoveTool":"move","onCardClickTool":"open"}`),
		wish{Answers: map[string]any{"move": text("ok"), "open": text("Details of it")}})
	h.data(cards)
	where := `[...document.querySelectorAll(".kanban-column")].map(c => [...c.querySelectorAll(".card-title")].map(e => ` +
		`e.textContent).join()).join("|")`
	h.want(where, `"Write the parser,Lost|Fix the door|Ship"`)
	h.want(`[...document.querySelectorAll(".count")].map(e => e.textContent).join()`, `"2,1,1"`)
	h.click(`[data-column=in-progress] .move-right`)
	h.gets("tools/call", `{"name":"move","arguments":{"cardId":2,"fromColumn":"in-progress","toColumn":"done"}}`)
	h.want(where, `"Write the parser,Lost||Ship,Fix the door"`)
	h.shows("#message", `Moved "Fix the door" to Done`)
	h.press("Enter") // the other button of the card has the focus now
	h.gets("tools/call", `{"name":"move","arguments":{"cardId":2,"fromColumn":"done","toColumn":"in-progress"}}`)
	h.click(`[data-column=todo] .card .card-title`)
	h.gets("tools/call", `{"name":"open","arguments":{"cardId":"c1"}}`)
	h.shows("#message", "Details of it")
	// A card that the tool rejects returns to its place.
	h.inHost(`answers.move = {isError: true, content: [{type: "text", text: "locked"}]}`)
	h.click(`[data-column=todo] .move-right`)
	h.shows("#message", "Error: locked")
	h.want(where, `"Write the parser,Lost|Fix the door|Ship"`)
}

func testKanbanDrag(t *testing.T) {
	h := shared.show(t, render(t, "kanban", `{"onMoveTool":"move"}`), wish{Answers: map[string]any{"move": text("ok")}})
	h.data(cards)
	fromX, fromY := h.at(`[data-column=todo] .card p`)
	toX, toY := h.at(`[data-column=done]`)
	h.command("Input.setInterceptDrags", map[string]any{"enabled": true})
	h.command("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": fromX, "y": fromY})
	h.command("Input.dispatchMouseEvent", map[string]any{"type": "mousePressed", "x": fromX, "y": fromY,
		"button": "left", "buttons": 1, "clickCount": 1})
	for step := 1.0; step <= 4; step++ {
		h.command("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": fromX + 10*step, "y": fromY +
			5*step, "button": "left", "buttons": 1})
	}
	h.want(`document.querySelectorAll(".dragged").length`, "1")
	var data json.RawMessage
	h.until("a drag", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		data = h.dragged
		return data != nil
	})
	for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
		h.command("Input.dispatchDragEvent", map[string]any{"type": kind, "x": toX, "y": toY, "data": data})
	}
	h.gets("tools/call", `{"name":"move","arguments":{"cardId":"c1","fromColumn":"todo","toColumn":"done"}}`)
	h.command("Input.dispatchMouseEvent", map[string]any{"type": "mouseReleased", "x": toX, "y": toY, "button": "left"})
	h.want(`document.querySelector("[data-column=done] .count").textContent`, `"2"`)
	// draggable: false.
	h = shared.show(t, render(t, "kanban", `{"draggable":false,"columns":[{"id":"a","title":"A & <b>"}]}`), wish{})
	h.data(cards)
	h.want(`document.querySelectorAll('[draggable="true"], .moves').length`, "0")
	h.want(`document.querySelector("h3").textContent`, `"A & <b> 4"`)
}

// RES-383: where the data is taken from.
func testResults(t *testing.T) {
	h := shared.show(t, render(t, "data-table", people), wish{})
	first := `document.querySelector("#tableBody td").textContent`
	h.data(`{"success":true,"result":[{"name":"from the envelope"}]}`)
	h.want(first, `"from the envelope"`)
	h.result(text(`[{"name":"from the text"}]`))
	h.want(first, `"from the text"`)
	h.result(text(`{"success":true,"result":{"items":[{"name":"both"}]}}`))
	h.want(first, `"both"`)
	h.result(map[string]any{"structuredContent": map[string]any{"name": "structured"},
		"content": []any{map[string]any{"type": "text", "text": "[]"}}})
	h.want(first, `"structured"`)
	h.result(text("no JSON"))
	h.shows("#message", "Error parsing data")
	h.want(first, `"structured"`)
	h.result(map[string]any{"isError": true, "content": []any{map[string]any{"type": "text",
		"text": "It <b>broke</b>"}}})
	h.shows("#message", "It <b>broke</b>")
	h.data(`[]`)
	h.shows("#message", "")
	h.inHost(`notify("ui/notifications/tool-cancelled", {reason: "by the user"})`)
	h.shows("#message", "The tool call was cancelled: by the user")
}

// RES-384: a host that does not let views call tools.
func testNoTools(t *testing.T) {
	for name, config := range map[string]string{
		"form":      `{"submitTool":"t","fields":[{"name":"a"}]}`,
		"progress":  `{"cancelTool":"t"}`,
		"tree-view": `{"selectable":true,"onSelectTool":"t"}`,
		"kanban":    `{"onMoveTool":"t","onCardClickTool":"t"}`,
	} {
		h := shared.show(t, render(t, name, config), wish{NoTools: true})
		h.shows("#message", "This host does not let views call tools.")
		switch name {
		case "tree-view":
			h.data(files)
			h.click(`li[aria-label="src"] .label`)
		case "kanban":
			h.data(cards)
			h.click(`.card .card-title`)
		}
		h.want(`[...document.querySelectorAll("button:not(#confirmNo)")].every(e => e.disabled)`, "true")
		h.want(`document.querySelectorAll('[draggable="true"], [aria-selected="true"]').length`, "0")
		if got := h.inHost(`of("tools/call").length`); got != "0" {
			t.Errorf("%s called a tool that it may not call", name)
		}
	}
}

// RES-401: the messages of the view to the host, and its answers.
func testProtocol(t *testing.T) {
	h := shared.show(t, render(t, "data-table", `{}`), wish{})
	h.gets("ui/initialize", `{"appCapabilities":{"availableDisplayModes":["inline"]},"appInfo":{"name":"mcp-bash `+
		`data-table","version":"1.0.0"},"protocolVersion":"2026-01-26"}`)
	h.inHost(`(send({id: "p", method: "ping"}), send({id: "t", method: "ui/resource-teardown", params: {}}), send({id: ` +
		`"u", method: "no/such"}))`)
	h.until("three answers", func() bool {
		return h.inHost(`received.filter(m => `+
			`typeof m.id === "string").length`) == "3"
	})
	if got, want := h.inHost(`received.filter(m => typeof m.id === "string").map(m => [m.id, m.result ?? m.error.code])`),
		`[["p",{}],["t",{}],["u",-32601]]`; got != want {
		t.Errorf("answers %s, want %s", got, want)
	}
	// Nobody but the host is listened to.
	h.inView(`window.postMessage({jsonrpc: "2.0", method: "ui/notifications/tool-result", params: {content: [{type: ` +
		`"text", text: "[{\"forged\":1}]"}]}}, "*")`)
	h.inHost(`(send(null), frame.contentWindow.postMessage("text", "*"), frame.contentWindow.postMessage({method: ` +
		`"ui/notifications/tool-result"}, "*"))`)
	h.data(`[{"genuine":1}]`)
	h.want(`document.querySelector("th").textContent`, `"genuine"`)
	// The host learns of a new height.
	before := h.inHost(`of("ui/notifications/size-changed").length`)
	h.data(`[` + string(bytes.Repeat([]byte(`{"a":1},`), 30)) + `{"a":2}]`)
	h.until("a new size", func() bool { return h.inHost(`of("ui/notifications/size-changed").length`) != before })
	h.want(`document.documentElement.scrollHeight <= window.innerHeight`, "true")
}

// RES-380, RES-401: the host's variables, theme and fonts.
func testTheming(t *testing.T) {
	h := shared.show(t, render(t, "kanban", `{}`), wish{Theme: "dark", Context: map[string]any{
		"styles": map[string]any{"variables": map[string]any{"--color-background-primary": "rgb(1, 2, 3)",
			"--font-sans": "Courier", "color": "red"}, "css": map[string]any{"fonts": "/* fonts */"}},
		"safeAreaInsets": map[string]any{"top": 7, "right": 0, "bottom": 0, "left": 0},
	}})
	page := `getComputedStyle(document.body)`
	h.want(page+`.backgroundColor`, `"rgb(1, 2, 3)"`)
	h.want(page+`.fontFamily`, `"Courier"`)
	h.want(page+`.paddingTop`, `"7px"`)
	h.want(page+`.color`, `"rgb(242, 241, 239)"`)
	h.inHost(`notify("ui/notifications/host-context-changed", {theme: "light"})`)
	h.want(page+`.color`, `"rgb(28, 27, 26)"`)
	h.want(`document.querySelector("style[data-part=fonts]").textContent`, `"/* fonts */"`)
}

// RES-382: configuration is text wherever it goes.
func testHostile(t *testing.T) {
	bad := quote(`</script></title></style><script>window.owned=1</script><img src=x onerror="window.owned=1">'"&amp;` +
		"\u2028")
	for name, config := range map[string]string{
		"form": `{"title":BAD,"description":BAD,"submitTool":BAD,"submitArgs":{BAD:BAD},"fields":[{"name":BAD,` +
			`"label":BAD,"placeholder":BAD,"default":BAD},{"name":"s","type":"select","options":[BAD,{"value":BAD,"label":BAD}` +
			`]},{"name":"t","type":"textarea","default":BAD},{"name":"u","type":BAD}]}`,
		"data-table":  `{"title":BAD,"columns":[{"key":BAD,"label":BAD,"sortable":true}]}`,
		"progress":    `{"title":BAD,"cancelTool":BAD,"cancelConfirm":BAD}`,
		"diff-viewer": `{"title":BAD,"leftTitle":BAD,"rightTitle":BAD}`,
		"tree-view":   `{"title":BAD,"onSelectTool":BAD,"selectable":true}`,
		"kanban":      `{"title":BAD,"onMoveTool":BAD,"onCardClickTool":BAD,"columns":[{"id":BAD,"title":BAD}]}`,
	} {
		h := shared.show(t, render(t, name, string(bytes.ReplaceAll([]byte(config), []byte("BAD"), []byte(bad)))),
			wish{})
		h.data(string(bytes.ReplaceAll([]byte(`{"cards":[{"id":BAD,"title":BAD,"tags":[BAD]}],"nodes":[{"id":BAD,`+
			`"label":BAD,"iconChar":BAD,"meta":BAD}],"items":[{BAD:BAD}],"left":BAD,"right":"","message":BAD}`), []byte("BAD"),
			[]byte(bad))))
		h.want(`document.querySelector("h2").textContent === `+bad+` && document.title === `+bad+`.replaceAll("\u2028", `+
			`"\u2028")`, "true")
		h.want(`[window.owned, document.images.length, document.scripts.length]`, "[null,0,2]")
	}
}

// examples/14-mcp-app: a page that does not use a template.
func testByHand(t *testing.T) {
	page, err := os.ReadFile("../../examples/14-mcp-app/tools/roll-dice/ui/index.html")
	if err != nil {
		t.Fatal(err)
	}
	h := shared.show(t, page, wish{Theme: "dark",
		Answers: map[string]any{"roll-dice": map[string]any{"structuredContent": map[string]any{"dice": []int{6},
			"total": 6}}}})
	h.data(`{"dice":[1,2,3],"total":6}`)
	h.shows("#dice", "⚀\n⚁\n⚂")
	h.click("#again")
	h.gets("tools/call", `{"name":"roll-dice","arguments":{"count":3}}`)
	h.shows("#dice", "⚅")
	h.shows("#total", "6 in all")
	h.settle()
	h.screenshot("example-roll-dice")
}

// Every template in both themes, as docs/MCP-APPS.md shows it.
func testLooks(t *testing.T) {
	for name, show := range map[string]struct{ config, data string }{
		"form": {`{"title":"New order","description":"What shall we send, and where?","submitTool":"order",` +
			`"cancelable":true,"fields":[{"name":"customer","label":"Customer","required":true,"placeholder":"Ada Lovelace"},` +
			`{"name":"size","type":"select","label":"Size","options":["small","medium","large"],"default":"medium"},` +
			`{"name":"stars","type":"range","label":"Rating","default":30},` +
			`{"name":"gift","type":"checkbox","label":"Wrap it as a gift","default":true}]}`, ``},
		"data-table": {`{"title":"People","columns":[{"key":"name","label":"Name","sortable":true},` +
			`{"key":"age","label":"Age","sortable":true},{"key":"work","label":"Work"}]}`,
			`[{"name":"Ada Lovelace","age":36,"work":"first program"},{"name":"Grace Hopper","age":85,` +
				`"work":"compilers"},{"name":"Edsger Dijkstra","age":72,"work":"shortest paths"}]`},
		"progress": {`{"title":"Nightly backup","cancelTool":"stop"}`,
			`{"percent":62,"message":"Copying the photos"}`},
		"diff-viewer": {`{"title":"main.go"}`, texts},
		"tree-view":   {`{"title":"Project","selectable":true,"expandLevel":2}`, files},
		"kanban": {`{"title":"This week","onMoveTool":"move","onCardClickTool":"open"}`, `{"cards":[` +
			`{"id":"c1","title":"Write the parser","description":"With a fuzz target.","column":"todo","priority":"high",` +
			`"tags":["core"],"assignee":"ada"},{"id":"c2","title":"Fix the door","column":"in-progress","priority":"low"},` +
			`{"id":"c3","title":"Ship","column":"done","priority":"medium"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var pictures []image.Image
			text, width := "", 560
			if name == "kanban" {
				width = 672 // three columns
			}
			for _, theme := range []string{"light", "dark"} {
				h := shared.show(t, render(t, name, show.config), wish{Theme: theme, Width: width})
				if show.data != "" {
					if name == "progress" {
						h.data(`{"percent":10,"message":"Looking for changes"}`)
					}
					h.data(show.data)
				}
				h.settle()
				picture, _, err := image.Decode(bytes.NewReader(h.screenshot(name + "-" + theme)))
				if err != nil {
					t.Fatal(err)
				}
				pictures = append(pictures, picture)
				text = h.inView(`document.body.innerText`)
			}
			if light, dark := brightness(pictures[0]), brightness(pictures[1]); light < 0.8 || dark > 0.3 {
				t.Errorf("brightness %.2f light, %.2f dark", light, dark)
			}
			comparePicture(t, "ui-"+name, pictures[0], pictures[1], text)
		})
	}
}

// brightness is the mean of a picture, from 0 black to 1 white.
func brightness(p image.Image) float64 {
	sum, n := 0.0, 0.0
	for y := p.Bounds().Min.Y; y < p.Bounds().Max.Y; y += 3 {
		for x := p.Bounds().Min.X; x < p.Bounds().Max.X; x += 3 {
			r, g, b, _ := p.At(x, y).RGBA()
			sum += float64(r+g+b) / 3 / 0xffff
			n++
		}
	}
	return sum / n
}
