package published

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
)

// arm64 is a program that runs a command, with Node for arm64 first on PATH. In its namespaces, Linux starts programs
// for arm64 with qemu.
const arm64 = `#!/bin/sh
set -eu
[ "$1" = --inside ] || exec unshare -Urm "$0" --inside "$@"
shift
mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
printf '%s' ':arm64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:'\
'\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$QEMU:F" \
  >/proc/sys/fs/binfmt_misc/register
PATH=$QEMU_LD_PREFIX/../node/bin:$PATH exec "$@"
`

// emulate adds the program arm64, and makes products for arm64 only.
func (w *world) emulate() {
	w.Helper()
	checkout.Needs(w, "qemu-aarch64-static", "unshare", "apt-get", "dpkg", "npm")
	w.patience = 30 * time.Minute // emulated Python takes half a minute of processor time to install a package
	qemu, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		w.Fatal(err)
	}
	out, err := exec.Command(filepath.Join(checkout.Root(), "test/published/arm64.sh")).Output()
	if err != nil {
		w.Fatalf("test/published/arm64.sh: %v", err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "root")
	if err := checkout.WriteProgram(filepath.Join(w.dir, "bin", "arm64"), []byte(arm64)); err != nil {
		w.Fatal(err)
	}
	target := runtimes.Target{OS: "linux", Arch: "arm64"}
	dir := filepath.Join(w.dir, "runtime", filepath.Dir(target.Path()))
	if err := checkout.BuildFor(target, dir, "mcp-bash/cmd/mcp-bash"); err != nil {
		w.Fatal(err)
	}
	w.env = append(w.env, "QEMU="+qemu, "QEMU_LD_PREFIX="+root, "PIPX_DEFAULT_PYTHON="+root+"/usr/bin/python3",
		"ONLY=--platform linux --arch arm64")
	if out, status := w.shell("home", "arm64 true"); status != 0 {
		w.Skipf("the kernel allows no binfmt_misc in a user namespace (Linux 6.7 does): %s", out)
	}
	got := w.must("home", "arm64 node -p process.arch; "+
		"arm64 $PIPX_DEFAULT_PYTHON -c 'import os; print(os.uname().machine)'")
	if got != "arm64\naarch64\n" {
		w.Fatalf("%q", got)
	}
}

// threeCalls publishes three examples by a script with NAME for the package's name, and starts each of them with a
// command to call a tool.
func (w *world) threeCalls(script, command string) {
	w.Helper()
	for _, c := range []struct {
		example, tool string
		arguments     map[string]any
		want          string
	}{
		{"00-hello", "hello", map[string]any{"name": "Ada"}, "Hello, Ada!"},
		{"01-arguments", "convert", map[string]any{"value": 0, "from": "celsius", "to": "kelvin"}, "273.15"},
		{"08-any-language", "primes", map[string]any{"limit": 10}, "7"},
	} {
		name := "tools-" + c.example
		w.example(c.example, c.example)
		w.must(c.example, strings.ReplaceAll(script, "NAME", name))
		if got := w.call(strings.ReplaceAll(command, "NAME", name), c.tool, c.arguments); !strings.Contains(got, c.want) {
			w.Errorf("%s: %q", c.example, got)
		}
	}
}

// PKG-103: with Node for arm64 under emulation, npx installs the programs for arm64, and the server calls tools.
func TestPublishForARM64(t *testing.T) {
	w := startRegistry(t)
	w.emulate()
	w.threeCalls("mcp-bundle npm --name @you/NAME --standalone --output dist $ONLY; "+
		"for file in ./dist/*-arm64-*.tgz $(ls ./dist/*.tgz | grep -v arm64); do npm publish --access public $file; done",
		"arm64 npx -y --fetch-retries=0 @you/NAME@1.0.0")
}

// PKG-201: with Python for arm64 under emulation, pipx installs the wheel for arm64, and the server calls tools.
func TestIndexForARM64(t *testing.T) {
	w := startIndex(t)
	w.emulate()
	w.threeCalls("mcp-bundle wheel --name NAME --version 1.0.0 --output ../index $ONLY", "arm64 pipx run NAME")
}
