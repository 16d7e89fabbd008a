//go:build unix

package clients

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"mcp-bash/test/checkout"
)

// A script changes its hand-off files in hostile ways. The server ends it in time, its slot is free again,
// and the next call is not affected (T-79, T-110).
func TestHostileHandOff(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"pipes", "huge", "endless"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := openHostile(t, 2)
			if got := text(t, s.call("attack", arguments{"what": what, "where": checkout.Directory(t)})); !strings.HasPrefix(got,
				"Tool timed out after 2s") {
				t.Errorf("timeout: %s", got)
			}
			s.calm(nil)

			s = openHostile(t, 600) // it is ended when it has begun, however long that takes here
			ctx, cancel := context.WithCancel(s.deadline())
			where := checkout.Directory(t)
			ended := make(chan struct{})
			go func() {
				s.request(ctx, "attack", arguments{"what": what, "where": where})
				close(ended)
			}()
			eventually(t, "the attack has begun", func() bool { return exists(filepath.Join(where, "begun")) })
			cancel()
			<-ended
			s.calm(nil)
		})
	}
	for _, what := range []string{"exchange", "litter", "wipe"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := openHostile(t, 600)
			victim := checkout.Directory(t)
			for _, name := range []string{"elicit.request", "error.json", "progress.ndjson", "resources"} {
				if err := os.WriteFile(filepath.Join(victim, name), []byte("mine"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s.call("attack", arguments{"what": what, "where": victim})
			s.calm(nil)
			list, err := os.ReadDir(victim)
			if err != nil || len(list) != 4 {
				t.Errorf("the folder outside: %v, %v", list, err)
			}
			for _, e := range list {
				if content, _ := os.ReadFile(filepath.Join(victim, e.Name())); string(content) != "mine" {
					t.Errorf("%s: %q", e.Name(), content)
				}
			}
		})
	}
}

// A process that left the group of its call and kept the files open does not
// reach the next call (T-79).
func TestLateWriter(t *testing.T) {
	t.Parallel()
	s := openHostile(t, 600)
	where := checkout.Directory(t)
	if err := unix.Mkfifo(filepath.Join(where, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.call("attack", arguments{"what": "late", "where": where})
	s.calm(arguments{"where": where})
	for _, m := range s.tap.messages("notifications/progress") {
		t.Errorf("a late message: %+v", m)
	}
}

// openHostile opens a server that runs one call at a time, and ends an attack after some seconds.
func openHostile(t *testing.T, seconds int) *session {
	project := checkout.Copy(t, "testdata/hostile")
	file := filepath.Join(project, "tools", "attack", "tool.meta.json")
	meta, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	limit := fmt.Sprintf(`"timeoutSecs": %d,`, seconds)
	write(t, strings.Replace(string(meta), `"timeoutSecs": 2,`, limit, 1), file)
	return open(t, project, opening{env: map[string]string{"MCPBASH_MAX_CONCURRENT_REQUESTS": "1"}})
}

// calm calls a tool that behaves well, and checks that it finds clean files.
func (s *session) calm(args arguments) {
	s.t.Helper()
	if got := text(s.t, s.succeed("calm", args)); got != "clean\n" {
		s.t.Errorf("the next call: %q", got)
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
