//go:build unix

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/test/checkout"
)

// notRun are examples of help texts that a test cannot run, with the reason.
var notRun = map[string]string{
	"mcp-bash provider https https://example.com/a.txt > a.txt": "needs a network",
	remoteExample:                                                 "needs a network",
	"mcp-doctor doctor --fix --ref v2.0.0":                        "needs a release",
	"mcp-bundle vendor --upgrade --platform all":                  "builds for five systems, as TestEveryPlatform does",
	"mcp-bundle bundle":                                           "builds for five systems, as TestEveryPlatform does",
	"mcp-scaffold wrap gh issue --subcommands":                    "needs gh",
	"mcp-bash serve --http":                                       "serves until it is ended",
	"mcp-bash serve --http unix:/run/mcp.sock":                    "likewise",
	"mcp-bash serve --http 0.0.0.0:8000 --token-file tokens.json": "likewise",
	"mcp-bash serve --http :8000 --token-file tokens.json":        "likewise",
	tlsExample:                               "likewise",
	kubectlExample:                           "needs a cluster",
	"mcp-bundle bundle --json | jq -r .path": "builds for five systems, as TestEveryPlatform does",
	"mcp-bundle publish dist --image ghcr.io/you/demo:1.0.0 --url URL": "needs a registry, as test/registry has",
	"mcp-bundle image": "needs a mirror of Debian, as TestImage has",
	"mcp-bundle image ~/demo -o - --format docker | docker load":       "likewise",
	"mcp-bundle image --format context -o build && podman build build": "needs a registry",
	"mcp-bundle image --json | jq -r .digest":                          "needs a mirror",
	inspectExample: "needs an image, as TestProducts has",
	"mcp-bundle image -o demo.tar --tag registry.example/team/demo --platform linux/amd64,linux/arm64": "likewise",
}

const settingsExample = "mcp-bundle inspect . --format claude-settings > .claude/settings.json"

const inspectExample = "mcp-bundle inspect demo.tar --format docker"

const remoteExample = "mcp-bash request tools/list --http https://mcp.example.com/mcp --token-env TEAM_TOKEN"

const kubectlExample = "kubectl logs --prefix --tail=-1 -l app=tools | mcp-doctor audit -"

const tlsExample = `mcp-bash serve --http 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem \
    --oidc-issuer https://login.example.com --public-url https://mcp.example.com:8443`

// fails are those whose exit code is not 0 in the project that they run in.
var fails = map[string]string{
	"mcp-doctor doctor":                                 "the tree of this test is no installation",
	"mcp-doctor validate --strict":                      "there are warnings",
	"mcp-doctor upgrade --check || mcp-doctor upgrade":  "likewise",
	"mcp-doctor migrate":                                "no template declares the scheme of providers/notes.sh",
	"mcp-doctor migrate --json | jq -e '.attention==0'": "likewise",
	"mcp-doctor doctor --dry-run":                       "the tree of this test is no installation",
	"mcp-doctor doctor --json | jq -r '.findings[] | select(.severity==\"error\") | .message'": "likewise",
}

// before is what has to be done before an example, in the project that all are about.
var before = map[string]string{
	settingsExample: "mkdir .claude",
	"mcp-runtool hello --allow-self - <arguments.json": `echo '{"name":"Ada"}' >arguments.json`,
	"mcp-bundle vendor --verify":                       "mcp-bundle vendor --platform $PLATFORM --arch $ARCH",
	"mcp-registry lock --check":                        "mcp-registry lock",
	"mcp-doctor validate --locked":                     "mcp-registry lock",

	"mcp-scaffold scaffold tool chart --ui":                             "rm -r tools/chart",
	"mcp-scaffold add --update":                                         "mcp-scaffold add scripts",
	"mcp-scaffold remove tool backup --yes":                             "mcp-scaffold add scripts",
	"mcp-scaffold remove tool backup --dry-run":                         "mcp-scaffold add scripts",
	"mcp-scaffold wrap --update":                                        "mcp-scaffold wrap sort",
	"mcp-bash new my-server":                                            "cd ..",
	"mcp-scaffold new my-server":                                        "cd ..",
	"mcp-scaffold new my-server --from ~/scripts":                       "cd ..; mv demo/scripts .",
	"cd $(mcp-scaffold new my-server --json | jq -r .projectRoot)":      "cd ..",
	registerExample:                                                     "rm tools/net-fetch/tool.meta.json",
	"mcp-bash token create ci --file tokens.json --expires 90d":         "rm tokens.json",
	"mcp-bash token create ci --file tokens.json":                       "rm tokens.json",
	"mcp-bash token create ci --file tokens.json --json | jq -r .token": "rm tokens.json",
}

const registerExample = `jq -n '{name: "net-fetch", path: "net-fetch/tool.sh", capabilities: ["Network"]}' |
    mcp-registry register`

// helpProject is what the examples of help texts are about.
const helpProject = `
set -eu
mcp-bash new demo >/dev/null
cd demo
for tool in net-fetch slow report net chart; do mcp-bash scaffold tool "$tool" >/dev/null; done
mkdir -p tools/order ui/order providers tools/convert
cp tools/hello/tool.sh tools/convert/
cp tools/hello/tool.meta.json tools/convert/
sed -i.old 's/"hello"/"convert"/' tools/convert/tool.meta.json; rm tools/convert/*.old
cat >tools/order/tool.sh <<'END'
#!/usr/bin/env bash
source "${MCP_SDK}/tool-sdk.sh"
mcp_emit_json "$(mcp_elicit 'Which?' '{"type":"object","properties":{"size":{"type":"string"},"confirmed":{"type":"boolean"}}}')"
END
echo '{"name":"order","description":"Orders"}' >tools/order/tool.meta.json
chmod +x tools/order/tool.sh
mkdir -p prompts resources tests
echo 'tool: hello' >tests/hello.yaml
echo 'Greet {{name}}.' >prompts/greet.txt
echo '{"name":"greet","description":"Greets","arguments":{"type":"object","properties":{"name":{"type":"string"}}}}' >prompts/greet.meta.json
echo text >resources/a.txt
echo '{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"A"}}' >query.json
echo '{"name":"Ada"}' >request.json
echo '{"name":"fetch","path":"net-fetch/tool.sh","capabilities":["Network"]}' >fetch.json
printf '#!/usr/bin/env bash\necho "note: $1"\n' >providers/notes.sh
mkdir scripts
printf '#!/usr/bin/env bash\n# Copies a folder.\ncp -r "${1:?folder}" backup\n' >scripts/backup.sh
chmod +x scripts/backup.sh
chmod +x providers/notes.sh
mcp-bash token create ci --file tokens.json >/dev/null
mkdir records
MCPBASH_AUDIT=$PWD/records mcp-bash request tools/call '{"name":"hello"}' --allow-all >/dev/null
cp records/*.jsonl audit.jsonl
mkdir greeter
echo '{"name":"greeter"}' >greeter/plugin.json
echo '{"name":"acme","owner":{"name":"Acme"},"plugins":[{"path":"greeter"}]}' >plugins.json
mcp-bundle marketplace >/dev/null
mcp-registry lock >/dev/null
mcp-bundle bundle --version 1.0.0 --platform "$PLATFORM" --arch "$ARCH" >/dev/null 2>&1
`

// runtimeDir is a directory of programs for bundles, with that of this system.
func runtimeDir(t *testing.T) string {
	t.Helper()
	dir := checkout.Directory(t)
	file := filepath.Join(dir, runtimes.Host.Path())
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(bin, "mcp-bash"), file); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Every example that help shows works, in a project that has what it is about.
func TestHelp(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the examples use jq")
	}
	commands, err := os.ReadDir(filepath.Join(checkout.Root(), "cmd"))
	if err != nil {
		t.Fatal(err)
	}
	template := checkout.Directory(t)
	env := []string{
		"PLATFORM=" + runtimes.Host.Platform(), "ARCH=" + runtimes.Host.Arch, "GIT_CONFIG_NOSYSTEM=1",
		"MCPBASH_RUNTIME_DIR=" + runtimeDir(t), "MCPBASH_HTTP_TOKEN_FILE=tokens.json",
	}
	typed := func(dir, text string) (string, error) {
		out, err := shell(t, dir, checkout.Directory(t), "set -o pipefail\n"+text, env...).CombinedOutput()
		return string(out), err
	}
	if out, err := typed(template, helpProject); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ran := 0
	for _, command := range commands {
		for _, page := range helpPages(t, typed, template, command.Name()) {
			if len(page.examples) == 0 {
				t.Errorf("%s --help shows no example", page.of)
			}
			for _, example := range page.examples {
				if endsEarly.MatchString(example) {
					t.Errorf("%s --help: a shell ends the command before the last line of %q", page.of, example)
				}
				if notRun[example] != "" {
					continue
				}
				ran++
				t.Run(example, func(t *testing.T) {
					t.Parallel()
					project := filepath.Join(checkout.Directory(t), "demo")
					if err := os.CopyFS(project, os.DirFS(filepath.Join(template, "demo"))); err != nil {
						t.Fatal(err)
					}
					os.Chmod(filepath.Join(project, "tokens.json"), 0o600) // CopyFS gives everybody the right to read
					line := strings.NewReplacer("/var/log/mcp-bash", "records", "/srv/demo", project, "~/srv", project,
						"~/scripts", "scripts").Replace(example)
					out, err := typed(project, before[example]+"\n"+line+"\n")
					if _, known := fails[example]; err != nil && !known {
						t.Errorf("%s --help: %v\n%s", page.of, err, out)
					}
				})
			}
		}
	}
	if ran < 60 {
		t.Errorf("%d examples", ran)
	}
}

// A helpPage is the help of a command or verb.
type helpPage struct {
	of       string
	examples []string
}

var (
	exampleLine = regexp.MustCompile(`^  (\S.*?)( {3,}#.*| +# [a-z].*)?$`)
	endsEarly   = regexp.MustCompile(`[^|\\]\n`)
	verbLine    = regexp.MustCompile(`^  ([a-z][a-z-]+)(  |$)`)
)

// helpPages reads the help of a command and of its verbs; verbs that other programs own
// have theirs there.
func helpPages(t *testing.T, typed func(dir, text string) (string, error), dir, command string) []helpPage {
	t.Helper()
	text, err := typed(dir, command+" --help")
	if err != nil {
		t.Fatalf("%s --help: %v\n%s", command, err, text)
	}
	page := helpPage{of: command}
	pages := []helpPage{}
	section := ""
	var verbs []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "":
			section = ""
		case strings.HasSuffix(line, ":") && !strings.HasPrefix(line, " "):
			section = line
		case section == "Examples:":
			if n := len(page.examples); n > 0 && strings.HasPrefix(line, "    ") {
				page.examples[n-1] += "\n" + line
			} else if m := exampleLine.FindStringSubmatch(line); m != nil {
				page.examples = append(page.examples, m[1])
			}
		case section == "Commands:":
			if m := verbLine.FindStringSubmatch(line); m != nil {
				verbs = append(verbs, m[1])
			} else if n := len(verbs); n > 0 && strings.Contains(line, "(mcp-") {
				verbs = verbs[:n-1]
				continue
			}
			if n := len(verbs); n > 0 && strings.Contains(line, "(mcp-") {
				verbs = verbs[:n-1]
			}
		}
	}
	pages = append(pages, page)
	for _, verb := range verbs {
		pages = append(pages, helpPages(t, typed, dir, command+" "+verb)...)
	}
	return pages
}
