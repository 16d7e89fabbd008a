package runtool

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/feature/tool"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// A display shows the reports of a running tool on standard error (CLI-811). On a terminal, the
// progress is on the last line, below all other output. Otherwise each report is a line.
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
