package console

import (
	"bytes"
	"io"
	"sync"
	"time"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/events"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/wire/mcp"
)

// A JSONLog writes each line as a JSON object with the members time, level, logger and msg (AUD-8). Text without a
// level has the level info. It is safe for concurrent use.
type JSONLog struct {
	Out  io.Writer
	mu   sync.Mutex
	part []byte // of a line that is not complete
}

// maxPart is the longest line, in bytes. Longer ones are several.
const maxPart = 64 << 10

// Write writes the lines of a text.
func (j *JSONLog) Write(text []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.part = append(j.part, text...)
	for {
		line, rest, whole := bytes.Cut(j.part, []byte("\n"))
		if !whole && len(line) < maxPart {
			return len(text), nil
		}
		if !whole {
			line, rest = line[:maxPart], line[maxPart:]
		}
		if line = bytes.TrimRight(line, "\r"); len(line) > 0 {
			if err := j.write(mcp.Info, "mcp-bash", string(line)); err != nil {
				return len(text), err
			}
		}
		j.part = append(j.part[:0], rest...)
	}
}

// Log writes a message.
func (j *JSONLog) Log(level mcp.Level, logger, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.write(level, logger, message) // an error cannot be reported anywhere
}

func (j *JSONLog) write(level mcp.Level, logger, message string) error {
	var b rawjson.Builder
	b.Object().Name("time").String(time.Now().UTC().Format(events.TimeFormat)).
		Name("level").String(level.String()).Name("logger").String(logger).Name("msg").String(message)
	_, err := j.Out.Write(append(b.End().Bytes(), '\n'))
	return err
}

// Log writes a message of the server itself. It has no filter.
func (c *Console) Log(level mcp.Level, logger, message string) {
	message = c.Redactor.Text(message)
	if j, ok := c.Writer.(*JSONLog); ok {
		j.Log(level, logger, message)
		return
	}
	cli.Printf(c.Writer, "mcp-bash: %s: %s: %s\n", level, logger, message)
}
