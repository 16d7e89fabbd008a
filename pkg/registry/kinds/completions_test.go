package kinds

import (
	"strings"
	"testing"
)

// the order of precedence.
func TestCompanions(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.tar.gz": "a/b.tar.gz.completion.sh a/b.tar.gz.completion a/b.tar.completion.sh a/b.tar.completion",
		"a/b":        "a/b.completion.sh a/b.completion",
		"a.d/b":      "a.d/b.completion.sh a.d/b.completion",
		"a/.b":       "a/.b.completion.sh a/.b.completion",
	} {
		if got := strings.Join(Sidecars(path), " "); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// R-83a: the completion scripts of a template.
func TestTemplateCompanions(t *testing.T) {
	for name, want := range map[string]string{
		"logs by day": "logs by day.completion.sh|logs by day.completion|logs by day/logs by day.completion.sh|" +
			"logs by day/logs by day.completion",
		"a.b": "a.b.completion.sh|a.b.completion|a.b/a.b.completion.sh|a.b/a.b.completion",
		"a/b": "", "..": "", ".": "", "../x": "", `a\b`: "", "/etc/x": "",
	} {
		if got := strings.Join(TemplateSidecars(name), "|"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}
