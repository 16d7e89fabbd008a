package stream

import (
	"os"
	"path/filepath"
	"testing"

	"mcp-bash/pkg/events"
	"mcp-bash/pkg/events/trail"
	"mcp-bash/pkg/text/secrets"
)

// AUD-20, AUD-35: a reader finds out whether a line has all arguments of its request, in each form.
func TestIsComplete(t *testing.T) {
	schema := []byte(`{"properties":{"pin":{"writeOnly":true}}}`)
	look := events.Target{Method: "tools/call", Name: "look"}
	for _, row := range []struct {
		form            Form
		target          events.Target
		arguments, want string // the arguments that are written
		complete        bool
	}{
		{"full", look, `{"password":"sesame"}`, `{"password":"sesame"}`, true},
		{"full", look, "", `{}`, true},
		{"full", events.Target{Method: "tools/call", Name: "password=sesame"}, "{}", `{}`, false},
		{redacted, look, `{"a":1}`, `{"a":1}`, true},
		{redacted, look, `{"password":"sesame"}`, `{"password":"**redacted**"}`, false},
		{redacted, look, `{"pin":1}`, `{"pin":"[redacted]"}`, false},
		{digest, look, `{"a":1}`, "", false},
		{none, look, "", "", false},
	} {
		file := filepath.Join(t.TempDir(), "audit.jsonl")
		s, err := Open(Config{
			To: file, MaxSize: 1 << 20, Files: 1, Arguments: row.form, Redactor: &secrets.Redactor{},
			Warn: func(text string) { t.Error(text) },
		})
		if err != nil {
			t.Fatal(err)
		}
		e := &events.Event{Type: events.ToolCall, Target: row.target, Work: events.Work{Schema: schema}}
		if row.arguments != "" {
			e.Work.Arguments = []byte(row.arguments)
		}
		s.Emit(e)
		s.Close()
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		err = trail.Read(f, func(e *trail.Entry) error {
			if e.IsCall() && (e.IsComplete() != row.complete || string(e.Arguments) != row.want) {
				t.Errorf("%s %s %s: %t, %s", row.form, row.target.Name, row.arguments, e.IsComplete(), e.Arguments)
			}
			return nil
		})
		if f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
