package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/project"
	"mcp-bash/pkg/text/secrets"
)

func newScriptLog() (l *ScriptLog, out *bytes.Buffer, at *time.Time) {
	out, at = &bytes.Buffer{}, &time.Time{}
	l = NewScriptLog(&Console{
		Writer: out, Redactor: secrets.Redactor{Values: []string{"needle"}}, Settings: &project.Logging{Quiet: true},
	})
	l.now = func() time.Time { return *at }
	return l, out, at
}

// T-137: each line of a script is one line of the log, without secrets and control characters, and not too long.
func TestScriptLog(t *testing.T) {
	for stderr, want := range map[string]string{
		"":                        "",
		" \n\n":                   "",
		"one\r\n\ntwo":            "mcp-bash: tool 'x': one\nmcp-bash: tool 'x': two\n",
		"a needle\n":              "mcp-bash: tool 'x': a **redacted**\n",
		"red \x1b[31m\xff":        "mcp-bash: tool 'x': red \\u001b[31m\uFFFD\n",
		strings.Repeat("l", 3000): "mcp-bash: tool 'x': " + strings.Repeat("l", scriptLine) + " (shortened)\n",
		strings.Repeat("123456789\n", 1000): "mcp-bash: tool 'x': [5910 bytes left out]\n" +
			strings.Repeat("mcp-bash: tool 'x': 123456789\n", 409),
	} {
		l, out, _ := newScriptLog()
		if l.Add("tool 'x'", []byte(stderr)); out.String() != want {
			t.Errorf("%.40q: %.200q, want %.200q", stderr, out, want)
		}
	}
}

// T-137: a script that clients call again and again does not fill the log, and keeps no other script out of it.
func TestScriptLogIsBounded(t *testing.T) {
	l, out, at := newScriptLog()
	line := []byte(strings.Repeat("x", 1023) + "\n")
	add := func(name string, times int) int {
		out.Reset()
		for range times {
			l.Add(name, line)
		}
		return strings.Count(out.String(), "xxx\n") + strings.Count(out.String(), "x (shortened)\n")
	}
	if n := add("a", 1000); n != 64 {
		t.Errorf("%d lines at once, want 64", n)
	}
	if n := add("b", 1); n != 1 {
		t.Error("another script is kept out")
	}
	*at = at.Add(10 * time.Second)
	if n := add("a", 1000); n != 10 {
		t.Errorf("%d lines after 10 seconds, want 10", n)
	}
	if want := fmt.Sprintf("mcp-bash: a: [%d bytes left out]\n", 936*1023); !strings.HasPrefix(out.String(), want) {
		t.Errorf("%.60q, want %q", out, want)
	}
	for i := range 2 * scriptShares {
		l.Add(strconv.Itoa(i), line)
	}
	if n := len(l.of); n != scriptShares+1 {
		t.Errorf("%d shares, want %d", n, scriptShares+1)
	}
}

func FuzzScriptLog(f *testing.F) {
	f.Add([]byte("a\r\nb\xff needle \x1b[1m\n"))
	f.Fuzz(func(t *testing.T, stderr []byte) {
		l, out, _ := newScriptLog()
		l.Add("x", stderr)
		if strings.Contains(out.String(), "needle") || out.Len() > 0 && !strings.HasSuffix(out.String(), "\n") {
			t.Errorf("%q", out)
		}
		for line := range strings.Lines(out.String()) {
			if !strings.HasPrefix(line, "mcp-bash: x: ") || len(line) > 16<<10 {
				t.Errorf("%q", line)
			}
		}
	})
}

// AUD-8: each line is an object, however the text arrives, and a long line is several without a loss.
// AUD-8: only an error has the level of one, so that nobody is called at each start.
func TestLevels(t *testing.T) {
	var out strings.Builder
	c := &Console{Writer: &JSONLog{Out: &out}, Settings: &project.Logging{}}
	c.Complain("mcp-bash: cannot write")
	c.Announce("mcp-bash: serving")
	c.Notice("mcp-bash: limits")
	NewScriptLog(c).Add("tool 'hello'", []byte("greets\n"))
	got := regexp.MustCompile(`"level":"(.*?)","logger":"mcp-bash","msg":"(.*?)"`).FindAllStringSubmatch(out.String(), -1)
	want := [][2]string{
		{"warning", "cannot write"}, {"notice", "serving"}, {"info", "limits"}, {"notice", "tool 'hello': greets"},
	}
	for i, line := range got {
		if i >= len(want) || line[1] != want[i][0] || line[2] != want[i][1] {
			t.Errorf("%d: %s", i, line[0])
		}
	}
	if len(got) != len(want) {
		t.Error(out.String())
	}
}

func TestJSONLog(t *testing.T) {
	long := strings.Repeat("ab", maxPart)
	for _, pieces := range [][]string{
		{"one\ntwo\n"}, {"o", "ne\r\ntw", "o\n"}, {"one\n", "\n", "two\n"}, {long + "\n"}, {long[:100], long[100:], "\n"},
	} {
		var out strings.Builder
		log := &JSONLog{Out: &out}
		for _, text := range pieces {
			log.Write([]byte(text))
		}
		var got strings.Builder
		for line := range strings.Lines(out.String()) {
			var of struct{ Time, Level, Logger, Msg string }
			if err := json.Unmarshal([]byte(line), &of); err != nil || of.Time == "" || of.Level != "info" || of.Logger == "" {
				t.Errorf("%v: %.100s", err, line)
			}
			got.WriteString(of.Msg)
		}
		want := strings.NewReplacer("\r", "", "\n", "").Replace(strings.Join(pieces, ""))
		if got.String() != want {
			t.Errorf("%.20q: %d bytes, want %d", pieces, got.Len(), len(want))
		}
	}
}

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
