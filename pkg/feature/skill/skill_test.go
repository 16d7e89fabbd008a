package skill

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"mcp-bash/pkg/provider"
	"mcp-bash/pkg/wire/mcp"
)

// project writes files below a skills folder, and returns the folder.
func project(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "skills")
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text),
			0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const plainText = "---\nname: a\ndescription: Does a.\n---\n\n# A\n"

// SK-10, SK-11: the front matter has the types of YAML's core schema.
func TestFrontmatter(t *testing.T) {
	for text, want := range map[string]string{
		"name: a":                      `{"name":"a"}`,
		"a: 2024-01-01":                `{"a":"2024-01-01"}`,
		"a: yes\nb: on\nc: no":         `{"a":"yes","b":"on","c":"no"}`,
		"a: True\nb: FALSE\nc: ~\nd:":  `{"a":true,"b":false,"c":null,"d":null}`,
		"a: 012\nb: 0o17\nc: 0x1F":     `{"a":12,"b":15,"c":31}`,
		"a: 1_000\nb: 0b1\nc: +5":      `{"a":"1_000","b":"0b1","c":5}`,
		"a: .5\nb: 5.\nc: 1e3\nd: 1.0": `{"a":0.5,"b":5,"c":1000,"d":1}`,
		"a: 123456789012345678901234":  `{"a":123456789012345678901234}`,
		"a: '1'\nb: \"true\"":          `{"a":"1","b":"true"}`,
		"a: |\n  x\n  y\n":             `{"a":"x\ny\n"}`,
		"a: >-\n  x\n  y\n":            `{"a":"x y"}`,
		"a: [x, 1, {b: c}]":            `{"a":["x",1,{"b":"c"}]}`,
		"metadata:\n  x:\n  - 1\n":     `{"metadata":{"x":[1]}}`,
		"a: x # note":                  `{"a":"x"}`,
		"<<: x":                        `{"<<":"x"}`,
	} {
		got, err := parseFrontmatter([]byte("---\n" + text + "\n---\nbody"))
		var a, b any
		if err != nil || json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil ||
			!reflect.DeepEqual(a, b) {
			t.Errorf("%q: %s, %v; want %s", text, got, err, want)
		}
	}
	got, err := parseFrontmatter([]byte("\ufeff---\r\nname: a\r\n---\r\n"))
	if err != nil || string(got) != `{"name":"a"}` {
		t.Errorf("a byte order mark: %s, %v", got, err)
	}
	for text, want := range map[string]string{
		"":                         `the first line must be "---"`,
		"# A\n---\nname: a\n---\n": `the first line must be "---"`,
		"---\nname: a\n":           `no last line "---"`,
		"---\n- a\n---\n":          "is not a mapping",
		"---\n---\n":               "is not a mapping",
		"---\na: &x 1\n---\n":      "line 2: anchors",
		"---\nb: 1\na: *x\n---\n":  "is not YAML",
		"---\na: !!str 1\n---\n":   "line 2: tags",
		"---\na: 1\na: 2\n---\n":   "is repeated",
		"---\na: .nan\n---\n":      "JSON has no number",
		"---\na: -.inf\n---\n":     "JSON has no number",
		"---\na: 1e999\n---\n":     "JSON has no number",
		"---\n[a]: 1\n---\n":       "a key must be",
		"---\na: \xff\n---\n":      "UTF-8",
		"---\na: [\n---\n":         "is not YAML",
		"---\na: " + strings.Repeat("[", 30) + strings.Repeat("]", 30) + "\n---\n": "levels",
		"---\na: " + strings.Repeat("x", maxFrontmatter) + "\n---\n":               "more than 65536 bytes",
	} {
		if got, err := parseFrontmatter([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %s, %v; want %s", text, got, err, want)
		}
	}
	if got, err := parseFrontmatter([]byte("---\r\nname: a\r\n---  \r\nx")); err != nil ||
		string(got) != `{"name":"a"}` {
		t.Errorf("%s, %v", got, err)
	}
}

func FuzzFrontmatter(f *testing.F) {
	for _, text := range []string{plainText, "---\na: [x, {b: 1}]\n---\n", "---\na: |\n x\n---",
		"---\n? a\n: b\n---\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parseFrontmatter(text)
		var object map[string]any
		if err == nil && json.Unmarshal(got, &object) != nil {
			t.Errorf("%q: %s", text, got)
		}
	})
}

// SK-10 to SK-14: an incomplete or unusual skill is not served.
func TestFaults(t *testing.T) {
	many, deep := map[string]string{}, "skill/"
	for i := range maxFiles {
		many[fmt.Sprintf("skill/%d", i)] = ""
	}
	for range maxLevels + 1 {
		deep += "d/"
	}
	with := func(text string) map[string]string { return map[string]string{"skill/SKILL.md": text} }
	add := func(files map[string]string, name, text string) map[string]string { files[name] = text; return files }
	valid := strings.Replace(plainText, "name: a", "name: skill", 1)
	for name, tc := range map[string]struct {
		files map[string]string
		want  Problem
	}{
		"nothing wrong":  {with(valid), ""},
		"no text":        {map[string]string{"skill/x": ""}, noText},
		"lower case":     {map[string]string{"skill/skill.md": valid}, noText},
		"front matter":   {with("# A"), badFrontmatter},
		"no name":        {with("---\ndescription: x\n---\n"), badName},
		"another name":   {with(plainText), badName},
		"name is number": {with("---\nname: 1\ndescription: x\n---\n"), badName},
		"no description": {with("---\nname: skill\n---\n"), badDescription},
		"description": {with("---\nname: skill\ndescription: " + strings.Repeat("é",
			maxDescription) + "\n---\n"), ""},
		"too long": {with("---\nname: skill\ndescription: " + strings.Repeat("é",
			maxDescription+1) + "\n---\n"), badDescription},
		"many files":      {add(many, "skill/SKILL.md", valid), badFiles},
		"deep":            {add(with(valid), deep+"x", ""), badFiles},
		"large":           {add(with(valid), "skill/x", strings.Repeat("x", maxBytes-len(valid)+1)), badFiles},
		"as large as can": {add(with(valid), "skill/x", strings.Repeat("x", maxBytes-len(valid))), ""},
	} {
		list, faults, err := Read(project(t, tc.files))
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case tc.want == "" && (len(list) != 1 || len(faults) != 0), tc.want != "" && (len(list) != 0 || len(faults) != 1 ||
			faults[0].Problem != tc.want || faults[0].Skill != "skill"):
			t.Errorf("%s: %d skills, %v", name, len(list), faults)
		}
	}
	upper := project(t, map[string]string{"Skill/SKILL.md": strings.Replace(plainText, "name: a", "name: Skill", 1)})
	if list, faults, _ := Read(upper); len(list) != 0 || len(faults) != 1 || faults[0].Problem != badName {
		t.Error(list, faults)
	}
	all := map[string]string{}
	for i := range maxSkills + 2 {
		all[fmt.Sprintf("s%d/SKILL.md", i)] = strings.Replace(plainText, "name: a", fmt.Sprintf("name: s%d", i), 1)
	}
	if list, faults, _ := Read(project(t, all)); len(list) != maxSkills || len(faults) != 1 {
		t.Error(len(list), faults)
	}
	if list, faults, err := Read(filepath.Join(t.TempDir(), "skills")); len(list)+len(faults) != 0 || err != nil {
		t.Error(list, faults, err)
	}
}

// SK-12: links and other irregular files are never followed.
func TestIrregularFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a permission there")
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte(plainText), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, link := range []struct{ at, to string }{
		{"a/x", secret}, {"a/x", "SKILL.md"}, {"a/d", ".."}, {"b", "a"}, {"a/dev", "/dev/zero"},
	} {
		dir := project(t, map[string]string{"a/SKILL.md": plainText})
		if err := os.Symlink(link.to, filepath.Join(dir, link.at)); err != nil {
			t.Fatal(err)
		}
		_, faults, err := Read(dir)
		if err != nil || len(faults) != 1 || faults[0].Problem != irregular {
			t.Errorf("%s: %v, %v", link.at, faults, err)
		}
	}
	// A file that becomes a link after the list was made is not read.
	dir := project(t, map[string]string{"a/SKILL.md": plainText, "a/x": "x"})
	f := Open(dir, time.Hour, nil)
	if data, _, err := f.ReadTyped(t.Context(), "skill://a/x", 100); err != nil || string(data) != "x" {
		t.Errorf("%s, %v", data, err)
	}
	at := filepath.Join(dir, "a", "x")
	if err := errors.Join(os.Remove(at), os.Symlink(secret, at)); err != nil {
		t.Fatal(err)
	}
	if data, _, err := f.ReadTyped(t.Context(), "skill://a/x", 1000); err == nil {
		t.Errorf("%s was read", data)
	}
}

// SK-21 to SK-24: entries, folders and contents.
func TestFolder(t *testing.T) {
	dir := project(t, map[string]string{
		"a/SKILL.md": plainText, "a/ref/deep/one.md": "1", "a/ref/two é.txt": "2", "a/.hidden": "h", "a/.git/x": "y",
		"a/bin.dat": "\x00\xff", "README.md": "not a skill", "b/SKILL.md": "broken",
	})
	var logged []string
	f := Open(dir, 0, func(level mcp.Level, logger, text string) { logged = append(logged, text) })
	list, err := f.List()
	if err != nil || len(list.Skills) != 1 {
		t.Fatal(list, err)
	}
	var entry struct {
		URI         string
		Frontmatter map[string]string
		Resources   []struct {
			URI, Digest string
			Size        int
		}
	}
	if err := json.Unmarshal(list.Skills[0].Entry(), &entry); err != nil {
		t.Fatal(err)
	}
	if entry.URI != "skill://a/SKILL.md" || entry.Frontmatter["description"] != "Does a." ||
		len(entry.Resources) != 4 ||
		entry.Resources[3].URI != "skill://a/ref/two%20%C3%A9.txt" || entry.Resources[3].Size != 1 ||
		entry.Resources[3].Digest != "sha256:d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35" {
		t.Errorf("%+v", entry)
	}
	if list.Find(entry.URI) != list.Skills[0] || list.Find("skill://a/bin.dat") != nil ||
		list.Find("skill://b/SKILL.md") != nil {
		t.Error("Find")
	}
	resources, err := json.Marshal(list.Resources())
	if err != nil || string(resources) != `[{"uri":"skill://a/SKILL.md","name":"a","description":"Does a.","size":42,`+
		`"mimeType":"text/markdown"}]` {
		t.Errorf("%s, %v", resources, err)
	}
	for uri, want := range map[string]string{
		"skill://a": `[{"uri":"skill://a/SKILL.md","name":"a","description":"Does a.","size":42,` +
			`"mimeType":"text/markdown"},` +
			`{"uri":"skill://a/bin.dat","name":"bin.dat","size":2},` +
			`{"uri":"skill://a/ref","name":"ref","mimeType":"inode/directory"}]`,
		"skill://a/ref/": `[{"uri":"skill://a/ref/deep","name":"deep","mimeType":"inode/directory"},` +
			`{"uri":"skill://a/ref/two%20%C3%A9.txt","name":"two é.txt","size":1,"mimeType":"text/plain"}]`,
		"skill://a/SKILL.md":    "null",
		"skill://b":             "null",
		"skill://":              "null",
		"skill://a/../a":        "null",
		"skill://a/ref%2fdeep":  "null",
		"skill://a/ref?x":       "null",
		"file:///etc":           "null",
		"skill://a//ref":        "null",
		"skill://a/ref/deep/..": "null",
	} {
		got, err := json.Marshal(list.Children(uri))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", uri, got, err)
		}
	}
	for uri, want := range map[string]string{"skill://a/ref/deep/one.md": "1", "skill://a/bin.dat": "\x00\xff"} {
		if data, err := f.Read(t.Context(), uri, 100); string(data) != want || err != nil {
			t.Errorf("%s: %q, %v", uri, data, err)
		}
	}
	for _, uri := range []string{"skill://a/.hidden", "skill://a/ref", "skill://a",
		"skill://b/SKILL.md", "skill://a/%2e%2e/README.md",
		"skill://a/../README.md", "skill://a/nothing", "skill://README.md", "skill:a", "skill://a/SKILL.md/"} {
		if data, err := f.Read(t.Context(), uri, 100); err != errNotFound {
			t.Errorf("%s: %q, %v", uri, data, err)
		}
	}
	var failure *provider.Failure
	if _, err := f.Read(t.Context(), "skill://a/SKILL.md", 10); !errors.As(err, &failure) ||
		failure.Status != provider.TooLarge {
		t.Error(err)
	}
	if want := "skills/b/SKILL.md: the first line must be \"---\"; the skill is not served"; len(logged) != 1 ||
		logged[0] != want {
		t.Errorf("%q", logged)
	}
	if again, err := f.List(); err != nil || again != list {
		t.Error("an unchanged list is made again")
	}
	if err := os.WriteFile(filepath.Join(dir, "a", "bin.dat"), []byte("\x00\xfe"), 0o644); err != nil {
		t.Fatal(err)
	}
	if changed, err := f.List(); err != nil || changed.Hash == list.Hash {
		t.Error("a change is not seen")
	}
	if Open(filepath.Join(dir, "nothing"), 0, nil) != nil {
		t.Error("a project without skills has some")
	}
}

func FuzzURI(f *testing.F) {
	for _, uri := range []string{"skill://a/SKILL.md", "skill://a/ref/", "skill://a/%2e%2e/x",
		"skill:///", "skill://a/%00"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		if name, file, ok := parseURI(uri); ok && (strings.Contains(name, "/") ||
			strings.Contains("/"+file+"/", "/../")) {
			t.Errorf("%q: %q, %q", uri, name, file)
		}
	})
}
