package scaffold

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/rawjson"
	"mcp-bash/pkg/registration"
	"mcp-bash/pkg/registry"
)

// A Registration is what became of the entry of a completion (CLI-609).
type Registration struct {
	File    string // register.json
	Known   bool   // it stood there already
	ToWrite string // the entry to be written by hand; "" when it was done
}

// completionTimeout is how long a scaffolded completion may take, in seconds.
const completionTimeout = 5

// register puts a completion into register.json. One beside a register.sh would end
// what that registers, so the entry is left to the person then.
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
	known, err := registration.NewProject(p, registry.Options{Version: cli.Version}).RegisterCompletion(ctx, name, entry)
	var refused *registration.Error
	var failure *registry.Failure
	switch {
	case errors.As(err, &refused):
		return nil, cli.Failf(cli.CodeInvalid, "%s", refused.Message)
	case errors.As(err, &failure):
		return nil, &cli.Error{Code: cli.CodeTimeout, Message: cli.Line(failure.Reason), Exit: cli.ExitUsage}
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
