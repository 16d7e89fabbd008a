package output

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"mcp-bash/test/checkout"
)

// demo makes the project that the commands below work on.
const demo = `
set -eu
umask 022
mcp-bash new demo >/dev/null
cd demo
mkdir -p resources
echo text >resources/a.txt
mkdir -p tools/net/new tools/net/old
cp tools/hello/tool.sh tools/net/new/
cp tools/hello/tool.sh tools/net/old/
echo '{"name":"new","path":"net/new/tool.sh"}' >new.json
mcp-bash token create old --file tokens.json >/dev/null
mkdir records
MCPBASH_AUDIT=$PWD/records mcp-bash request tools/call '{"name":"hello"}' --allow-all >/dev/null
mcp-registry register <<<'{"name":"old","path":"net/old/tool.sh"}' >/dev/null
mcp-bundle bundle --version 1.0.0 --no-smoke --platform "$PLATFORM" --arch "$ARCH" >/dev/null 2>&1
mcp-bundle vendor --platform "$PLATFORM" --arch "$ARCH" >/dev/null 2>&1
mkdir greeter
echo '{"name":"greeter"}' >greeter/plugin.json
echo '{"name":"acme","owner":{"name":"Acme"},"plugins":[{"path":"greeter"}]}' >plugins.json
mcp-bundle marketplace >/dev/null
`

const bundled = `--no-smoke --platform "$PLATFORM" --arch "$ARCH"`

const imaged = `--mirror "$MIRROR" --keyring "$KEYRING" --platform "linux/$ARCH"`

// lines contains arguments with which each command prints output and ends with 0. Several lines stand for several
// ways to print. A command of mcp-bash that another program owns is listed under that program.
var lines = map[string][]string{
	"mcp-bash serve":        {`<<<'{"jsonrpc":"2.0","id":1,"method":"ping"}'`},
	"mcp-bash debug":        {`<<<'{"jsonrpc":"2.0","id":1,"method":"ping"}'`},
	"mcp-bash request":      {`tools/list`, `tools/list --notifications`},
	"mcp-bash provider":     {`echo echo://Hello`},
	"mcp-bash ui-template":  {`kanban </dev/null`},
	"mcp-bash token create": {`ci --file other.json`, `ci --file other.json --json`},
	"mcp-bash token list":   {`--file tokens.json`, `--file tokens.json --json`},
	"mcp-bash token revoke": {`old --file tokens.json`, `old --file tokens.json --json`},
	"mcp-bash health":       {``},
	"mcp-bash ready":        {``},

	"mcp-runtool": {``, `hello`, `hello --dry-run`, `hello --print-env`, `hello --json`},

	"mcp-registry refresh":    {``},
	"mcp-registry status":     {``},
	"mcp-registry register":   {`new.json`, `--dry-run - <new.json`},
	"mcp-registry unregister": {`old`},
	"mcp-registry get":        {`hello`},
	"mcp-registry list":       {``, `--ndjson`, `--kind resources`},
	"mcp-registry lock":       {``},

	"mcp-doctor test": {``, `--json`, `--tap`, `--coverage`},

	"mcp-bundle bundle":      {bundled, bundled + ` --json`, bundled + ` --manifest-only`, bundled + ` --validate`},
	"mcp-bundle npm":         {`--output there ` + bundled, `--output there --json ` + bundled, `--validate ` + bundled},
	"mcp-bundle wheel":       {`--output there ` + bundled, `--output there --json ` + bundled, `--validate ` + bundled},
	"mcp-bundle plugin":      {`--output there ` + bundled, `--output there --json ` + bundled, `--output - ` + bundled},
	"mcp-bundle marketplace": {``, `--check`, `--json`},
	"mcp-bundle validate":    {`demo-1.0.0.mcpb`, `demo-1.0.0.mcpb --json`},
	"mcp-bundle inspect":     {`demo-1.0.0.mcpb`, `demo-1.0.0.mcpb --json`},
	"mcp-bundle diff":        {`. . --json`},
	"mcp-bundle unpack":      {`demo-1.0.0.mcpb there`, `demo-1.0.0.mcpb there --json`},
	"mcp-bundle publish":     {`demo-1.0.0.mcpb --dry-run`, `demo-1.0.0.mcpb --dry-run --json`},
	"mcp-bundle image":       {imaged, imaged + ` --json`, imaged + ` -o - --format docker`},
	"mcp-bundle manifest":    {``, `--json`, `--format toolhive`},
	"mcp-bundle vendor": {`--verify`, `--verify --json`, `--dry-run`,
		`--upgrade --platform "$PLATFORM" --arch "$ARCH"`},

	"mcp-scaffold new":                 {`other --force`, `other --force --json`},
	"mcp-scaffold init":                {``, `--json`},
	"mcp-scaffold add":                 {`tools --dry-run`, `tools --dry-run --json`},
	"mcp-scaffold remove tool":         {`hello --dry-run`, `hello --dry-run --json`},
	"mcp-scaffold scaffold tool":       {`one`, `one --json`, `one --dry-run`},
	"mcp-scaffold scaffold prompt":     {`one`},
	"mcp-scaffold scaffold resource":   {`one`},
	"mcp-scaffold scaffold completion": {`one`},
	"mcp-scaffold scaffold ui":         {`one`},
	"mcp-scaffold scaffold skill":      {``},
	"mcp-scaffold scaffold release":    {``},
	"mcp-scaffold scaffold server":     {`one`},
	"mcp-scaffold wrap":                {`sort`, `sort --json`, `sort --dry-run`},
	"mcp-scaffold config": {``, `--json`, `--client cursor`, `--wrapper`, `--inspector`, `--link`, `--link --json`,
		`--client cursor --apply`, `--client cursor --apply --dry-run`},

	"mcp-doctor validate":     {``, `--json`, `--ndjson`},
	"mcp-doctor doctor":       {`|| :`, `--json || :`, `--ndjson || :`},
	"mcp-doctor migrate":      {`|| :`, `--json || :`, `--ndjson || :`},
	"mcp-doctor audit":        {`records`, `records --summary`, `records --html`, `records --verify`},
	"mcp-doctor audit keygen": {`server.key`},
	"mcp-doctor explain":      {``, `script.crlf`, `--json`, `script.crlf --json`},
	"mcp-doctor upgrade":      {`--dry-run`, `--dry-run --json`},
	"mcp-doctor health":       {``},
	"mcp-doctor ready":        {``},
}

// ownerOf is the key of lines for a command: verbs of mcp-bash that other programs own are theirs.
func ownerOf(command string) string {
	verb, ok := strings.CutPrefix(command, "mcp-bash ")
	word, _, _ := strings.Cut(verb, " ")
	switch {
	case !ok || lines[command] != nil:
		return command
	case word == "run-tool":
		return "mcp-runtool"
	case word == "registry":
		return "mcp-" + verb
	}
	for _, program := range []string{"mcp-scaffold", "mcp-doctor", "mcp-bundle"} {
		if lines[program+" "+verb] != nil {
			return program + " " + verb
		}
	}
	return command
}

// A sink is a standard output that cannot be written.
type sink struct {
	name    string
	prefix  string                      // before the command, in Bash
	out     func(t *testing.T) *os.File // nil: written
	sparing bool                        // it does not depend on the command
	check   func(code int, stderr string, serves bool) bool
}

var sinks = []sink{
	{"full", "", func(t *testing.T) *os.File {
		f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}, false, func(code int, stderr string, _ bool) bool {
		return code == 1 && strings.Contains(stderr, ": write standard output: no space left on device")
	}},
	{"closed", "exec >&-; ", nil, true, func(code int, stderr string, serves bool) bool {
		if serves {
			return code == 1 && strings.Contains(stderr, "requires stdout to be connected")
		}
		return !strings.Contains(stderr, "standard output")
	}},
	{"pipe", "", brokenPipe, false, quietEnd},
	{"pipe without signal", "trap '' PIPE; ", brokenPipe, true, quietEnd},
}

func quietEnd(code int, stderr string, serves bool) bool {
	if serves {
		return code == 1 && strings.Contains(stderr, "mcp-bash: stdout closed; exiting\n")
	}
	stderr = strings.ToLower(stderr)
	return code == 141 && !strings.Contains(stderr, "pipe") && !strings.Contains(stderr, "standard output")
}

// brokenPipe is a pipe that nobody reads. No process that another test starts gets a copy of the reading end.
func brokenPipe(t *testing.T) *os.File {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	return write
}

// CLI-116, P-105, P-904, P-1103: every command fails when its standard output cannot be written.
func TestUnwritable(t *testing.T) {
	linkRuntime(t)
	home := checkout.Directory(t)
	template := place{home, home}
	if out, err := template.command(t, demo).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	template.dir = filepath.Join(home, "demo")
	leaves, groups := commands(t, template)
	var all []string
	// further are other ways of a command to print. All sinks are tried on its first line and on its help,
	// with -short on a third of the first lines.
	further := map[string]bool{}
	for _, command := range append(leaves, groups...) {
		all = append(all, command+" --help")
		further[command+" --help"] = testing.Short()
	}
	for _, command := range leaves {
		given := lines[ownerOf(command)]
		if given == nil {
			t.Errorf("%s: no line to test it with", command)
		}
		if command != ownerOf(command) && len(given) > 1 {
			given = given[:1] // the others are tested with the program itself
		}
		for i, line := range given {
			all = append(all, command+" "+line)
			further[command+" "+line] = i > 0
		}
	}
	programs, err := filepath.Glob(filepath.Join(bin, "mcp-*"))
	if err != nil || len(programs) < 6 {
		t.Fatalf("%q, %v", programs, err)
	}
	for _, program := range programs {
		name := filepath.Base(program)
		all = append(all, name+" --version", name+" __manual", name+" __complete -")
	}
	for i, line := range all {
		if testing.Short() && i%3 > 0 {
			further[line] = true
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			p := template.copied(t, line)
			var stdout bytes.Buffer
			cmd := p.command(t, line)
			cmd.Stdout = &stdout
			if code, stderr := end(cmd); code != 0 && !strings.HasSuffix(line, "|| :") || stdout.Len() == 0 {
				t.Fatalf("exit code %d, %q, %s", code, stdout.String(), stderr)
			}
			serves := strings.HasPrefix(line, "mcp-bash serve <") || strings.HasPrefix(line, "mcp-bash debug <")
			for _, sink := range sinks {
				if further[line] && sink.name != "full" || sink.sparing && !strings.HasSuffix(line, " --version") && !serves {
					continue
				}
				cmd := template.copied(t, line).command(t, sink.prefix+strings.TrimSuffix(line, "|| :"))
				if sink.out != nil {
					out := sink.out(t)
					cmd.Stdout = out
					defer out.Close()
				}
				if code, stderr := end(cmd); !sink.check(code, stderr, serves) {
					t.Errorf("%s: exit code %d, %s", sink.name, code, stderr)
				}
			}
		})
	}
}

// end runs a command and returns its exit code and what it printed on standard error.
func end(cmd *exec.Cmd) (code int, stderr string) {
	var b bytes.Buffer
	cmd.Stderr = &b
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode(), b.String()
	case err != nil:
		return -1, err.Error()
	}
	return 0, b.String()
}
