package validate

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// importedTool returns the files of a tool that starts a script.
func importedTool(script string) files {
	return files{
		"tools/own/tool.meta.json": fmt.Sprintf(`{"name":"demo_own","description":"x","inputSchema":{"type":"object"},
			"output":{"type":"text"},"capabilities":["Search"],"confine":{"exec":[%q]}}`, script),
		"tools/own/tool.sh*":   "#!/usr/bin/env bash\nargv=(" + script + ")\nexec \"${argv[@]}\"\n",
		"tools/own/.wrap.json": fmt.Sprintf(`{"version":1,"command":[%q],"script":%[1]q}`, script),
	}
}

// CLI-1066: the script from which a tool was imported is checked like a tool's script, wherever it is.
func TestImported(t *testing.T) {
	const text = `#!/usr/bin/env bash
set -eu
echo "$API_KEY ${KUBECONFIG:-none} ${PAGER:-less} ${OPTIONAL:-} $HOME"
"$EDITOR" notes </dev/null
OWN=1; echo "$OWN"
no-such-program
uname
echo >list
`
	for _, place := range []string{"outside", "scripts"} {
		dir := t.TempDir()
		file := filepath.Join(dir, "own.sh")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		added := importedTool(file)
		if place == "scripts" {
			added = importedTool("./scripts/own.sh")
			added["scripts/own.sh"] = text
			file = "scripts/own.sh"
		}
		f := fixture(t, sound, added)
		f.Project.Env["KUBECONFIG"], f.Project.Env["PAGER"] = "/k", "more"
		var got []string
		for _, one := range check1(t, f, Options{Fix: true}).Findings {
			if !one.Good && strings.HasSuffix(one.Path, "own.sh") && one.Path == file {
				got = append(got, fmt.Sprintf("%d %s: %s", one.Line, one.ID, one.Message))
			}
		}
		want := []string{
			"0 script.not_executable: not executable, so tools/own/tool.sh cannot start it",
			"3 env.not_passed: reads API_KEY, which the server does not pass on to tools",
			"3 env.not_passed: reads KUBECONFIG, which is set here and the server does not pass on to tools",
			"3 env.not_passed: reads PAGER, which is set here and the server does not pass on to tools",
			"4 env.not_passed: reads EDITOR, which the server does not pass on to tools",
			"6 script.missing_program: uses no-such-program, which is not installed",
		}
		want = append(want, "7 confine.too_small: starts uname, which its declaration does not permit",
			"8 confine.too_small: writes list, which its declaration does not permit")
		if runtime.GOOS == "windows" {
			want = want[1:]
		}
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", place, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if info, err := os.Stat(filepath.Join(dir, "own.sh")); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: --fix changed a script that is not of the project: %v, %v", place, info, err)
		}
	}
}

// CLI-1066: scripts of other shells and languages, and missing scripts.
func TestImportedOthers(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "script.gone: tools/own/tool.sh starts it, and it does not exist",
		"#!/bin/sh\n: \"$API_KEY\"\n": "env.not_passed: reads API_KEY, which the server does not pass on to tools",
		"#!/bin/sh\n. ./more.sh\n: \"$API_KEY\"\n": "", // the other file may set it
		"#!/none/py\nAPI_KEY\n":                    "script.interpreter: line 1 (#!/none/py) names /none/py",
		"#!/usr/bin/env bash\nif\n":                "script.syntax: Bash cannot read it: syntax error",
		"#!/usr/bin/env bash\nread -r x\necho x &": "", // the program that starts the script decides about its streams
		"#!/bin/sh\n[[ a ]] && mcp_other\n":        "script.plain_shell: line 1 (#!/bin/sh) starts a plain shell",
	} {
		file := filepath.Join(t.TempDir(), "own")
		if text != "" {
			if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, f := range check1(t, fixture(t, sound, importedTool(file)), Options{}).Findings {
			if !f.Good && f.Path == file {
				got = append(got, f.ID+": "+f.Message)
			}
		}
		if joined := strings.Join(got, "\n"); !strings.HasPrefix(joined, want) || want == "" && joined != "" || len(got) > 1 {
			t.Errorf("%q: %s\nwant %s", text, joined, want)
		}
	}
}
