package invoke

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMain forwards its command line if a test asks for that.
func TestMain(m *testing.M) {
	if os.Getenv("TEST_FORWARD") != "" {
		os.Exit(Forward(os.Args))
	}
	os.Exit(m.Run())
}

// CLI-208.
func TestIs(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want bool
	}{
		{nil, false},
		{[]string{"mcp-bash"}, false},
		{[]string{"mcp-bash", "serve", "--helper"}, false},
		{[]string{"mcp-bash", "--helper"}, true},
		{[]string{"/x/mcp-jq", "."}, true},
		{[]string{"mcp-jq.exe"}, true},
		{[]string{"/mcp-jq/mcp-bash", "."}, false},
	} {
		if got := Is(c.argv); got != c.want {
			t.Errorf("Is(%q) = %t", c.argv, got)
		}
	}
}

// CLI-208: the other programs leave their helpers to mcp-bash.
func TestForward(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	dir := t.TempDir()
	const program = "#!/bin/sh\nprintf '<%s>' \"$@\"\nexit 7\n"
	if err := os.WriteFile(filepath.Join(dir, "mcp-bash"), []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		argv []string
		path string
		want string
		code int
	}{
		{[]string{"mcp-runtool", "--helper", "get", ".a b"}, dir, "<--helper><get><.a b>", 7},
		{[]string{"/x/mcp-jq", "-c", "."}, dir, "<--helper><jq><-c><.>", 7},
		{[]string{"mcp-jq"}, dir, "<--helper><jq>", 7},
		{[]string{"mcp-jq", "--helper", "json"}, dir, "<--helper><json>", 7},
		{[]string{"mcp-runtool", "--helper", "json"}, t.TempDir(), "", 127},
	} {
		cmd := exec.Command(os.Args[0])
		cmd.Args = tc.argv
		cmd.Env = []string{"TEST_FORWARD=1", "PATH=" + tc.path}
		out, err := cmd.Output()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.ExitCode() != tc.code || string(out) != tc.want {
			t.Errorf("CLI-208: %q: %q, %v", tc.argv, out, err)
		}
	}
}
