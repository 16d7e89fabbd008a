package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// CLI-119, CLI-309, CLI-801: the sources of JSON in arguments, and invalid input.
func TestPayload(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	large := put("large", "")
	if err := os.Truncate(large, maxPayload+1); err != nil { // takes no room
		t.Fatal(err)
	}
	whole := put("whole", "{}")
	for _, tc := range []struct{ value, stdin, want, code, fault string }{
		{value: `{"a":1}`, want: `{"a":1}`},
		{value: "", want: "{}"},
		{value: "@" + whole, want: "{}"},
		{value: "-", stdin: `{"b":2}`, want: `{"b":2}`},
		{value: "@-", stdin: " ", want: "{}"},
		{value: "[]", code: CodeInvalid, fault: "--args must be a JSON object"},
		{value: "@" + large, code: CodeInvalid, fault: "is larger than 64 MiB, which is the limit; shorten it"},
		{value: "@" + dir, code: CodeInvalid,
			fault: "is not a regular file; write its content to a file, or pipe it and pass -"},
		{value: "@" + dir + "/none", code: CodeNotFound, fault: "no such file or directory"},
	} {
		got, err := PayloadReader{Stdin: strings.NewReader(tc.stdin)}.Object("--args", tc.value)
		var e *Error
		switch {
		case tc.fault == "" && (err != nil || string(got) != tc.want):
			t.Errorf("%q: %s, %v", tc.value, got, err)
		case tc.fault != "" && (!errors.As(err, &e) || e.Code != tc.code || !strings.HasPrefix(e.Error(), "--args") ||
			!strings.HasSuffix(e.Error(), tc.fault)):
			t.Errorf("%q: %s, %v", tc.value, got, err)
		}
	}
}

// CLI-119: standard input is bounded.
func TestPayloadOfLargeInput(t *testing.T) {
	in := io.LimitReader(zeros{}, maxPayload+1)
	var e *Error
	if _, err := (PayloadReader{Stdin: in}).Read("--args", "-", "JSON"); !errors.As(err, &e) || e.Code != CodeInvalid ||
		e.Error() != "--args: standard input is larger than 64 MiB, which is the limit; shorten it" {
		t.Error(err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// CLI-119: standard input that does not end ends with the time limit.
func TestPayloadTimeout(t *testing.T) {
	in, w := io.Pipe()
	defer w.Close()
	var e *Error
	_, err := PayloadReader{Stdin: in, Timeout: time.Millisecond}.Read("PARAMS", "-", "JSON")
	if !errors.As(err, &e) || e.Code != CodeTimeout ||
		e.Error() != "PARAMS: standard input did not end within 1ms; end it, or name a file as @FILE" {
		t.Error(err)
	}
}
