package requirements

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/run/script"
)

// CLI-1109: a dependency may name its Debian package.
func TestParse(t *testing.T) {
	r, err := parse([]byte(`{"dependencies":[{"name":"convert","debian":"imagemagick"},{"or":["gojq","jq"]}]}`))
	if err != nil || len(r.Dependencies) != 2 || r.Dependencies[0].Debian != "imagemagick" ||
		!slices.Equal(r.Dependencies[1].Programs, []string{"gojq", "jq"}) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, text := range []string{`{"dependencies":[{"name":"a","debian":5}]}`, `{"dependencies":[{"debian":"a"}]}`} {
		if r, err := parse([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// FuzzRequirements parses arbitrary requirements.
func FuzzRequirements(f *testing.F) {
	f.Add([]byte(`{"framework":{"minVersion":"9.0.0"},"dependencies":[{"name":"ffmpeg"},{"or":["gojq","jq"]}]}`))
	f.Add([]byte(`{"dependencies":[{"or":[5]}]}`))
	f.Add([]byte(`{"dependencies":[{"name":"convert","debian":"imagemagick"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parse(text)
		if err != nil {
			return
		}
		if r.MinVersion != "" && !IsVersion(r.MinVersion) {
			t.Errorf("%q", r.MinVersion)
		}
		for _, d := range r.Dependencies {
			if len(d.Programs) == 0 || slices.Contains(d.Programs, "") {
				t.Errorf("%q", d.Programs)
			}
		}
	})
}

// CLI-1109: minVersion, check and installHint have an effect. No command runs except a query for a version.
func TestExamine(t *testing.T) {
	bin := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put("tool", `[ "$*" = --version ] && echo "tool (x86_64) v2.10.1, of 2024" || { touch "$0.ran"; exit 9; }`)
	put("old", `[ "$*" = -V ] && echo 7 >&2`)
	put("mute", `:`)
	path := bin + ":/usr/bin:/bin"
	for text, want := range map[string]string{
		`{"name":"tool"}`:                                                  "",
		`{"name":"tool","minVersion":"2.9"}`:                               "",
		`{"name":"tool","minVersion":"v2.10.1.0"}`:                         "",
		`{"name":"tool","minVersion":"2.10.2","check":"tool --version"}`:   "2 tool has version 2.10.1, and 2.10.2",
		`{"name":"tool","check":"tool --version >/dev/null 2>&1"}`:         "",
		`{"name":"tool","check":"command -v tool"}`:                        "",
		`{"name":"tool","minVersion":"9","check":"command -v tool"}`:       "2 tool has version 2.10.1, and 9 is required",
		`{"name":"tool","check":"tool version"}`:                           "3 tool version fails: exit status 9",
		`{"name":"tool","check":"tool --purge"}`:                           `3 check "tool --purge" is not run`,
		`{"name":"tool","check":"tool --version; touch x"}`:                `3 check "tool --version; touch x" is not run`,
		`{"name":"tool","check":"rm --version"}`:                           `3 check "rm --version" is not run`,
		`{"name":"old","minVersion":"8","check":"old -V"}`:                 "2 old has version 7, and 8 is required",
		`{"name":"mute","minVersion":"1"}`:                                 "3 mute --version prints no version",
		`{"name":"` + bin + `/tool","minVersion":"1"}`:                     "3 " + bin + "/tool is named by its path",
		`{"name":"` + bin + `/tool","check":"` + bin + `/tool --version"}`: "3 " + bin + "/tool is named by its path",
		`{"name":"../tool"}`:                                               "1 ../tool is not installed",
		`{"or":["none","old","tool"],"minVersion":"2.10"}`:                 "",
		`{"or":["mute","tool"],"minVersion":"99"}`:                         "3 mute --version prints no version",
		`{"or":["none","` + bin + `/none"],"minVersion":"1","check":"x"}`:  "1 none or " + bin + "/none is not installed",
	} {
		r, err := parse([]byte(`{"dependencies":[` + text + `]}`))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		v := r.Dependencies[0].Examine(t.Context(), new(script.Runner), path)
		got := ""
		if v.Fault != Met {
			got = fmt.Sprintf("%d %s", v.Fault, v.Text)
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{`{"name":"a","minVersion":"new"}`, `{"name":"a","check":5}`,
		`{"name":"a","installHint":""}`} {
		if r, err := parse([]byte(`{"dependencies":[` + text + `]}`)); err == nil {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// A project can require a release.
func TestFramework(t *testing.T) {
	for version, ok := range map[string]bool{"2.0.0": true, "2.0.1-rc1": true, "10.0": true, "1.9.9": false, "1": false} {
		if got := (&Requirements{MinVersion: "v2.0"}).Framework(version); (got == "") != ok {
			t.Errorf("%s: %q", version, got)
		}
	}
}
