package clients

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"mcp-bash/pkg/cli"
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

// A Status describes a client on this machine (CLI-706).
type Status struct {
	*Client
	Installed bool   `json:"installed"`        // the client's file is there, or the folder that the client makes for it
	File      string `json:"file,omitempty"`   // the client's file; "": its place is unknown
	State     State  `json:"state,omitempty"`  // "": the file's place is unknown, or no server was asked about
	Scope     Scope  `json:"scope,omitempty"`  // of the file, with a state
	Reason    string `json:"reason,omitempty"` // why the state is Taken or Unusable
}

// common are the clients that are suggested if no client is installed.
var common = []string{"claude-code", "claude-desktop", "cursor", "vscode"}

// Common returns the clients that most people use.
func Common() (list []*Client) {
	for _, name := range common {
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

// status looks into the user's file, and then into the project's if only that has the entry.
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
	if s.State != Missing || r.Client.project == nil {
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
	return slices.ContainsFunc(r.Client.user.on(r.Place.System), func(pattern string) bool {
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
