package output

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"mcp-bash/test/checkout"
)

// forged is what no line may begin with. Names of files cannot hold all breaks of lines; metadata can.
const forged = "All checks passed"

const (
	inNames = "x\n" + forged
	inTexts = inNames + "\r" + forged + "\u2028" + forged + "\u2029" + forged + "\u0085" + forged
)

// isJSON matches lines of JSON and of diffs of it, which are data.
var isJSON = regexp.MustCompile(`^[+ ]*[{}"]`)

// hostileLines are more lines for commands, which fail on names that break lines.
var hostileLines = map[string][]string{
	"mcp-bash request":  {`tools/call '{"name":"'"$EVIL"'"}'`, `"$EVIL"`, `tools/list --project-root "$EVIL"`},
	"mcp-bash provider": {`file "file:///$EVIL"`, `"$EVIL" echo://x`},
	"mcp-bash health":   {`--project-root "$EVIL"`, `--timeout "$EVIL"`},
	"mcp-runtool": {`"$EVIL"`, `hello --source "$EVIL"`, `hello --roots "$EVIL"`, `hello --args "@$EVIL"`,
		`noisy --verbose`},
	"mcp-registry get":     {`"$EVIL"`},
	"mcp-registry refresh": {`--filter "$EVIL"`, `--strict`},
	"mcp-bundle validate":  {`"$EVIL"`, `evil.mcpb`, `.`},
	"mcp-bundle inspect":   {`"$EVIL"`, `evil.mcpb`},
	"mcp-bundle diff":      {`"$EVIL" .`, `. evil.mcpb`},
	"mcp-bundle unpack":    {`"$EVIL"`, `evil.mcpb "$EVIL"`},
	"mcp-bundle publish":   {`"$EVIL"`, `evil.mcpb --dry-run`, `evil.mcpb --dry-run --verbose`},
	"mcp-bundle bundle":    {`--verbose --validate`, `--output "$EVIL" ` + bundled, `--name "$EVIL" ` + bundled},
	"mcp-bundle image": {imaged + ` --verbose`, `"$EVIL"`, imaged + ` --output "$EVIL.tar"`, imaged + ` --package "$EVIL"`,
		`--tag "$EVIL"`, `--mirror "https://$EVIL"`},
	"mcp-bundle vendor": {`--upgrade --verbose --platform "$PLATFORM" --arch "$ARCH"`, `--output "$EVIL"`},
	"mcp-scaffold new":  {`"$EVIL"`},
	"mcp-scaffold init": {`--name "$EVIL"`},
	"mcp-scaffold wrap": {`"$EVIL"`, `./evil`, `./evil --dry-run --name evil`, `--update`},
	"mcp-scaffold config": {`--wrapper --output "$EVIL"`, `--client cursor --name "$EVIL" --apply`,
		`--client cursor --apply --file "$PWD/$EVIL"`, `--client "$EVIL"`},
	"mcp-scaffold scaffold ui": {`--tool "$EVIL"`},
	"mcp-doctor validate":      {`--explain-defaults`, `--inspector`, `--strict`, `--fix`},
	"mcp-doctor explain":       {`"$EVIL"`},
	"mcp-doctor test": {`"$EVIL"`, `--filter "$EVIL"`, `--junit "$EVIL/x"`, `- <evil.yaml`, `- --tap <evil.yaml`,
		`- --filter Evil --coverage <evil.yaml`},
}

// CLI-117: no line that a command prints about a stranger's project begins with text of the project.
func TestOneLine(t *testing.T) {
	linkRuntime(t)
	home := checkout.Directory(t)
	template := place{home, home}
	if out, err := template.command(t, demo).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	template.dir = filepath.Join(home, inNames)
	if err := os.Rename(filepath.Join(home, "demo"), template.dir); err != nil {
		t.Fatal(err)
	}
	plant(t, template.dir)
	leaves, _ := commands(t, template)
	var printed atomic.Int64
	t.Run("lines", func(t *testing.T) {
		for _, command := range leaves {
			if command != ownerOf(command) {
				continue
			}
			for _, line := range append(lines[command], hostileLines[command]...) {
				line = command + " " + line
				t.Run(line, func(t *testing.T) {
					t.Parallel()
					var out bytes.Buffer
					cmd := template.copied(t, line).command(t, line)
					cmd.Env = append(cmd.Env, "EVIL="+inTexts, "MCPBASH_LOG_LEVEL=debug")
					cmd.Stdout, cmd.Stderr = &out, &out
					cmd.Run()
					printed.Add(int64(strings.Count(out.String(), forged)))
					for one := range strings.SplitSeq(out.String(), "\n") {
						breaks := "\r\v\f\u0085\u2028\u2029"
						if isJSON.MatchString(one) {
							breaks = "\r" // JSON, and diffs of it
						}
						for _, part := range strings.FieldsFunc(one, func(r rune) bool { return strings.ContainsRune(breaks, r) }) {
							part = strings.TrimSpace(part)
							own := part == forged+" (warnings: 0)." || part == forged+"! Ready to build MCP servers."
							if strings.HasPrefix(part, forged) && !own {
								t.Errorf("prints %q", out.String())
								return
							}
						}
					}
				})
			}
		}
	})
	if n := printed.Load(); n < 100 {
		t.Errorf("the text of the project was printed %d times only", n)
	}
}

// plant puts names and texts with breaks of lines into a project.
func plant(t *testing.T, root string) {
	t.Helper()
	quoted, err := json.Marshal(inTexts)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(`{"name":TEXT,"title":TEXT,"version":TEXT,"description":TEXT,"icons":TEXT,"confine":TEXT,
		"capabilities":[TEXT],"inputSchema":{"type":TEXT},"uri":TEXT,"mimeType":TEXT,"timeoutSecs":TEXT}`, "TEXT", string(quoted))
	files := map[string]string{
		"server.d/server.meta.json":            text,
		"server.d/register.json":               `{"version":1,"tools":[` + text + `],"completions":[` + text + `]}`,
		"tools/" + inNames + "/tool.sh":        "echo",
		"tools/" + inNames + "/tool.meta.json": text,
		"tools/sly/tool.sh":                    "echo",
		"tools/sly/tool.meta.json":             text,
		"tools/broken/tool.sh":                 "echo",
		"tools/broken/tool.meta.json":          `{"name":"broken","confine":{"read":` + string(quoted) + `}}`,
		"tools/noisy/tool.sh": "#!/bin/bash\n" +
			"source \"$MCP_SDK/tool-sdk.sh\"\nmcp_progress 5 \"$EVIL\"\n",
		"tools/noisy/tool.meta.json":               `{"name":"noisy","description":"noise"}`,
		"tools/noisy/samples/" + inNames + ".json": `{`,
		"evil.yaml": strings.ReplaceAll(`{"tool":"noisy","name":TEXT,"expect":{"text":TEXT,"error":true}}`+"\n---\n"+
			`{"tool":TEXT,"name":"Evil"}`, "TEXT", string(quoted)),
		"resources/" + inNames + ".txt":       "x",
		"resources/" + inNames + ".meta.json": text,
		"resources/odd.meta.json":             text,
		"prompts/" + inNames + ".txt":         "{{" + inTexts + "}}",
		"prompts/" + inNames + ".meta.json":   text,
		"completions/" + inNames + ".sh":      "echo",
		"providers/" + inNames + ".sh":        "echo",
		"ui/" + inNames + "/index.html":       "x",
		"ui/" + inNames + "/ui.meta.json":     text,
		"config/roots.json":                   `{"roots":[{"path":` + string(quoted) + `}]}`,
		"mcpb.conf":                           "MCPB_NAME=$'x\\n" + forged + "'\nMCPB_INCLUDE=$'x\\n" + forged + "'\n",
		"evil": "#!/bin/sh\nprintf 'Usage: evil [OPTION]\\n\\n  --one\\r" + forged + "  \\342\\200\\250" +
			forged + "\\n'\n",
		"VERSION":   inTexts,
		"demo.mcpb": "no bundle",
	}
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := checkout.WriteProgram(file, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range map[string]string{"manifest.json": text, "server/" + inNames: "x"} {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "evil.mcpb"), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
