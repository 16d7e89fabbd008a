//go:build cluster

package cluster

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"mcp-bash/test/load"
	"mcp-bash/test/page"
)

// The blocks of docs/DEPLOY.md about containers, as an operator types them.
func TestDeployContainers(t *testing.T) {
	needs(t, "podman", "runc", "jq")
	o := newOperator(t, "demo")
	served := false
	for _, b := range page.ForTest(t, "DEPLOY.md") {
		commands := b.Commands()
		switch {
		case strings.Contains(commands, " serve "):
			served = true
			c := o.newContainer(commands, "deploy")
			c.serves()
			token := aToken.FindString(c.out.String())
			allAnswer(t, load.Target{Address: c.address(), Token: token})
			if answers(t.Context(), load.Target{Address: c.address()}, load.Stateless) == nil {
				t.Error("a call without a token was answered")
			}
			c.stop()
			t.Run("rolling restarts", func(t *testing.T) { restartContainers(t, o, commands, token) })
		case strings.Contains(commands, "podman run"):
			for name, input := range stdioCalls {
				cmd := o.shell(commands)
				cmd.Stdin = strings.NewReader(input)
				if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), `"text":"x-1`) {
					t.Errorf("%s: %v\n%s", name, err, out)
				}
			}
		default:
			t.Log(o.types(commands))
		}
	}
	if !served {
		t.Error("no container served")
	}
}

var lastCommand = regexp.MustCompile(`(?m)^.*podman run (?s:.*)`)

// restartContainers runs two containers of the page's command behind HAProxy, and restarts one after the other. Both
// have the state key and each other's address.
func restartContainers(t *testing.T, o *operator, commands, token string) {
	needs(t, "haproxy")
	o = o.in(t)
	network := fmt.Sprintf("mcp-bash-test-%d", os.Getpid())
	o.types("podman network create " + network + "\ninstall -d -m 2750 -g 65532 key\n" +
		"head -c 32 /dev/urandom | base64 >key/state-key\nchmod 640 key/state-key")
	defer func() { o.shell("podman network rm -f " + network).Run() }()
	var containers []*container
	var ports []int
	for _, name := range []string{"a", "b"} {
		c := o.newContainer(lastCommand.FindString(commands), name)
		c.option("--network", network, "--hostname", c.name, "-v", "./key:/run/key:ro",
			"-e", "MCPBASH_HTTP_STATE_KEY_FILE=/run/key/state-key", "-e", "MCPBASH_HTTP_ADVERTISE=http://"+c.name+":8000",
			"-e", "MCPBASH_HTTP_RATE=0") // all clients of the load have one token
		defer c.stop()
		c.serves()
		containers, ports = append(containers, c), append(ports, c.port)
	}
	var past history
	target := load.Target{Address: haproxy("safe").start(t, ports...), Token: token, Ended: past.since}
	restart := func(n int) string {
		c := containers[n%len(containers)]
		past.ends(c.name)
		c.stop()
		c.serves()
		past.gone(c.name)
		return c.name
	}
	measure(t, setup{"podman", target, restart, *lossRestarts, *lossCalls})
}
