//go:build cluster

package cluster

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"mcp-bash/test/checkout"
	"mcp-bash/test/load"
	"mcp-bash/test/page"
)

// A machine runs systemd as its first process, in a container.
type machine struct {
	*testing.T
	name string
}

// machineImage is the image of a Debian with systemd.
const machineImage = "localhost/mcp-bash-test-systemd:1"

// newMachine starts a machine whose /srv/greeter is a project, and whose /usr/local/bin has our programs. It shares the
// network of this one.
func newMachine(t *testing.T, project string) *machine {
	t.Helper()
	needs(t, "podman", "runc", "jq", "debootstrap")
	if exec.Command("podman", "image", "exists", machineImage).Run() != nil {
		root := filepath.Join(checkout.Directory(t), "root")
		output(t, "debootstrap", "--variant=minbase", "--include=systemd,systemd-sysv,dbus", "bookworm", root,
			"http://deb.debian.org/debian")
		output(t, "bash", "-c", `tar -C "$0" -cf - . | podman import - "$1"`, root, machineImage)
	}
	m := &machine{t, fmt.Sprintf("mcp-bash-test-%d-systemd", os.Getpid())}
	t.Cleanup(func() { exec.Command("podman", podmanArgs("rm", "-f", m.name)...).Run() })
	output(t, "podman", podmanArgs("run", "-d", "--name", m.name, "--hostname", "greeter", "--privileged",
		"--systemd=always", "--network=host", "-v", project+":/srv/greeter", "-v", bin+":/opt/mcp-bash:ro", machineImage,
		"/sbin/init")...)
	eventually(t, "systemd runs", time.Minute, func() bool {
		out, _ := m.command("systemctl is-system-running").Output()
		return strings.TrimSpace(string(out)) == "running"
	})
	m.types("install -m 755 /opt/mcp-bash/mcp-* /usr/local/bin/")
	return m
}

// command returns a shell in the project's folder of the machine.
func (m *machine) command(text string) *exec.Cmd {
	return exec.Command("podman", podmanArgs("exec", "-w", "/srv/greeter", m.name, "bash", "-euc", text)...)
}

// types types commands, which must succeed, and returns what they print.
func (m *machine) types(text string) string {
	m.Helper()
	out, err := m.command(text).CombinedOutput()
	if err != nil {
		m.Fatalf("%s: %v\n%s", text, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commandsIn returns the commands in the comments at the beginning of a unit.
func commandsIn(unit string) string {
	var commands strings.Builder
	for line := range strings.Lines(unit) {
		if command, ok := strings.CutPrefix(line, "#   "); ok {
			commands.WriteString(command)
		}
	}
	return commands.String()
}

// The unit and the socket of docs/DEPLOY.md, under a real systemd. They are installed with the commands in them.
func TestSystemd(t *testing.T) {
	o := newOperator(t, "greeter")
	m := newMachine(t, filepath.Join(o.home, "greeter"))
	for _, b := range page.ForTest(t, "DEPLOY.md") {
		m.types(b.Commands())
	}
	port := freePort(t)
	m.types(fmt.Sprintf("sed -i 's/127.0.0.1:8000/127.0.0.1:%d/' units/greeter.socket", port))
	m.types("mkdir -p /etc/systemd/system/greeter.service.d && printf '[Service]\\nEnvironment=MCPBASH_HTTP_RATE=0\\n' " +
		">/etc/systemd/system/greeter.service.d/load.conf") // all clients of the load have one token
	commands := strings.ReplaceAll(commandsIn(m.types("cat units/greeter.service")), "CALLER", "ada")
	token := aToken.FindString(m.types("cd units\n" + commands))
	defer func() {
		if t.Failed() {
			t.Log(m.types("journalctl --no-pager --unit greeter.service | tail -n 40"))
		}
	}()
	var past history
	target := load.Target{Address: fmt.Sprintf("http://127.0.0.1:%d", port), Token: token, Ended: past.since}
	eventually(t, "the service is ready", time.Minute, func() bool { return isReady(target.Address) })
	if allAnswer(t, target); t.Failed() {
		return
	}
	if answers(t.Context(), load.Target{Address: target.Address}, load.Stateless) == nil {
		t.Error("a call without a token was answered")
	}

	t.Run("restarts", func(t *testing.T) {
		restart := func(int) string {
			past.ends("greeter")
			m.types("systemctl restart greeter.service")
			eventually(t, "the service is ready", time.Minute, func() bool { return isReady(target.Address) })
			past.gone("greeter")
			return "greeter"
		}
		answered := measure(t, setup{"systemd", target, restart, *lossRestarts, *lossCalls})
		const record = "/var/log/greeter/audit.jsonl" // each start continues it
		if got := m.types("mcp-bash audit --verify " + record); !strings.Contains(got, `"ok":true`) {
			t.Errorf("the record: %s", got)
		}
		lines := m.types("mcp-bash audit --tool record --caller ada --outcome success " + record + " | wc -l")
		if n, err := strconv.Atoi(lines); err != nil || n < len(answered) {
			t.Errorf("%s calls are on record, and %d were answered", lines, len(answered))
		}
	})

	t.Run("revoke", func(t *testing.T) {
		m.types("mcp-bash token revoke ada --file /etc/mcp-bash/greeter/tokens.json")
		eventually(t, "the token is refused", 2*time.Second, func() bool {
			err := answers(t.Context(), target, load.Stateless)
			return err != nil && strings.Contains(err.Error(), http.StatusText(http.StatusUnauthorized))
		})
	})

	t.Run("stop", func(t *testing.T) {
		m.types("systemctl stop greeter.socket greeter.service")
		if state := m.types("systemctl show -P ActiveState greeter.service"); state != "inactive" {
			t.Errorf("the stopped service is %s", state)
		}
	})
}
