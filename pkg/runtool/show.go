package runtool

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// readable reports whether results are for a person to read (CLI-803).
func (r *run) readable() bool { return !r.json && cli.IsTerminal(r.Out) }

// showResult shows a result, as its JSON stands in line, to a person. A hint
// stands on standard error already.
func (r *run) showResult(line json.RawMessage) {
	structured := rawjson.Get(line, "structuredContent")
	told := structured == nil
	for item := range rawjson.Elements(rawjson.Get(line, "content")) {
		text := rawjson.TextOf(item, "text")
		isText := rawjson.TextOf(item, "type") == "text"
		switch {
		case isText && !told && isSame(text, structured):
			told = true
			fmt.Fprintf(r.Out, "%s\n", rawjson.AppendIndent(nil, structured, 0))
		case isText && r.display != nil && slices.Contains(r.logged, "Tool '"+r.tool+"': "+text):
		default:
			showItem(r.Out, item)
		}
	}
	if !told {
		fmt.Fprintf(r.Out, "%s\n", rawjson.AppendIndent(nil, structured, 0))
	}
}

// isSame reports whether a text is the JSON of a value.
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
	default: // an image, audio, or what a later protocol has
		cli.Printf(out, "[%s, %s]\n", kind, about(item, "data"))
	}
}

func showText(out io.Writer, text string) {
	if text != "" {
		fmt.Fprintf(out, "%s\n", []byte(strings.TrimSuffix(text, "\n")))
	}
}

// about is the type of content, and its size where it is base64.
func about(item json.RawMessage, member string) string {
	text := cli.Line(rawjson.TextOf(item, "mimeType"))
	if data := rawjson.TextOf(item, member); data != "" {
		text += fmt.Sprintf(", %d bytes", len(strings.TrimRight(data, "="))*3/4)
	}
	return text
}

// tellEnd says on standard error how a tool ended, where its result does not.
func (r *run) tellEnd(line json.RawMessage, failed bool) {
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

// tellError shows what a client would get as an error to a person.
func (r *run) tellError(e *mcp.Error) {
	cli.Printf(r.Err, "run-tool: error %d: %s\n", e.Code, e.Message)
	if !rawjson.Absent(e.Data) {
		fmt.Fprintf(r.Err, "%s\n", rawjson.AppendIndent(nil, e.Data, 0))
	}
}
