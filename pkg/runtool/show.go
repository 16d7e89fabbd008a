package runtool

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// readable reports whether results are printed for a person (CLI-803).
func (r *run) readable() bool { return !r.json && cli.IsTerminal(r.Out) }

// forPeople reports whether an error is printed for a person. Nobody parses the output of --text.
func (r *run) forPeople() bool { return r.text || r.readable() }

// showTexts prints the texts of a result as they are (CLI-803).
func (r *run) showTexts(line json.RawMessage) {
	for item := range rawjson.Elements(rawjson.Get(line, "content")) {
		if rawjson.TextOf(item, "type") == "text" {
			showText(r.Out, rawjson.TextOf(item, "text"))
		}
	}
}

// noteStored prints how to see all of a result that a client reads in parts.
func (r *run) noteStored(line json.RawMessage) {
	for item := range rawjson.Elements(rawjson.Get(line, "content")) {
		if results.Owns(rawjson.TextOf(item, "uri")) {
			cli.Printf(r.Err, "run-tool: a client reads the rest from %s; --full shows all here\n",
				rawjson.TextOf(item, "uri"))
		}
	}
}

// showResult prints a result for a person. Hints are already on standard error.
func (r *run) showResult(line json.RawMessage) {
	structured := rawjson.Get(line, "structuredContent")
	shown := structured == nil
	for item := range rawjson.Elements(rawjson.Get(line, "content")) {
		text := rawjson.TextOf(item, "text")
		isText := rawjson.TextOf(item, "type") == "text"
		switch {
		case isText && !shown && isSame(text, structured):
			shown = true
			fmt.Fprintf(r.Out, "%s\n", rawjson.AppendIndent(nil, structured, 0))
		case isText && r.display != nil && slices.Contains(r.logged, "Tool '"+r.tool+"': "+text):
		default:
			showItem(r.Out, item)
		}
	}
	if !shown {
		fmt.Fprintf(r.Out, "%s\n", rawjson.AppendIndent(nil, structured, 0))
	}
}

func isSame(text string, value json.RawMessage) bool {
	v, err := rawjson.Check([]byte(text))
	return err == nil && rawjson.Equal(v, value)
}

func showItem(out io.Writer, item json.RawMessage) {
	switch kind := rawjson.TextOf(item, "type"); kind {
	case "text":
		showText(out, rawjson.TextOf(item, "text"))
	case "resource":
		resource := rawjson.Get(item, "resource")
		cli.Printf(out, "[%s, %s]\n", rawjson.TextOf(resource, "uri"), about(resource, "blob"))
		showText(out, rawjson.TextOf(resource, "text"))
	case "resource_link":
		cli.Printf(out, "[%s: %s]\n", rawjson.TextOf(item, "name"), rawjson.TextOf(item, "uri"))
	default: // image, audio, or a kind of a later protocol
		cli.Printf(out, "[%s, %s]\n", kind, about(item, "data"))
	}
}

func showText(out io.Writer, text string) {
	if text != "" {
		fmt.Fprintf(out, "%s\n", []byte(strings.TrimSuffix(text, "\n")))
	}
}

// about returns the type of content, and its size if it is base64.
func about(item json.RawMessage, member string) string {
	text := cli.Line(rawjson.TextOf(item, "mimeType"))
	if data := rawjson.TextOf(item, member); data != "" {
		text += fmt.Sprintf(", %d bytes", len(strings.TrimRight(data, "="))*3/4)
	}
	return text
}

// printEnd prints how a tool ended, unless the result contains it.
func (r *run) printEnd(line json.RawMessage, failed bool) {
	status := rawjson.Path(line, "_meta", "exitCode")
	stderr, _ := rawjson.Text(rawjson.Path(line, "_meta", "stderr"))
	switch {
	case failed:
		cli.Printf(r.Err, "run-tool: %s failed with exit status %s\n", r.tool, status)
	case rawjson.True(rawjson.Get(line, "isError")):
		cli.Printf(r.Err, "run-tool: the result of %s is an error\n", r.tool)
	}
	if stderr != "" && !failed && !r.verbose {
		cli.Printf(r.Err, "run-tool: standard error of %s:\n%s\n", r.tool, []byte(stderr))
	}
}

func (r *run) printError(e *mcp.Error) {
	cli.Printf(r.Err, "run-tool: error %d: %s\n", e.Code, e.Message)
	if !rawjson.Absent(e.Data) {
		fmt.Fprintf(r.Err, "%s\n", rawjson.AppendIndent(nil, e.Data, 0))
	}
}
