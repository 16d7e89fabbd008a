package console

import (
	"strings"
	"testing"

	"mcp-bash/pkg/text/secrets"
)

func FuzzRedact(f *testing.F) {
	f.Add([]byte(`{"token":"x","a":["bearer y",{"b":"c.d.e"}]}`))
	r := &Record{redactor: &secrets.Redactor{Values: []string{"needle"}}}
	f.Fuzz(func(t *testing.T, payload []byte) {
		got := r.redact(payload)
		if strings.Contains(got, "needle") || strings.ContainsAny(got, "\n\r") {
			t.Fatalf("%q", got)
		}
	})
}
