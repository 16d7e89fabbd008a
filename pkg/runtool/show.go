package runtool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/feature/results"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/run/scriptenv"
	"mcp-bash/pkg/wire/mcp"
)

// readable reports whether results are printed for a person.
func (r *run) readable() bool { return !r.json && cli.IsTerminal(r.Out) }

// forPeople reports whether an error is printed for a person. Nobody parses the output of --text.
func (r *run) forPeople() bool { return r.text || r.readable() }

// showTexts prints the texts of a result as they are.
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

// A display shows the reports of a running tool on standard error. On a terminal, the progress is on the last line,
// below all other output. Otherwise each report is a line.
type display struct {
	out   io.Writer
	raw   io.Writer // the terminal, or nil
	level mcp.Level // minimum level of the tool's log

	mu     sync.Mutex
	bar    string // the last report, or ""
	drawn  bool   // bar is on the screen
	within bool   // the cursor is within a line of out
}

func newDisplay(out io.Writer, level mcp.Level) *display {
	d := &display{out: out, level: level}
	if raw, ok := cli.Raw(out); ok {
		d.raw = raw
	}
	return d
}

// Write writes text above the bar.
func (d *display) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	n, err := d.out.Write(p)
	d.within = p[len(p)-1] != '\n'
	d.draw()
	return n, err
}

// Fd returns the descriptor of the stream, for [cli.Printf].
func (d *display) Fd() uintptr {
	if f, ok := d.out.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

func (d *display) erase() {
	if d.drawn {
		d.raw.Write([]byte("\r" + cli.Pad("", cli.Columns(d.bar)) + "\r"))
		d.drawn = false
	}
}

func (d *display) draw() {
	if d.raw != nil && d.bar != "" && !d.within {
		d.raw.Write([]byte(d.bar))
		d.drawn = true
	}
}

// Returned records that the user typed a line, so the cursor is at the start of the next line.
func (d *display) Returned() {
	d.mu.Lock()
	d.within = false
	d.mu.Unlock()
}

func (d *display) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	d.bar = ""
}

// Ready implements [tool.Listener].
func (*display) Ready() bool { return true }

// Keep implements [tool.Listener].
func (d *display) Keep(r tool.Reports) { r.Deliver(d) }

// Progress implements [tool.Listener].
func (d *display) Progress(p tool.Progress) {
	message, _ := rawjson.Text(p.Message)
	if d.raw == nil {
		of := ""
		if p.Total != nil {
			of = "/" + string(p.Total)
		}
		cli.Printf(d.out, "run-tool: progress %s%s %s\n", p.Value, of, message)
		return
	}
	bar := progressBar(p, cli.Line(message), cli.Width(d.raw, 80)-1)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.erase()
	d.bar = bar
	d.draw()
}

const barWidth = 24

// progressBar renders a report in at most width columns.
func progressBar(p tool.Progress, message string, width int) string {
	text := string(p.Value)
	value, _ := strconv.ParseFloat(string(p.Value), 64)
	total, err := strconv.ParseFloat(string(p.Total), 64)
	if err == nil && total > 0 {
		share := min(max(value/total, 0), 1)
		full := int(share * barWidth)
		text = fmt.Sprintf("[%s%s] %3d%%", strings.Repeat("#", full), strings.Repeat("-", barWidth-full),
			int(share*100))
	}
	if message != "" {
		text += " " + message
	}
	return cli.Cut(text, width)
}

// Log implements [tool.Listener].
func (d *display) Log(m tool.LogMessage) {
	if m.Level < d.level {
		return
	}
	logger, _ := rawjson.Text(m.Logger)
	text, isText := rawjson.Text(m.Data)
	if !isText {
		text = string(m.Data)
	}
	cli.Printf(d, "run-tool: %s: %s: %s\n", m.Level, logger, text)
}

// A listedTool is a tool, and why it would not run, or "".
type listedTool struct {
	item   json.RawMessage // its registry entry
	reason string
	listed bool // the list of tools that agents may call has it
}

// list prints the tools of the project, and which of them would run.
func (r *run) list(ctx context.Context, e *engine.Engine) error {
	offers, err := r.offers(ctx, e)
	if err != nil {
		return err
	}
	if r.readable() {
		r.table(offers)
		return nil
	}
	var b rawjson.Builder
	b.Object().Name("tools").Array()
	for _, o := range offers {
		b.Object()
		for _, name := range []string{"name", "title", "description", "path"} {
			b.OptionalRaw(name, rawjson.Get(o.item, name))
		}
		b.Name("status").String(status(o.reason))
		b.Optional("reason", o.reason)
		if !o.listed {
			b.Name("listed").Bool(false)
		}
		b.End()
	}
	_, err = fmt.Fprintf(r.Out, "%s\n", b.End().Name("total").Int(len(offers)).End().Bytes())
	return err
}

func (r *run) offers(ctx context.Context, e *engine.Engine) ([]listedTool, error) {
	items := r.cached
	if items == nil {
		list, err := e.Catalog.List(ctx, kinds.Tools)
		if err != nil {
			return nil, unavailable(kinds.Tools.Unavailable(err))
		}
		for _, item := range list.Items {
			items = append(items, item.JSON)
		}
	}
	offers := make([]listedTool, len(items))
	for i, item := range items {
		request := &tool.Request{Name: rawjson.TextOf(item, "name")}
		would := e.Tools.DryRun(ctx, request)
		refusal, refused := errors.AsType[*mcp.Error](would.Refusal)
		offers[i] = listedTool{item, would.Reason(), !refused || refusal.Cause != mcp.CauseNotListed}
	}
	return offers, context.Cause(ctx)
}

func (r *run) table(offers []listedTool) {
	if len(offers) == 0 {
		fmt.Fprintln(r.Out, "The project has no tools: put a script into tools/NAME/tool.sh.")
		return
	}
	table := cli.Table{{"NAME", "STATUS", "DESCRIPTION"}}
	blocked, unlisted := false, false
	for _, o := range offers {
		blocked, unlisted = blocked || o.listed && o.reason != "", unlisted || !o.listed
		about, _, _ := strings.Cut(rawjson.TextOf(o.item, "description"), "\n")
		table = append(table, []string{rawjson.TextOf(o.item, "name"), o.shown(), about})
	}
	table.Print(r.Out)
	if blocked {
		fmt.Fprintln(r.Out, "\nWhy one is blocked: mcp-bash run-tool NAME --dry-run.")
	}
	if unlisted {
		fmt.Fprintln(r.Out, "\nAgents may call the tools that MCPBASH_TOOL_ALLOWLIST names; mcp-bash config sets it for a "+
			"client.\nHere you can run a tool that is not listed with --allow-self.")
	}
}

// shown returns the status for people.
func (t listedTool) shown() string {
	if !t.listed {
		return "not listed"
	}
	return status(t.reason)
}

func status(reason string) string {
	if reason != "" {
		return "blocked"
	}
	return "ready"
}

func unavailable(e *mcp.Error) error {
	return cli.Failf(cli.CodeInvalid, "%s: %s", e.Message, rawjson.TextOf(e.Data, "reason"))
}

// readCache returns the tools of .registry/tools.json without a scan (--no-refresh).
func readCache(p *project.Project) ([]json.RawMessage, error) {
	list, err := registry.NewCatalog(p, registry.Options{}).File(kinds.Tools)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, cli.Failf(cli.CodeNotFound, "registry cache missing (expected %s)",
			filepath.Join(p.Registry, kinds.Tools.File))
	case err != nil:
		return nil, cli.Failf(cli.CodeInvalid, "invalid tools registry cache (%v)", err)
	}
	return list.JSON(), nil
}

func (r *run) showDryRun(ctx context.Context, e *engine.Engine, item json.RawMessage) error {
	timeout := "none"
	if n := tool.EffectiveTimeout(&r.project.Calls, item, r.timeout); n > 0 {
		timeout = strconv.Itoa(n)
	}
	result := e.Tools.DryRun(ctx, &tool.Request{Name: r.tool, Arguments: r.args, Meta: r.meta})
	reason, verdict, arguments := result.Reason(), "allowed", "valid"
	if result.Refusal != nil {
		verdict = "blocked"
	}
	switch {
	case result.Unchecked != nil:
		arguments = "not checked (" + result.Unchecked.Error() + ")"
	case result.Violations != nil:
		arguments = "invalid"
		for _, v := range result.Violations {
			cli.Printf(r.Err, "run-tool: --args: %s\n", v)
		}
		if reason == "" && result.Enforced {
			reason = "the arguments do not fit the tool's inputSchema"
		}
	}
	if r.json {
		var b rawjson.Builder
		b.Object().Name("tool").String(r.tool).Name("argsBytes").Int(len(r.args)).Name("roots").Int(len(r.roots.List)).
			Name("timeout").String(timeout).Name("policy").String(verdict).Name("arguments").String(arguments).
			Name("status").String(status(reason))
		b.Optional("reason", reason)
		fmt.Fprintf(r.Out, "%s\n", b.End().Bytes())
	} else {
		outlook := "Ready to execute (re-run without --dry-run to run)"
		if reason != "" {
			outlook = "Blocked (" + reason + ")"
		}
		cli.Printf(r.Out, "Tool: %s\nArgs: %d bytes\nRoots: %d\nTimeout: %s\nPolicy: %s\nArguments: %s\nStatus: %s\n",
			r.tool, len(r.args), len(r.roots.List), timeout, verdict, arguments, outlook)
	}
	if r.check && reason != "" {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

const scriptEnvHeading = "ENV_POLICY (launch env + server.meta.json only; does not include --with-server-env or " +
	"--source files, or server.d/policy.sh):"

func (r *run) showEnv() error {
	rows := [][2]string{
		{"MCPBASH_PROJECT_ROOT", r.project.Root}, {"MCPBASH_HOME", r.home.Dir}, {"MCP_SDK", r.home.Dir + "/sdk"},
		{"MCPBASH_MODE", "full"},
	}
	there := func(file code.File) string {
		if _, err := os.Stat(file.Path()); err != nil {
			return "(not found: " + file.Path() + ")"
		}
		return file.Path()
	}
	server, files := r.sourceFiles()
	if server != (code.File{}) {
		rows = append(rows, [2]string{"WILL_SOURCE_SERVER_ENV", there(server)})
	}
	for i, file := range files {
		rows = append(rows, [2]string{fmt.Sprintf("WILL_SOURCE[%d]", i), there(file)})
	}
	for i, root := range r.roots.List {
		rows = append(rows, [2]string{fmt.Sprintf("ROOT[%d]", i), root.Path})
	}
	report := scriptenv.Report{Policy: &r.project.Scripts, Env: r.project.Env, Placeholders: project.Placeholders()}
	if r.json {
		var b rawjson.Builder
		b.Object()
		for _, row := range rows {
			b.Name(row[0]).String(row[1])
		}
		b.Name("ENV_POLICY").Append(report.AppendJSON)
		fmt.Fprintf(r.Out, "%s\n", b.End().Bytes())
		return nil
	}
	for _, row := range rows {
		cli.Printf(r.Out, "%s=%s\n", row[0], row[1])
	}
	fmt.Fprintln(r.Out, scriptEnvHeading)
	for _, line := range report.Lines() {
		cli.Printf(r.Out, "%s\n", line.Text)
	}
	return nil
}
