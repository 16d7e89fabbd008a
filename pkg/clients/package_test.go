package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/clients/editors"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
)

func mustPackage(t *testing.T, text string) *Package {
	t.Helper()
	p, err := ParsePackage(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// CLI-716: the program and the arguments for each kind of package.
func TestPackageCommands(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	for text, want := range map[string]string{
		"npm:@me/my-tools@1.0.0":         "npx -y --fetch-retries=0 @me/my-tools@1.0.0",
		"npm:my-tools":                   "npx -y --fetch-retries=0 my-tools",
		"pypi:my-tools@1.0.0":            "uvx my-tools@1.0.0",
		"pypi:my-tools==1.0.0":           "uvx my-tools@1.0.0",
		"pypi:my-tools":                  "uvx my-tools",
		"oci:ghcr.io/me/my-tools:1.0.0":  "docker run -i --rm ghcr.io/me/my-tools:1.0.0",
		"oci:localhost:5000/my-tools:v1": "docker run -i --rm localhost:5000/my-tools:v1",
		"oci:me/my-tools" + digest:       "docker run -i --rm me/my-tools" + digest,
	} {
		s := mustPackage(t, text).Server(project.Env{})
		if got := strings.Join(append([]string{s.Command}, s.args()...), " "); got != want || s.Name != "my-tools" {
			t.Errorf("%s: %s, name %s", text, got, s.Name)
		}
	}
	for _, text := range []string{"", "my-tools", "gem:my-tools", "npm:", "npm:-y", "npm:@me", "npm:@me/x@", "npm:a b",
		"npm:../x", "pypi:-r", "pypi:my-tools@", "pypi:a;b", "oci:-v", "oci:--privileged", "oci:a b", "oci:a@sha256:12"} {
		if p, err := ParsePackage(text); err == nil {
			t.Errorf("%q: %v, want an error", text, p)
		}
	}
}

// FuzzPackage: an accepted package is one word that no program parses as an option. String returns the same text.
func FuzzPackage(f *testing.F) {
	f.Add("npm:@me/my-tools@1.0.0")
	f.Add("pypi:my-tools==1.0.0")
	f.Add("oci:localhost:5000/my-tools:v1@sha256:" + strings.Repeat("0a", 32))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePackage(text)
		if err != nil {
			return
		}
		word := p.Name + p.Version
		if strings.HasPrefix(word, "-") || strings.ContainsAny(word, " \t\n'\"$`;&|<>\\") {
			t.Errorf("%q: %q", text, word)
		}
		if again, err := ParsePackage(p.String()); err != nil || *again != *p {
			t.Errorf("%q: %s: %v, %v", text, p, again, err)
		}
	})
}

// programs makes a folder with programs of the given names.
func programs(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// CLI-716: the entry has the path of the program on this machine, and PATH. A file for others has neither.
func TestPackagePath(t *testing.T) {
	dir := programs(t, "pipx", "npx")
	env := project.Env{"PATH": dir + string(filepath.ListSeparator) + "/usr/bin"}
	s := mustPackage(t, "pypi:my-tools@1.0.0").Server(env)
	entry := Find("cursor").entryFor(s)
	want := []string{filepath.Join(dir, "pipx"), "run", "--spec", "my-tools==1.0.0", "my-tools"}
	if got := Find("cursor").words(entry); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := rawjson.TextOf(rawjson.Get(entry, "env"), "PATH"); got != env["PATH"] {
		t.Errorf("PATH is %q", got)
	}
	s = mustPackage(t, "npm:my-tools").Server(env)
	r := Request{Client: Find("cursor"), Server: s, Scope: ProjectScope}
	if text := string(r.Client.entryFor(r.forFile())); !strings.Contains(text, `"npx"`) || strings.Contains(text, dir) {
		t.Errorf("%s", text)
	}
	if list := Find("cursor").Warnings(s); list != nil {
		t.Errorf("%q", list)
	}
	if list := Find("cursor").Warnings(s.Package.Server(nil)); len(list) != 1 {
		t.Errorf("npx is not installed, and the warnings are %q", list)
	}
}

// CLI-716: in the file of every client, --apply adds an entry once and changes only the version later, and --remove
// restores the file.
func TestPackageEntries(t *testing.T) {
	for _, text := range []string{"npm:@me/demo@1.0.0", "pypi:demo@1.0.0", "oci:ghcr.io/me/demo:1.0.0"} {
		for _, c := range clients() {
			r := request(t, c.Name)
			r.Server = mustPackage(t, text).Server(project.Env{})
			entry := apply(t, r, Added).New
			apply(t, r, Unchanged)
			if !strings.Contains(string(entry), "1.0.0") || strings.Contains(string(entry), "$env") {
				t.Errorf("%s: %s", c.Name, entry)
			}
			kept := strings.Replace(string(entry), `"run"`, `"run", "-eA=b"`, 1)
			kept = strings.Replace(kept, `"--fetch-retries=0"`, `"--prefer-offline"`, 1)
			writeFile(t, r.File, kept)
			r.Server = mustPackage(t, strings.Replace(text, "1.0.0", "1.1.0", 1)).Server(project.Env{})
			words := func(text []byte) []string {
				e, _, err := c.open(editors.Open, text)
				if err != nil {
					t.Fatal(err)
				}
				value, _ := e.Get(c.path("demo")...)
				return c.words(value)
			}
			want := words([]byte(strings.ReplaceAll(kept, "1.0.0", "1.1.0")))
			if got := words(apply(t, r, Updated).New); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", c.Name, got, want)
			}
			apply(t, r, Unchanged)
			other := r
			other.Server = mustPackage(t, strings.Replace(text, "demo", "demo2", 1)).Server(project.Env{})
			other.Server.Name = "demo"
			if _, err := Apply(t.Context(), other); err == nil {
				t.Errorf("%s: the entry of another package was replaced", c.Name)
			}
			r.Remove = true
			apply(t, r, Removed)
		}
	}
}

// CLI-717: the section for a README has an entry for each client, and no path of this machine.
func TestPackageInstructions(t *testing.T) {
	text, err := mustPackage(t, "npm:@me/my-tools@1.0.0").Instructions(false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range distinct() {
		if !strings.Contains(text, c.Title) {
			t.Errorf("no entry for %s", c.Title)
		}
	}
	for _, want := range []string{"`command -v npx`", "--package npm:@me/my-tools@1.0.0", `"command": "npx"`,
		`command = "npx"`, "${PWD:-.}"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if text, _ := mustPackage(t, "oci:me/my-tools").Instructions(false); strings.Contains(text, "MCPBASH_ROOTS") {
		t.Error("a container has no folder of the client")
	}
}
