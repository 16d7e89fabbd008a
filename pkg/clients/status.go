package clients

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/files/fsys"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/run/script"
)

// A State is the result of comparing the entry of a server in a client's file with the entry that --apply writes.
type State string

// The states of an entry.
const (
	Configured State = "configured"
	Outdated   State = "outdated"       // --apply would change the entry
	Missing    State = "not configured" // the file has no entry, or does not exist
	Taken      State = "another server" // the name belongs to another server
	Unusable   State = "unusable"       // --apply would reject the file
)

// A Status describes a client on this machine.
type Status struct {
	*Client
	Installed bool   `json:"installed"`        // one of the client's files, or the folder of one, exists
	File      string `json:"file,omitempty"`   // the client's file; "": its path is unknown
	State     State  `json:"state,omitempty"`  // "" if the file's path is unknown or the server has no name
	Scope     Scope  `json:"scope,omitempty"`  // of the file, with a state
	Reason    string `json:"reason,omitempty"` // why the state is Taken or Unusable
}

// Common returns the clients that most people use. They are suggested if no client is installed.
func Common() (list []*Client) {
	for _, name := range []string{"claude-code", "claude-desktop", "cursor", "vscode"} {
		list = append(list, Find(name))
	}
	return list
}

// Survey returns the status of each client for a server, without other names of the same client. It changes no file. A
// server without a name has no state.
func Survey(ctx context.Context, server Server, place Place) (list []Status) {
	for _, c := range distinct() {
		list = append(list, Request{Client: c, Server: server, Place: place, DryRun: true}.status(ctx))
	}
	return list
}

// status checks the user's file, and then the project's file if only that one has the entry.
func (r Request) status(ctx context.Context) Status {
	r.Scope = UserScope
	s := Status{Client: r.Client}
	t, err := r.target()
	if err != nil {
		return s
	}
	s.File, s.Installed = t.path, r.isInstalled()
	if r.Server.Name == "" || r.connects() != nil {
		return s
	}
	s.Scope = UserScope
	s.State, s.Reason = r.state(ctx)
	if s.State != Missing || r.Client.Project == nil {
		return s
	}
	r.Scope = ProjectScope
	if t, err := r.target(); err == nil {
		if state, _ := r.state(ctx); state == Configured || state == Outdated {
			s.File, s.State, s.Scope = t.path, state, ProjectScope
		}
	}
	return s
}

// isInstalled reports whether one of the user's files or its folder exists. The home directory does not count.
func (r Request) isInstalled() bool {
	home := cmp.Or(r.Place.Env["HOME"], r.Place.Env["USERPROFILE"])
	return slices.ContainsFunc(r.Client.User.on(r.Place.System), func(pattern string) bool {
		path, err := r.Place.expand(pattern)
		if err != nil {
			return false
		}
		if _, err := os.Stat(path); err == nil {
			return true
		}
		dir := filepath.Dir(path)
		info, err := os.Stat(dir)
		return err == nil && info.IsDir() && dir != filepath.Clean(home)
	})
}

// state compares the entry in the file with the one that --apply would write.
func (r Request) state(ctx context.Context) (state State, reason string) {
	change, err := Apply(ctx, r)
	if e, ok := errors.AsType[*cli.Error](err); ok && e.Code == cli.CodeExists {
		return Taken, err.Error()
	}
	switch {
	case err != nil:
		return Unusable, err.Error()
	case change.Action == Added:
		return Missing, ""
	case change.Action == Updated:
		return Outdated, ""
	}
	return Configured, ""
}

// An Entry is an entry in a client's file that starts mcp-bash on this machine.
type Entry struct {
	Client *Client
	Scope  Scope
	File   string
	Name   string
	Root   string // the entry's project; "" if the client's folder determines the project
	Gone   string // why the entry cannot work (its program or project is missing), or ""
	// ProjectGone means that the project is missing, not the program.
	ProjectGone bool

	command string
}

// Entries returns the entries that start mcp-bash, and errors for files that cannot be read. It reads the files of the
// user and of the project in place for all clients, each client under one name. It changes no file.
func Entries(ctx context.Context, place Place) (list []Entry, unreadable []error) {
	seen := map[[2]string]bool{} // clients share files
	for _, c := range distinct() {
		for _, scope := range []Scope{UserScope, ProjectScope} {
			r := Request{Client: c, Place: place, Scope: scope, DryRun: true}
			found, err := r.entries(ctx)
			if err != nil {
				unreadable = append(unreadable, err)
			}
			for _, e := range found {
				if id := [2]string{e.File, e.Name}; !seen[id] {
					seen[id] = true
					list = append(list, e)
				}
			}
		}
	}
	return list, unreadable
}

// entries returns the entries of one file.
func (r Request) entries(ctx context.Context) (list []Entry, err error) {
	t, err := r.target()
	if err != nil {
		return nil, nil // the client has no file of this scope
	}
	if _, err := os.Lstat(t.path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	c := r.Client
	t.dry = true
	_, err = t.edit(ctx, c.max, func(b before) ([]byte, error) {
		if len(bytes.TrimSpace(b.text)) == 0 {
			return b.text, nil
		}
		e, _, err := c.open(r.Place.Open, b.text)
		if err != nil {
			return nil, t.failed(fmt.Errorf("not %s: %w", c.Format, err))
		}
		section, err := e.Get(c.Section...)
		if err != nil {
			return nil, t.failed(err)
		}
		for name, entry := range sectionEntries(section) {
			command, root := c.started(entry)
			if command == "" {
				continue
			}
			why, projectGone := gone(command, root)
			list = append(list, Entry{c, r.Scope, t.path, name, root, why, projectGone, command})
		}
		return b.text, nil
	})
	return list, err
}

// sectionEntries yields the entries of a section, which is an object or a list of entries with a name.
func sectionEntries(section json.RawMessage) func(yield func(string, json.RawMessage) bool) {
	if rawjson.KindOf(section) != rawjson.Array {
		return rawjson.All(section)
	}
	return func(yield func(string, json.RawMessage) bool) {
		for entry := range rawjson.Elements(section) {
			if !yield(rawjson.TextOf(entry, "name"), entry) {
				return
			}
		}
	}
}

// started returns the command and the project of an entry that starts mcp-bash. For other entries, the command is "".
func (c *Client) started(entry json.RawMessage) (command, root string) {
	command, _ = c.commandOf(entry)
	base := path.Base(strings.ReplaceAll(command, `\`, "/"))
	if strings.TrimSuffix(base, ".exe") != "mcp-bash" {
		return "", ""
	}
	env, _ := field(c.Entry, "$env")
	return command, rawjson.TextOf(rawjson.Get(entry, env), rootVariable)
}

// gone returns the reason why an entry cannot work, or "", and whether its project is missing. Paths with variables of
// a client do not count.
func gone(command, root string) (why string, projectGone bool) {
	missing := func(path string) bool {
		_, err := os.Stat(path)
		return filepath.IsAbs(path) && errors.Is(err, fs.ErrNotExist)
	}
	switch {
	case missing(root):
		return fmt.Sprintf("the project %s does not exist", root), true
	case missing(command):
		return fmt.Sprintf("the program %s does not exist", command), false
	}
	return "", false
}

// Starts reports whether an entry starts the same file as the command, which is a path.
func (e Entry) Starts(command string, env project.Env) bool {
	path := e.command
	if !filepath.IsAbs(path) {
		path = cmp.Or(script.LookPath(path, env["PATH"]), command) // an unknown program may be this one
	}
	return fsys.Same(path, command)
}
