package validate

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/json/schema"
	"mcp-bash/pkg/registry/item"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

// samplesDir is the directory of a tool's samples.
const samplesDir = "samples"

type sample struct {
	label     string
	tool      offer
	arguments json.RawMessage
}

// samples checks example calls of tools: the arguments against the inputSchema, and results against
// the outputSchema. With --run-samples it also runs the tools.
func (c *check) samples() {
	var all []sample
	dirs := map[string][]offer{} // tools of each directory, in order
	var order []string
	for _, tool := range c.offered.items[kinds.Tools] {
		dir := path.Dir(tool.path)
		if tool.path == "" || dir == "." {
			continue
		}
		if dirs[dir] == nil {
			order = append(order, dir)
		}
		dirs[dir] = append(dirs[dir], tool)
	}
	for _, dir := range order {
		place := abs(c.p.Tools, dir+"/"+samplesDir)
		if !exists(place) {
			continue
		}
		for _, e := range c.listing(place) {
			if !e.IsDir && strings.HasSuffix(e.Name, ".json") {
				if s := c.sample(abs(place, e.Name), dirs[dir]); s != nil {
					all = append(all, *s)
				}
			}
		}
	}
	if c.o.Samples && len(all) > 0 {
		c.run(all)
	}
}

// sample reads and checks a sample. It returns nil for an invalid one. tools are the tools of the directory.
func (c *check) sample(file string, tools []offer) *sample {
	label := c.label(file)
	text, _, err := folder.ReadFile(file, item.MaxMetadata)
	var doc json.RawMessage
	if err == nil {
		doc, err = item.ParseObject(text)
	}
	if err != nil {
		f := parseFault("sample.invalid", label, err)
		f.Message = "cannot be used: " + f.Message
		c.add(f)
		return nil
	}
	known := []string{"tool", "arguments", "structuredContent"}
	c.text = text
	for _, m := range unknownFields(doc, known) {
		c.noEffect(m, label, cli.DidYouMean(m.Name, known))
	}
	s := &sample{label: label, tool: tools[0], arguments: rawjson.Get(doc, "arguments")}
	if s.arguments == nil {
		s.arguments = json.RawMessage("{}")
	}
	if name := rawjson.TextOf(doc, "tool"); name != "" || len(tools) > 1 {
		found := false
		for _, t := range tools {
			if t.name == name {
				s.tool, found = t, true
			}
		}
		if !found {
			c.at("sample.invalid", label, `"tool" must name a tool of this directory, not %q`, name)
			return nil
		}
	}
	if rawjson.KindOf(s.arguments) != rawjson.Object {
		c.at("sample.invalid", label, `"arguments" must be an object`)
		return nil
	}
	c.fits("sample.arguments", label, "arguments", s.arguments, rawjson.Get(s.tool.json, "inputSchema"))
	if structured := rawjson.Get(doc, "structuredContent"); structured != nil {
		c.fits("sample.output", label, "structuredContent", structured, rawjson.Get(s.tool.json, "outputSchema"))
	}
	return s
}

// fits checks a value against a schema. It ignores invalid schemas, which are reported elsewhere.
func (c *check) fits(id, label, what string, value, by json.RawMessage) bool {
	if by == nil {
		return true
	}
	compiled, err := schema.Compile(by)
	if err != nil {
		return true
	}
	violations := compiled.Check(value)
	for _, v := range violations {
		c.at(id, label, "%s: %v", what, v)
	}
	return len(violations) == 0
}

// run calls tools with their samples, one after the other, as mcp-runtool does. It writes nothing into the project.
func (c *check) run(all []sample) {
	var h hints
	e, end, err := engine.ForCommand(c.p.Root, c.p.Env, c.o.Tree,
		engine.Config{ReadOnly: true, Log: h.add, Entries: c.offered.entries(kinds.Tools)})
	if err != nil {
		c.at("sample.not_run", "", "samples were not run: %v", err)
		return
	}
	defer end()
	e.Project.Calls.Validate = "true"
	for _, s := range all {
		if c.ctx.Err() != nil {
			return
		}
		c.runOne(e, &h, s)
	}
}

// hints are the warnings about a call, which explain a failure.
type hints struct {
	mu   sync.Mutex
	list []string
}

func (h *hints) add(level mcp.Level, _, message string) {
	if level != mcp.Warning {
		return
	}
	h.mu.Lock()
	h.list = append(h.list, message)
	h.mu.Unlock()
}

// take returns the warnings about a tool as the end of a message, and clears all warnings.
func (h *hints) take(name string) (text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, message := range h.list {
		text += "; " + strings.TrimPrefix(message, "Tool '"+name+"': ")
	}
	h.list = nil
	return text
}

func (c *check) runOne(e *engine.Engine, h *hints, s sample) {
	result, err := e.Tools.Call(c.ctx, &tool.Request{
		Name: s.tool.name, Arguments: rawjson.Normal(s.arguments), Roots: c.roots,
	})
	hint := h.take(s.tool.name)
	if c.ctx.Err() != nil {
		return
	}
	if err != nil {
		c.at("sample.failed", s.label, "tool %q failed: %v%s", s.tool.name, err, hint)
		return
	}
	defer result.Done()
	line := result.AppendJSON(nil, mcp.Extra{})
	switch {
	case result.Failure != nil:
		c.at("sample.failed", s.label, "tool %q failed: %s%s", s.tool.name, result.Failure.Message, hint)
		return
	case result.IsError:
		text := ""
		for content := range rawjson.Elements(rawjson.Get(line, "content")) {
			text = rawjson.TextOf(content, "text")
			break
		}
		c.at("sample.failed", s.label, "the result of tool %q is an error: %s%s", s.tool.name, text, hint)
		return
	}
	c.measure(s.tool, line)
	by := rawjson.Get(s.tool.json, "outputSchema")
	structured := rawjson.Get(line, "structuredContent")
	if by != nil && structured == nil {
		c.at("sample.output", s.label, "tool %q gives no structured content, but has an outputSchema", s.tool.name)
		return
	}
	if c.fits("sample.output", s.label, "result of "+s.tool.name, structured, by) {
		c.good("sample.ran", s.label, fmt.Sprintf("the result of tool %q matches its schemas", s.tool.name))
	}
}
