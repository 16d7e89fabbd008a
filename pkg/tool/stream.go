package tool

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"time"

	"mcp-bash/pkg/mcp"
	"mcp-bash/pkg/rawjson"
)

// A stream follows a file to which a script appends lines (T-100).
type stream struct {
	file    *os.File
	at      int64  // what has been read
	part    []byte // a line without its end
	changed time.Time
	skip    bool // the line is too long: drop it up to its end
}

const (
	maxStreamLine = 1 << 20
	streamChunk   = 64 << 10
)

// poll calls line with every line that became complete, without its end, and
// reports whether the file was written to or touched since the last poll.
func (s *stream) poll(line func([]byte)) (active bool) {
	info, err := s.file.Stat()
	if err != nil {
		return false
	}
	if t := info.ModTime(); !t.Equal(s.changed) {
		active, s.changed = true, t
	}
	if info.Size() < s.at { // the script truncated it
		s.at, s.part = 0, nil
	}
	for s.at < info.Size() {
		buf := make([]byte, min(streamChunk, info.Size()-s.at))
		n, err := s.file.ReadAt(buf, s.at)
		s.at += int64(n)
		s.split(buf[:n], line)
		if err != nil && err != io.EOF || n == 0 {
			break
		}
	}
	return active
}

// mark notes the file's time, so that only what comes later counts.
func (s *stream) mark() {
	if info, err := s.file.Stat(); err == nil {
		s.changed = info.ModTime()
	}
}

// finish reads to the end; the last line counts without its end now (T-101).
func (s *stream) finish(line func([]byte)) {
	s.poll(line)
	if len(s.part) > 0 && !s.skip {
		line(s.part)
	}
	s.part = nil
}

func (s *stream) split(data []byte, line func([]byte)) {
	for {
		at := bytes.IndexByte(data, '\n')
		if at < 0 {
			break
		}
		whole := data[:at]
		if len(s.part) > 0 {
			whole = append(s.part, whole...)
		}
		if !s.skip && len(whole) <= maxStreamLine && len(bytes.TrimSpace(whole)) > 0 {
			line(whole)
		}
		s.part, s.skip = nil, false
		data = data[at+1:]
	}
	if len(data) == 0 || s.skip {
		return
	}
	if len(s.part)+len(data) > maxStreamLine {
		s.part, s.skip = nil, true
		return
	}
	s.part = append(s.part, data...)
}

// parseProgress reads a line of the progress stream; ok is false for what is
// no progress notification (protocol P-1102, T-102).
func parseProgress(line []byte) (p Progress, ok bool) {
	params, ok := notification(line, "notifications/progress")
	if !ok {
		return p, false
	}
	rawjson.Each(params, func(name, value json.RawMessage) {
		switch string(name) {
		case `"progress"`:
			p.Value = value
		case `"total"`:
			p.Total = value
		case `"message"`:
			p.Message = value
		}
	})
	if rawjson.KindOf(p.Value) != rawjson.Number {
		return p, false
	}
	if rawjson.KindOf(p.Total) != rawjson.Number {
		p.Total = nil
	}
	if rawjson.KindOf(p.Message) != rawjson.String {
		p.Message = nil
	}
	return p, true
}

// parseLog reads a line of the log stream (T-103).
func parseLog(line []byte) (m LogMessage, ok bool) {
	params, ok := notification(line, "notifications/message")
	if !ok {
		return m, false
	}
	m.Level = mcp.Info
	rawjson.Each(params, func(name, value json.RawMessage) {
		switch string(name) {
		case `"level"`:
			text, _ := rawjson.Text(value)
			m.Level, _ = mcp.ParseLevel(text)
		case `"logger"`:
			m.Logger = nil
			if rawjson.KindOf(value) == rawjson.String {
				m.Logger = value
			}
		case `"data"`:
			m.Data = rawjson.Normal(value)
		}
	})
	if m.Data == nil {
		m.Data = json.RawMessage("null")
	}
	return m, true
}

// notification returns the parameters of a line that is one notification of
// that method: an object, without id, with object parameters.
func notification(line []byte, method string) (params json.RawMessage, ok bool) {
	v, err := rawjson.Check(line)
	if err != nil || rawjson.KindOf(v) != rawjson.Object || rawjson.Get(v, "id") != nil || rawjson.TextOf(v, "method") != method {
		return nil, false
	}
	params = rawjson.Get(v, "params")
	return params, rawjson.KindOf(params) == rawjson.Object
}

// touched is poll for a stream that is read only at the end.
func (s *stream) touched() bool {
	info, err := s.file.Stat()
	if err != nil || info.ModTime().Equal(s.changed) {
		return false
	}
	s.changed = info.ModTime()
	return true
}
