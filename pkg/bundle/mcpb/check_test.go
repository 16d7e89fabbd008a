package mcpb

import (
	"strings"
	"testing"

	"mcp-bash/pkg/json/rawjson"
)

const minimal = `"manifest_version":"0.3","name":"a","version":"1.0.0","description":"d","author":{"name":"x"},` +
	`"server":{"type":"binary","entry_point":"server/run","mcp_config":{"command":"${__dirname}/server/run"}}`

// CLI-1802 to CLI-1804: the manifests that the official tool rejects, with the path of each
// fault.
func TestCheckManifest(t *testing.T) {
	for members, path := range map[string]string{
		"":               "",
		`,"$schema":"x"`: "",
		`,"author":{"name":"x","email":"a@b.co"}`:                              "",
		`,"repository":{"type":"git","url":"ssh://git@host/a"}`:                "",
		`,"icons":[{"src":"a.png","size":"16x16"}]`:                            "",
		`,"_meta":{"com.example":{}}`:                                          "",
		`,"user_config":{"k":{"type":"string","title":"t","description":"d"}}`: "",
		`,"manifest_version":"0.4"`:                                            "",
		`,"manifest_version":"0.5"`:                                            "manifest_version",
		`,"extra":1`:                                                           "",
		`,"author":{"name":"x","email":"nobody"}`:                              "author.email",
		`,"author":{"name":"x","url":"example.com"}`:                           "author.url",
		`,"author":{}`:                                                             "author",
		`,"homepage":"example.com"`:                                                "homepage",
		`,"homepage":"https://example.com:99999/"`:                                 "homepage",
		`,"privacy_policies":["https://a.b/","x"]`:                                 "privacy_policies.1",
		`,"repository":{"type":"git","url":"git@host:a/b"}`:                        "repository.url",
		`,"icons":[{"src":"a.png","size":"any"}]`:                                  "icons.0.size",
		`,"icons":[{"src":"a.png"}]`:                                               "icons.0",
		`,"compatibility":{"platforms":["bsd"]}`:                                   "compatibility.platforms.0",
		`,"user_config":{"k":{"type":"string","title":"t"}}`:                       "user_config.k",
		`,"_meta":{"a":1}`:                                                         "_meta.a",
		`,"tools":[{"name":"x","inputSchema":{}}]`:                                 "tools.0",
		`,"localization":{"resources":"x","default_locale":"en"}`:                  "localization.resources",
		`,"server":{"type":"sh","entry_point":"x","mcp_config":{"command":"x"}}`:   "server.type",
		`,"server":{"type":"binary","entry_point":"x","mcp_config":{"command":1}}`: "server.mcp_config.command",
	} {
		doc, err := ParseManifest([]byte("{" + minimal + members + "}"))
		if err != nil {
			t.Fatal(members, err)
		}
		faults := CheckManifest(doc)
		if members == `,"extra":1` {
			if len(faults) != 1 || !strings.Contains(faults[0].String(), "extra") {
				t.Errorf("%s: %v", members, faults)
			}
			continue
		}
		if path == "" && len(faults) > 0 || path != "" && (len(faults) == 0 ||
			!strings.HasPrefix(faults[0].Path, path)) {
			t.Errorf("%s: %v, want a fault at %q", members, faults, path)
		}
	}
	for _, text := range []string{"", "[]", "{", "{\"a\":\xff}", strings.Repeat(" ", MaxManifest+1)} {
		if _, err := ParseManifest([]byte(text)); err == nil {
			t.Errorf("%.20q was read", text)
		}
	}
	if faults := CheckManifest([]byte("{}")); len(faults) != 1 || faults[0].Path != "manifest_version" {
		t.Errorf("%v", faults)
	}
}

// CLI-1434: the files that a manifest names exist with that name, and programs are
// executable.
func TestCheckFiles(t *testing.T) {
	var names Names
	for _, f := range []File{{Name: "server/run", Exec: true}, {Name: "icon.png"}, {Name: "server/dull"}} {
		if err := names.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	for manifest, want := range map[string]string{
		"{" + minimal + "}":                         "",
		"{" + minimal + `,"icon":"icon.png"}`:       "",
		"{" + minimal + `,"icon":"Icon.png"}`:       `icon: "Icon.png" is called "icon.png" in the bundle`,
		"{" + minimal + `,"screenshots":["s.png"]}`: `screenshots.0: "s.png" is not in the bundle`,
		`{"server":{"type":"binary","entry_point":"server/dull","mcp_config":{"command":"npx"}}}`: `server.entry_point: ` +
			`"server/dull" is not executable`,
		`{"server":{"type":"node","entry_point":"server/dull","mcp_config":{"command":"node"}}}`: "",
		`{"server":{"mcp_config":{"platform_overrides":{"win32":{"command":"${__dirname}/x"}}}}}`: `server.mcp_config.` +
			`platform_overrides.win32.command: "x" is not in the bundle`,
	} {
		var got []string
		for _, f := range CheckFiles(rawjson.Normal([]byte(manifest)), &names) {
			got = append(got, f.String())
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%s: %v, want %q", manifest, got, want)
		}
	}
}

// CLI-1434: a file that Windows cannot create is a fault only in bundles for Windows.
func TestCheckWindows(t *testing.T) {
	for name, reason := range map[string]string{
		"server/NUL.txt": "the name of a device", "Com1": "the name of a device", "lpt¹.a.b": "the name of a device",
		"aux /x": "Windows drops", "a/b.": "Windows drops", "a ": "Windows drops", "x.txt:evil": "does not allow",
		"C:/x": "does not allow", "what?": "does not allow", strings.Repeat("é", 201): "longer than 200 characters",
		strings.Repeat("é", 100): "", "console/null/com10": "", ".a b": "",
	} {
		var names Names
		if err := names.Add(File{Name: "a/b"}); err != nil {
			t.Fatal(err)
		}
		if err := names.Add(File{Name: name}); err != nil && len(name) <= maxPart {
			t.Fatal(err)
		} else if err != nil {
			name = strings.Repeat("é/", 100) + "é"
			if err := names.Add(File{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		for platforms, want := range map[string]bool{"": true, `"linux"`: false, `"linux","win32"`: true} {
			faults := CheckWindows([]byte(`{"compatibility":{"platforms":[`+platforms+`]}}`), &names)
			if want = want && reason != ""; want != (len(faults) == 1) {
				t.Errorf("%q for [%s]: %v", name, platforms, faults)
			} else if want && (faults[0].Path != name || !strings.Contains(faults[0].Reason, reason)) {
				t.Errorf("%q: %v", name, faults)
			}
		}
	}
}

// Checking ends for any text, and a valid manifest has all members that clients need.
func FuzzManifest(f *testing.F) {
	f.Add([]byte("{" + minimal + "}"))
	f.Add([]byte("{" + minimal +
		`,"icons":[{"src":"a","size":"1x1"}],"user_config":{"k":{"type":"number","title":"t","description":"","min":1}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := ParseManifest(text)
		if err != nil {
			return
		}
		if len(CheckManifest(doc)) > 0 {
			return
		}
		for _, path := range [][]string{{"name"}, {"version"}, {"author", "name"}, {"server", "entry_point"},
			{"server", "mcp_config", "command"}} {
			if rawjson.KindOf(rawjson.Path(doc, path...)) != rawjson.String {
				t.Errorf("%s passed without %v", text, path)
			}
		}
		CheckFiles(doc, &Names{})
	})
}
