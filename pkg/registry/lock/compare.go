package lock

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/text/merge"
)

// A Concern is the reason why a change matters.
type Concern string

// The concerns.
const (
	reads Concern = "read by models"
	runs  Concern = "runs"
	may   Concern = "permissions"
)

// Concerns are all concerns, in the order in which people read them.
var Concerns = []Concern{reads, runs, may}

// A Change is the difference of one member of an item between two locks.
type Change struct {
	Kind, Name    string          // of the item
	Member        string          // "description", "files/tools/add/tool.sh", or "" for a whole item
	Before, After json.RawMessage // nil: it is absent
	Concern       Concern
}

// Item returns the item for people: "tool add", or "project".
func (c *Change) Item() string { return (&Item{Kind: c.Kind, Name: c.Name}).Label() }

// Label returns the kind and the name for people: "tool add", or "project".
func (i *Item) Label() string {
	if i.Kind == Project {
		return Project
	}
	noun := "skill"
	for _, kind := range kinds.All {
		if kind.Key == i.Kind {
			noun = kind.Noun
		}
	}
	return noun + " " + i.Name
}

// Lines returns the changed lines of a member: "- " and an old one, or "+ " and a new one.
func (c *Change) Lines() []string { return merge.Changed(textOf(c.Before), textOf(c.After)) }

// concerns has the members that are not for models.
var concerns = map[string]Concern{
	"path": runs, "provider": runs, "entrypoint": runs, "kind": runs, "requires": runs, "trial": runs, "output": runs,
	"capabilities": may, "confine": may, "securityLevel": may, "env": may, "scopes": may, "roots": may, "timeoutSecs": may,
	"maxTimeoutSecs": may, "progressExtendsTimeout": may, "validateInput": may, "csp": may, "permissions": may,
	"domain": may, "longRunning": may, "largeResultBytes": may,
}

// concernOf returns the concern of a member. Most members are texts for models.
func concernOf(member string) Concern {
	if path, isFile := strings.CutPrefix(member, filesMember+"/"); isFile {
		if path == "server.d/policy.sh" || path == "server.d/env.sh" || strings.HasPrefix(path, "config/") {
			return may
		}
		return runs
	}
	if c := concerns[strings.TrimPrefix(member, "meta/")]; c != "" {
		return c
	}
	return reads
}

// Compare returns the changes from one lock to another, in the order of the file. An item that only one lock has is
// one change.
func Compare(before, after *Lock) (list []Change) {
	all := slices.Clone(before.Items)
	for _, i := range after.Items {
		if before.Find(i.Kind, i.Name) == nil {
			all = append(all, i)
		}
	}
	for _, i := range newLock(all).Items {
		list = append(list, compareItem(i, before.Find(i.Kind, i.Name), after.Find(i.Kind, i.Name))...)
	}
	return list
}

func compareItem(i Item, before, after *Item) (list []Change) {
	if before == nil || after == nil {
		c := Change{Kind: i.Kind, Name: i.Name, Concern: reads}
		if before != nil {
			c.Before = before.JSON
		} else {
			c.After = after.JSON
		}
		return []Change{c}
	}
	add := func(member string, a, b json.RawMessage) {
		if !rawjson.Equal(a, b) {
			list = append(list, Change{i.Kind, i.Name, member, a, b, concernOf(member)})
		}
	}
	compareMembers(before.JSON, after.JSON, func(name string, a, b json.RawMessage) {
		if name != filesMember && name != "meta" {
			add(name, a, b)
			return
		}
		compareMembers(a, b, func(inner string, a, b json.RawMessage) { add(name+"/"+inner, a, b) })
	})
	return list
}

// compareMembers calls f with each member of two objects, by name.
func compareMembers(a, b json.RawMessage, f func(name string, a, b json.RawMessage)) {
	var names []string
	for _, v := range []json.RawMessage{a, b} {
		for name := range rawjson.All(v) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		f(name, rawjson.Get(a, name), rawjson.Get(b, name))
	}
}

// Print prints changes for people, those of an item together.
func Print(w io.Writer, changes []Change) {
	last := ""
	for i := range changes {
		c := &changes[i]
		if item := c.Item(); item != last {
			last = item
			cli.Printf(w, "%s\n", item)
		}
		switch {
		case c.Member == "" && c.Before == nil:
			fmt.Fprintln(w, "  added")
			continue
		case c.Member == "":
			fmt.Fprintln(w, "  removed")
			continue
		}
		cli.Printf(w, "  %s (%s)\n", c.Member, string(c.Concern))
		for _, line := range c.Lines() {
			cli.Printf(w, "    %s\n", line)
		}
	}
}

// textOf returns a value as text with lines. An absent value is "".
func textOf(v json.RawMessage) string {
	if text, ok := rawjson.Text(v); ok {
		return text
	}
	if v == nil {
		return ""
	}
	return string(rawjson.AppendIndent(nil, v, 0))
}
