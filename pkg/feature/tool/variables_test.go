//go:build unix

package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mcp-bash/pkg/project"
)

// T-414: a call that failed names the variable that its script reads and the server does not pass on. The script can be
// the one from which the tool was imported.
func TestDroppedVariable(t *testing.T) {
	env := project.Env{
		"API_KEY": "k", "KUBECONFIG": "/k", "AWS_PROFILE": "p", "EDITOR": "vi", "PAGER": "more", "TERM": "xterm", "CI": "1",
	}
	for body, want := range map[string]string{
		`: "$API_KEY"; echo "401 Unauthorized" >&2; exit 22`:            "API_KEY",
		`echo "${KUBECONFIG:-$HOME/.kube/config}: refused" >&2; exit 1`: "KUBECONFIG",
		`echo "${AWS_PROFILE-default} is gone" >&2; exit 1`:             "AWS_PROFILE",
		`: "${EDITOR:=vi}"; exit 1`:                                     "EDITOR",
		`[[ -n ${PAGER:+x} ]] || exit 3`:                                "PAGER",
		`echo "${TERM:-dumb} ${CI:-}" >&2; exit 1`:                      "", // not needed
		`API_KEY=own; echo "$API_KEY" >&2; exit 1`:                      "",
		`echo "${MISSING:-}" >&2; exit 1`:                               "", // the server has no such variable
		`echo "${PAGER:-less}"`:                                         "", // a success with the default
	} {
		for _, imported := range []bool{false, true} {
			b := newFixture(t, env)
			name, more := "tools/t/tool.sh", []string(nil)
			b.add("t", body, more...)
			if imported {
				name = filepath.Join(t.TempDir(), "own.sh")
				b.add("t", `exec "`+name+`"`, `"output":{"type":"text"}`)
				record := `{"version":1,"script":"` + name + `"}`
				if os.WriteFile(name, []byte("#!/usr/bin/env bash\n"+body+"\n"), 0o755) != nil ||
					os.WriteFile(filepath.Join(b.root, "tools/t/.wrap.json"), []byte(record), 0o644) != nil {
					t.Fatal("cannot write")
				}
			}
			got := b.call(&Request{ID: `"t"`, Name: "t"})
			hint := name + " reads " + want + ", which the server has but does not pass on to tools; write "
			if strings.Contains(got, hint) != (want != "") || strings.Contains(got, "does not pass on") != (want != "") {
				t.Errorf("%s, imported: %t: %s", body, imported, got)
			}
		}
	}
}
