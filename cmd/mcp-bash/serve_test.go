package main

import (
	"io"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/serve"
)

// AUD-1: --audit works with both transports, unlike the other options.
func TestServeOptions(t *testing.T) {
	t.Setenv("MCPBASH_HTTP_ADDR", "")
	for _, row := range []struct {
		args, want string
		code       int
	}{
		{"--audit stderr", "stdio stderr ", 0},
		{"--audit=unix:/run/s --project-root /p", "stdio unix:/run/s /p", 0},
		{"--http 9000 --audit journald", "9000 journald ", 0},
		{"--metrics 9464 --audit off", "", cli.ExitUsage},
		{"--audit", "", cli.ExitUsage},
		{"--http 9000 --token-file=", "", cli.ExitUsage}, // of an unset variable: others could use the server
		{"--http 9000 --allow-host a --trust-client-roots", "9000  ", 0},
	} {
		got := ""
		c := serveCommand(func(_ cli.Streams, o serve.Options) error {
			at := "stdio"
			if o.HTTP != nil {
				at = o.HTTP.Addr
			}
			got = at + " " + o.Audit + " " + o.Root
			return nil
		})
		s := cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}
		if code := c.Main(s, "mcp-bash serve", strings.Fields(row.args)); code != row.code || got != row.want {
			t.Errorf("%s: %q, exit %d", row.args, got, code)
		}
	}
}
