package scaffold

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/registration"
)

// A Registration describes how a completion was registered (CLI-609).
type Registration struct {
	File    string // register.json
	Known   bool   // the entry already existed
	ToWrite string // the entry that must be added by hand, or "" if it was written
}

// completionTimeout is how long a scaffolded completion may take, in seconds.
const completionTimeout = 5

// register adds a completion to register.json. If there is only a register.sh, a
// register.json would disable it, so register returns the entry for the person to add.
func register(ctx context.Context, p *project.Project, name, script string, warn func(string)) (*Registration, error) {
	var b rawjson.Builder
	entry := b.Object().Name("name").String(name).Name("path").String(script).
		Name("timeoutSecs").Int(completionTimeout).End().Bytes()
	r := &Registration{File: filepath.Join(p.Server, "register.json")}
	if !isThere(r.File) && isThere(filepath.Join(p.Server, "register.sh")) {
		warn("register.json takes precedence over " + relative(p, filepath.Join(p.Server, "register.sh")) +
			"; have that one register the completion, or move everything to register.json")
		r.ToWrite = string(entry)
		return r, nil
	}
	known, err := registration.NewProject(p, registry.Options{}).RegisterCompletion(ctx, name, entry)
	var refused *registration.Error
	var failure *registry.Failure
	switch {
	case errors.As(err, &refused):
		return nil, cli.Failf(cli.CodeInvalid, "%s", refused.Message)
	case errors.As(err, &failure):
		return nil, &cli.Error{Code: cli.CodeTimeout, Cause: failure, Exit: cli.ExitUsage}
	case err != nil:
		return nil, err
	}
	r.Known = known
	return r, nil
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
