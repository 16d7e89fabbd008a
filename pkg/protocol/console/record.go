package console

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

// A Record contains every message of a debug run, without secrets (protocol section 25). A nil
// Record records nothing.
type Record struct {
	mu       sync.Mutex
	file     *os.File
	ndjson   bool
	redactor *secrets.Redactor
}

// OpenRecord opens the record in the state directory. It returns nil if the project wants no
// record. ndjson selects one JSON object a line instead of text.
func (c *Console) OpenRecord(state *project.State, ndjson bool) (*Record, error) {
	if !c.Settings.DebugPayloads {
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
	return &Record{file: f, ndjson: ndjson, redactor: &c.Redactor}, nil
}

// Add appends a row: time, category, key, status, payload (P-2501).
func (r *Record) Add(category, key, status string, payload []byte) {
	if r == nil {
		return
	}
	text := r.redact(payload)
	row := fmt.Sprintf("%d|%s|%s|%s|%s\n", time.Now().Unix(), category, key, status, text)
	if r.ndjson {
		row = string(object(category, key, status, text))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.file.WriteString(row)
}

// object returns a row for programs, in which a JSON payload stays JSON (CLI-1302).
func object(category, key, status, payload string) []byte {
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

// redact returns a payload without secrets, and only the hash of a payload that is not JSON
// (P-2502).
func (r *Record) redact(payload []byte) string {
	if len(payload) == 0 {
		return ""
	}
	if _, err := rawjson.Check(payload); err != nil {
		sum := sha256.Sum256(payload)
		return fmt.Sprintf("[payload hash=%x bytes=%d]", sum[:8], len(payload))
	}
	return onOneLine.Replace(r.redactor.Text(string(payload)))
}
