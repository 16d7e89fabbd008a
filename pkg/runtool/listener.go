package runtool

import (
	"fmt"
	"io"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/tool"
)

// listener returns who hears what the script logs: with --verbose, the person
// at the keyboard.
func (r *run) listener() tool.Listener {
	if !r.verbose {
		return nil
	}
	return &spectator{r.Err, r.project.Logging.Level}
}

type spectator struct {
	out   io.Writer
	level mcp.Level
}

func (s *spectator) Progress(p tool.Progress) {
	text, _ := rawjson.Text(p.Message)
	if p.Total != nil {
		fmt.Fprintf(s.out, "run-tool: progress %s/%s %s\n", p.Value, p.Total, text)
		return
	}
	fmt.Fprintf(s.out, "run-tool: progress %s %s\n", p.Value, text)
}

func (s *spectator) Log(m tool.LogMessage) {
	if m.Level < s.level {
		return
	}
	logger, _ := rawjson.Text(m.Logger)
	text, isText := rawjson.Text(m.Data)
	if !isText {
		text = string(m.Data)
	}
	fmt.Fprintf(s.out, "run-tool: %s: %s: %s\n", m.Level, logger, text)
}
