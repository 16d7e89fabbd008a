package server

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/handoff"
	"mcp-bash/pkg/text/secrets"
)

// A payloadLog keeps a record of every message, without secrets (protocol
// section 25). A nil one keeps none.
type payloadLog struct {
	mu       sync.Mutex
	file     *os.File
	ndjson   bool
	redactor *secrets.Redactor
}

// openPayloadLog opens the file in the state directory, or returns nil when no
// record is wanted.
func openPayloadLog(p *project.Project, state *project.State, r *secrets.Redactor, ndjson bool) (*payloadLog, error) {
	if !p.Logging.DebugPayloads {
		return nil, nil
	}
	dir, err := state.Root()
	if err != nil {
		return nil, err
	}
	f, err := handoff.OpenAppend(dir, "payload.debug.log")
	if err != nil {
		return nil, err
	}
	return &payloadLog{file: f, ndjson: ndjson, redactor: r}, nil
}

// record appends a row: time, category, key, status, payload (P-2501).
func (l *payloadLog) record(category, key, status string, payload []byte) {
	if l == nil {
		return
	}
	row := fmt.Sprintf("%d|%s|%s|%s|%s\n", time.Now().Unix(), category, key, status, l.redact(payload))
	if l.ndjson {
		row = string(l.object(category, key, status, l.redact(payload)))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file.WriteString(row)
}

// object is a row for programs: the payload is JSON where it was (CLI-1302).
func (l *payloadLog) object(category, key, status, payload string) []byte {
	var b rawjson.Builder
	b.Object().Name("ts").Int(int(time.Now().Unix())).Name("category").String(category).
		Name("key").String(key).Name("status").String(status).Name("payload")
	if v, err := rawjson.Check([]byte(payload)); err == nil {
		b.Raw(v)
	} else {
		b.String(payload)
	}
	return append(b.End().Bytes(), '\n')
}

var onOneLine = strings.NewReplacer("\r", `\r`, "\n", `\n`)

// redact returns a payload fit to be kept (P-2502).
func (l *payloadLog) redact(payload []byte) string {
	if len(payload) == 0 {
		return ""
	}
	if _, err := rawjson.Check(payload); err != nil {
		sum := sha256.Sum256(payload)
		return fmt.Sprintf("[payload hash=%x bytes=%d]", sum[:8], len(payload))
	}
	return onOneLine.Replace(l.redactor.Text(string(payload)))
}
