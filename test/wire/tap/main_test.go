//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("BE_TAP") != "" {
		main()
	}
	os.Exit(m.Run())
}

// The tap passes on all lines, writes an error below its line, and ends with the exit code of the
// server.
func TestTap(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], dir, "sh", "-c", `read -r line; echo nonsense; cat; exit 3`)
	cmd.Env = append(os.Environ(), "BE_TAP=1")
	cmd.Stdin = bytes.NewReader([]byte("{\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"))
	out, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("the tap ended with %v", err)
	}
	if want := "nonsense\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"; string(out) != want {
		t.Errorf("%q went through, want %q", out, want)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 1 {
		t.Fatalf("the tap left %q", files)
	}
	kept, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var marks []byte
	for line := range bytes.Lines(kept) {
		if line[0] != '>' { // whose place among the others is not settled
			marks = append(marks, line[0])
		}
	}
	if string(marks) != "<!<." || !bytes.HasSuffix(kept, []byte("\n. exit status 3\n")) {
		t.Errorf("the tap kept\n%s", kept)
	}
}
