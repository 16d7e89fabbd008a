package output

import (
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/test/checkout"
)

// dashes runs every operand and option that names a file with standard input or output (CLI-118). A value with
// "usage: " is wrong usage. The keys are the places where shells complete files.
var dashes = map[string]string{
	"mcp-bash request METHOD": `mcp-bash request tools/list - <<<'{}' | jq -e .tools`,
	"mcp-registry register":   `mcp-registry register --dry-run - <new.json | jq -e .dryRun`,
	"mcp-bundle validate": `mcp-bundle validate - <demo-1.0.0.mcpb && mcp-bundle validate --json . - </dev/null || :
		unzip -p demo-1.0.0.mcpb manifest.json | mcp-bundle validate -`,
	"mcp-bundle inspect": `mcp-bundle inspect --json - <demo-1.0.0.mcpb | jq -e '.path == "-" and .valid'
		cat demo-1.0.0.mcpb | mcp-bundle inspect - | grep "$(sha256sum demo-1.0.0.mcpb | cut -d ' ' -f 1)" >/dev/null`,
	"mcp-bundle diff": `mcp-bundle diff --json - demo-1.0.0.mcpb <demo-1.0.0.mcpb | jq -e .same
		! mcp-bundle diff - - <demo-1.0.0.mcpb`,
	"mcp-bundle marketplace": `usage: mcp-bundle marketplace - <plugins.json`,
	"mcp-bundle unpack": `mcp-bundle unpack - there <demo-1.0.0.mcpb && test -f there/manifest.json
		! mcp-bundle unpack - <demo-1.0.0.mcpb`,
	"mcp-bundle image --output": `mcp-bundle image --output - ` + imaged + ` | tar -t | grep -x index.json >out
		! mcp-bundle image --output - --json ` + imaged,
	"mcp-bundle image --keyring":     `usage: mcp-bundle image --keyring - --mirror "$MIRROR"`,
	"mcp-bundle publish":             `mcp-bundle publish - --dry-run --json <demo-1.0.0.mcpb | jq -e .sha256`,
	"mcp-bash serve --token-file":    `usage: mcp-bash serve --http --token-file -`,
	"mcp-bash serve --audit":         `usage: mcp-bash serve --audit -`,
	"mcp-bash serve --tls-cert":      `usage: mcp-bash serve --http --tls-cert - --tls-key -`,
	"mcp-bash serve --tls-key":       `usage: mcp-bash serve --http --tls-cert cert.pem --tls-key -`,
	"mcp-bash serve --tls-client-ca": `usage: mcp-bash serve --http --tls-client-ca -`,
	"mcp-bash token create --file":   `usage: mcp-bash token create --file - ci`,
	"mcp-bash token list --file":     `usage: mcp-bash token list --file -`,
	"mcp-bash token revoke --file":   `usage: mcp-bash token revoke --file - ci`,
	"mcp-scaffold config --file":     `usage: mcp-scaffold config --client cursor --apply --file -`,
	"mcp-scaffold config --output": `mcp-scaffold config --wrapper --output - | grep mcp-bash >/dev/null
		test ! -e ./-`,
	"mcp-doctor doctor --archive": `mcp-doctor doctor --fix --archive - --verify 00 </dev/null || test $? = 3`,
	"mcp-doctor audit":            `cat records/*.jsonl | mcp-doctor audit - | jq -e .audit_id`,
	"mcp-doctor audit --key": `mcp-doctor audit keygen server.key >kept
		mcp-doctor audit --verify --key - none.jsonl <kept 2>err || grep none.jsonl err >/dev/null`,
	"mcp-doctor audit keygen": `usage: mcp-doctor audit keygen -`,
	"mcp-doctor test":         `echo 'tool: hello' | mcp-doctor test - | grep "^✓ -:1 hello" >/dev/null`,
	"mcp-doctor test --junit": `usage: mcp-doctor test --junit -`,
	"mcp-runtool --source":    `usage: mcp-runtool hello --source - <<<'X=1'`,
	// The shell does not complete file names for these options.
	"mcp-bundle bundle --output": `mcp-bundle bundle --version 1.0.0 --output - ` + bundled + ` >out && cmp out demo-1.0.0.mcpb
		! mcp-bundle bundle --output - --json ` + bundled,
	"mcp-bundle plugin --output": `mcp-bundle plugin --version 1.0.0 --output - ` + bundled + ` >out && unzip -l out | grep plugin.json >/dev/null
		! mcp-bundle plugin --output - --json ` + bundled,
	"mcp-runtool --args": `mcp-runtool hello --args - <<<'{"name":"Ada"}' | grep Ada >/dev/null`,
	"mcp-runtool --meta": `mcp-runtool hello --meta - <<<'{}'`,
}

// CLI-118: no command takes "-" for a file of that name.
func TestDash(t *testing.T) {
	linkRuntime(t)
	home := checkout.Directory(t)
	template := place{home, home}
	if out, err := template.command(t, demo).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	template.dir = filepath.Join(home, "demo")
	leaves, _ := commands(t, template)
	completes := func(program, rest string) string {
		out, err := template.command(t, program+" __complete "+rest).Output()
		if err != nil {
			t.Fatalf("%s %s: %v", program, rest, err)
		}
		return strings.TrimSpace(string(out))
	}
	named := 0
	for _, command := range leaves {
		if command != ownerOf(command) {
			continue
		}
		program, words, _ := strings.Cut(command, " ")
		var keys []string
		for line := range strings.Lines(completes(program, words+" --")) {
			option, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			if strings.HasSuffix(completes(program, words+" "+option+"="), "=:files") {
				keys = append(keys, " "+option)
			}
		}
		switch ":files" {
		case completes(program, words+" ''"):
			keys = append(keys, "")
		case completes(program, words+" METHOD ''"):
			keys = append(keys, " METHOD")
		}
		for _, key := range keys {
			named++
			if dashes[command+key] == "" {
				t.Errorf("%s%s takes a file, and nothing tests it with -", command, key)
			}
		}
	}
	if named < 10 {
		t.Errorf("%d operands and options name files", named)
	}
	for key, script := range dashes {
		t.Run(key, func(t *testing.T) {
			script, usage := strings.CutPrefix(script, "usage: ")
			p := template.copied(t, "")
			code, stderr := end(p.command(t, "set -e -o pipefail\n"+script))
			if code != map[bool]int{true: 2}[usage] {
				t.Errorf("exit code %d, %s", code, stderr)
			}
			if left, _ := filepath.Glob(filepath.Join(p.home, "mcpbash.*")); left != nil {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}
