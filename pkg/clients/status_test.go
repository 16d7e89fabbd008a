package clients

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
)

// CLI-753: Entries finds each entry that --apply writes, for each client. It reports a missing project or program.
// Removing such an entry needs no --force.
func TestEntries(t *testing.T) {
	for _, c := range clients() {
		place := home(t)
		if c.Printed != nil || c.User.on(place.System) == nil {
			continue
		}
		dir := t.TempDir()
		program, project := filepath.Join(dir, "bin", "mcp-bash"), filepath.Join(dir, "project")
		writeFile(t, program, "")
		writeFile(t, filepath.Join(project, "file"), "")
		place.Root = dir
		r := Request{Client: c, Place: place, Server: Server{Name: "demo", Command: program, Root: project}}
		apply(t, r, Added)
		find := func() Entry {
			t.Helper()
			list, unreadable := Entries(t.Context(), place)
			if len(list) != 1 || len(unreadable) > 0 {
				t.Fatalf("%s: %+v, %v", c.Name, list, unreadable)
			}
			return list[0]
		}
		e := find()
		if e.Client != c || e.Scope != UserScope || e.Name != "demo" || e.Root != project || e.Gone != "" ||
			!e.Starts(program, place.Env) || e.Starts(filepath.Join(project, "file"), place.Env) {
			t.Errorf("%s: %+v", c.Name, e)
		}
		if err := os.Remove(program); err != nil {
			t.Fatal(err)
		}
		if e := find(); e.Gone != "the program "+program+" does not exist" || e.ProjectGone {
			t.Errorf("%s: %+v", c.Name, e)
		}
		if err := os.RemoveAll(project); err != nil {
			t.Fatal(err)
		}
		if e := find(); e.Gone != "the project "+project+" does not exist" || !e.ProjectGone {
			t.Errorf("%s: %+v", c.Name, e)
		}
		r.Server.Root, r.Server.Command = "", "" // as in a folder without a project
		if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), project+", which does not exist;") {
			t.Errorf("%s: %v", c.Name, err)
		}
		r.Remove = true
		apply(t, r, Removed)
		if list, _ := Entries(t.Context(), place); list != nil {
			t.Errorf("%s: %+v", c.Name, list)
		}
	}
}

// CLI-753: entries of other servers, with other commands and with variables of the client are not reported. A file that
// cannot be read is.
func TestEntriesOfOthers(t *testing.T) {
	place := home(t)
	file := filepath.Join(place.Env["HOME"], ".cursor", "mcp.json")
	writeFile(t, file, `{"mcpServers":{"a":{"command":"/none/npx","env":{"MCPBASH_PROJECT_ROOT":"/none"}},"b":1,"c":{},
		"d":{"command":"/none/mcp-bash-wrapper"},"e":{"url":"https://x"},
		"f":{"command":"mcp-bash","env":{"MCPBASH_PROJECT_ROOT":"${workspaceFolder}"}},"g":{"command":"mcp-bash"}}}`)
	list, unreadable := Entries(t.Context(), place)
	if len(list) != 2 || list[0].Name != "f" || list[1].Name != "g" || list[0].Gone+list[1].Gone != "" ||
		unreadable != nil {
		t.Errorf("%+v, %v", list, unreadable)
	}
	r := Request{Client: Find("cursor"), Place: place, Server: Server{Name: "g"}, Remove: true}
	if _, err := Apply(t.Context(), r); err == nil || !strings.Contains(err.Error(), "it has no project") {
		t.Errorf("an entry that works: %v", err)
	}
	for _, text := range []string{`{"mcpServers":`, `[]`, `{"mcpServers":[1]}`, `{"mcpServers":"x"}`} {
		writeFile(t, file, text)
		list, unreadable = Entries(t.Context(), place)
		named := slices.ContainsFunc(unreadable, func(err error) bool {
			e, ok := err.(*cli.Error)
			return ok && strings.Contains(e.Error(), file)
		})
		if list != nil || text[0] == '{' && text[len(text)-1] == ':' && !named {
			t.Errorf("%s: %+v, %v", text, list, unreadable)
		}
	}
}

// CLI-753: entries of a project's file are reported once, although several clients read it.
func TestEntriesOfProject(t *testing.T) {
	place := home(t)
	place.Root = t.TempDir()
	writeFile(t, filepath.Join(place.Root, ".mcp.json"),
		`{"mcpServers":{"demo":{"command":"mcp-bash","env":{"MCPBASH_PROJECT_ROOT":"/none/demo"}}}}`)
	list, unreadable := Entries(t.Context(), place)
	if len(list) != 1 || list[0].Scope != ProjectScope || !list[0].ProjectGone || unreadable != nil {
		t.Errorf("%+v, %v", list, unreadable)
	}
}
