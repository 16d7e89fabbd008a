package server

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"mcp-bash/pkg/handoff"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
)

// A payloadLog keeps a record of every message, without secrets (protocol
// section 25). A nil one keeps none.
type payloadLog struct {
	mu     sync.Mutex
	file   *os.File
	ndjson bool
	token  string
	secret map[string]bool // member names, lower-case
}

// openPayloadLog opens the file in the state directory, or returns nil when no
// record is wanted.
func openPayloadLog(p *project.Project, state *project.State, ndjson bool) (*payloadLog, error) {
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
	l := &payloadLog{file: f, ndjson: ndjson, token: p.Token.Secret, secret: map[string]bool{}}
	for _, name := range []string{p.Token.Key, p.Token.Fallback} {
		l.secret[strings.ToLower(name)] = name != ""
	}
	return l, nil
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
	v, err := rawjson.Check(payload)
	if err != nil {
		sum := sha256.Sum256(payload)
		return fmt.Sprintf("[payload hash=%x bytes=%d]", sum[:8], len(payload))
	}
	text := string(l.appendRedacted(nil, v))
	if l.token != "" {
		quoted := string(rawjson.Quote(l.token))
		text = strings.ReplaceAll(text, quoted[1:len(quoted)-1], "**redacted**")
	}
	return onOneLine.Replace(text)
}

func (l *payloadLog) appendRedacted(dst []byte, v []byte) []byte {
	switch rawjson.KindOf(v) {
	case rawjson.Object:
		b := rawjson.Over(dst)
		b.Object()
		for _, m := range rawjson.Members(v) {
			b.Name(m.Name)
			if l.isSecret(m.Name) {
				b.String("**redacted**")
			} else {
				b.Append(func(dst []byte) []byte { return l.appendRedacted(dst, m.Value) })
			}
		}
		return b.End().Bytes()
	case rawjson.Array:
		b := rawjson.Over(dst)
		b.Array()
		for e := range rawjson.Elements(v) {
			b.Append(func(dst []byte) []byte { return l.appendRedacted(dst, e) })
		}
		return b.End().Bytes()
	case rawjson.String:
		s, _ := rawjson.Text(v)
		switch {
		case len(s) >= len("bearer ") && strings.EqualFold(s[:len("bearer ")], "bearer "):
			return rawjson.AppendString(dst, "Bearer **redacted**")
		case isJWT(s):
			return rawjson.AppendString(dst, "**redacted**")
		}
	}
	return append(dst, v...)
}

var secretNames = strings.Fields(`mcpbash/remotetoken remotetoken authorization cookie set-cookie token access_token
	refresh_token id_token apikey api_key client_secret secret password passphrase privatekey private_key session bearer`)

// isSecret goes by the name of a member. Words are what "_" separates (P-2503).
func (l *payloadLog) isSecret(name string) bool {
	name = strings.ToLower(name)
	if l.secret[name] {
		return true
	}
	for _, s := range secretNames {
		if name == s {
			return true
		}
	}
	for word := range strings.SplitSeq(name, "_") {
		switch word {
		case "token", "secret", "password", "passphrase", "key":
			return true
		}
	}
	return false
}

// isJWT: three parts of base64url set apart by dots.
func isJWT(s string) bool {
	parts := strings.Split(s, ".")
	if len(parts) != 3 {
		return false
	}
	for _, part := range parts {
		if part == "" || strings.Trim(part, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != "" {
			return false
		}
	}
	return true
}
