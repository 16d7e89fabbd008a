package completion

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"mcp-bash/pkg/auth"
	"mcp-bash/pkg/files/folder"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/run/code"
	"mcp-bash/pkg/text/shell"
	"mcp-bash/pkg/wire/mcp"
)

// Kinds of sources, as they appear in cursors (T-634).
const (
	manual   = "manual"
	prompt   = "prompt"
	resource = "resource"
	none     = "none"
)

type source struct {
	kind    string
	dir     string          // directory of the script
	rel     string          // path of the script below dir, with slashes; the item's name for none
	timeout int             // seconds; 0 for no timeout
	item    json.RawMessage // the registry entry of a prompt, resource or template
}

func (s *source) key() string { return s.kind + ":" + s.rel }

func (s *source) script(p *project.Project) code.File {
	kind := code.ListedCompletion
	switch s.kind {
	case prompt:
		kind = code.PromptCompletion
	case resource:
		kind = code.ResourceCompletion
	}
	return kind.Below(p, s.rel)
}

// label returns the path of the script for messages.
func (s *source) label(p *project.Project) string { return folder.Label(p.Root, s.script(p).Path()) }

// choose returns the source with the highest precedence (T-610 to T-613).
func (c *Completions) choose(ctx context.Context, q *query) (*source, error) {
	name := q.name
	item, err := c.Registered(ctx, name)
	if plain, ok := scaffolded(q.ref, name); ok && item == nil && err == nil {
		item, err = c.Registered(ctx, plain)
	}
	if err != nil {
		return nil, err
	}
	if item != nil {
		timeout := c.Project.Calls.ListedCompletionTimeout
		if own := rawjson.Get(item, "timeoutSecs"); !rawjson.Absent(own) {
			timeout = rawjson.PositiveInt(own)
		}
		return &source{kind: manual, dir: c.Project.Root, rel: rawjson.TextOf(item, "path"), timeout: timeout}, nil
	}
	if q.template != nil {
		if rel := c.firstExecutable(c.Project.Resources, kinds.TemplateSidecars(name)); rel != "" {
			return &source{kind: resource, dir: c.Project.Resources, rel: rel, item: q.template}, nil
		}
		return &source{kind: none, rel: name}, nil
	}
	for _, k := range [...]struct {
		kind, dir string
		permitted auth.ItemKind
		find      func(context.Context, string) (json.RawMessage, error)
	}{
		{prompt, c.Project.Prompts, auth.Prompt, c.Prompt},
		{resource, c.Project.Resources, auth.Resource, c.Resource},
	} {
		if c.Project.Permit(c.Caller, k.permitted, name, name) != nil {
			continue
		}
		item, err := k.find(ctx, name)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil || item == nil {
			continue // listing reports this error
		}
		if rel := c.sidecar(k.dir, rawjson.TextOf(item, "path")); rel != "" {
			timeout := c.Project.Calls.CompletionTimeout
			return &source{kind: k.kind, dir: k.dir, rel: rel, timeout: timeout, item: item}, nil
		}
	}
	return &source{kind: none, rel: name}, nil
}

// scaffolded returns the name that "scaffold completion" got for an item that "scaffold prompt" or
// "scaffold resource" made with the same name (T-610a).
func scaffolded(ref json.RawMessage, name string) (plain string, ok bool) {
	if rawjson.TextOf(ref, "type") == "ref/prompt" {
		return strings.CutPrefix(name, "prompt.")
	}
	return strings.CutPrefix(name, "resource.")
}

// sidecar returns the script that completes the arguments of a file, or "".
func (c *Completions) sidecar(dir, file string) string {
	if !filepath.IsLocal(filepath.FromSlash(file)) {
		return ""
	}
	return c.firstExecutable(dir, kinds.Sidecars(file))
}

// firstExecutable returns the first path below dir that is executable, or "". Then it logs a file without execute bit
// (T-413).
func (c *Completions) firstExecutable(dir string, paths []string) string {
	found := ""
	for _, rel := range paths {
		file := filepath.Join(dir, filepath.FromSlash(rel))
		switch info, err := os.Stat(file); {
		case err == nil && isExecutable(info):
			return rel
		case err == nil && info.Mode().IsRegular() && found == "":
			found = file
		}
	}
	if found != "" {
		c.Log(mcp.Warning, logger, fmt.Sprintf(
			"Completion script %s is not executable, so nothing is suggested; run chmod +x %s",
			folder.Label(c.Project.Root, found), shell.Quote(found)))
	}
	return ""
}

// isExecutable reports whether a file can be started. Windows has no execute bit (T-49).
func isExecutable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && (info.Mode()&0o111 != 0 || runtime.GOOS == "windows")
}
