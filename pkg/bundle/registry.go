package bundle

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/json/rawjson"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/wire/mcp"
)

type offered struct {
	tools, prompts []json.RawMessage
	resources      int
}

// stage opens the staged tree as a project.
func (b *builder) stage() {
	env := project.Env{}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT"} {
		if v, ok := b.p.Env[name]; ok {
			env[name] = v
		}
	}
	env["MCPBASH_TMP_ROOT"] = b.work.Path
	b.staged = project.Open(filepath.Join(b.work.Path, stageDir, serverDir), env, b.work.Path, func(string) {})
}

// buildRegistry lists the items of the staged project, and adds the registry files, with which a
// server starts without a scan (CLI-1418). It does not change the project.
func (b *builder) buildRegistry(ctx context.Context) error {
	var reasons []string
	catalog := registry.NewCatalog(b.staged, registry.Options{
		Log: func(level mcp.Level, _, message string) {
			if level >= mcp.Warning {
				reasons = append(reasons, message)
			}
		},
		Now: func() time.Time { return b.o.modified },
	})
	report, err := catalog.Refresh(ctx, registry.RefreshOptions{})
	if err != nil {
		return err
	}
	for _, reason := range reasons {
		b.say.warn("%s", reason)
	}
	if !slices.ContainsFunc(report.Kinds, func(k registry.KindReport) bool { return k.Err != nil }) {
		for _, kind := range []*kinds.Kind{kinds.Tools, kinds.Prompts, kinds.Resources} {
			list, err := catalog.List(ctx, kind)
			if err != nil {
				return err
			}
			for _, item := range list.Items {
				switch kind {
				case kinds.Tools:
					b.offered.tools = append(b.offered.tools, item.JSON)
				case kinds.Prompts:
					b.offered.prompts = append(b.offered.prompts, item.JSON)
				default:
					b.offered.resources++
				}
			}
		}
	}
	b.static = b.wantsStatic()
	files := map[string][]byte{}
	for _, k := range report.Kinds {
		text, err := catalog.Portable(k.Kind, b.p.Root, b.o.modified)
		if err = errors.Join(k.Err, err); err != nil && b.static {
			b.say.warn("Failed to pre-generate registries for static mode")
			b.say.note("  %v", err)
			b.say.note("  Bundle will work but may have slower cold start")
			b.static = false
		}
		files[k.Kind.File] = text
	}
	if err := os.RemoveAll(b.staged.Dirs.Registry); err != nil || !b.static {
		return err
	}
	b.say.verbose("Registry cache generated successfully")
	for _, k := range report.Kinds {
		name := serverDir + "/" + cacheDir + "/" + k.Kind.File
		if err := b.content.add(mcpb.Bytes(name, false, files[k.Kind.File])); err != nil {
			return err
		}
	}
	return nil
}

// wantsStatic reports whether the bundle contains the registry, so that the server does not look for items.
func (b *builder) wantsStatic() bool {
	switch strings.ToLower(b.config.text("MCPB_STATIC", "")) {
	case "false", "0", "no", "off":
		return false
	}
	if b.content.has(serverDir+"/server.d/register.sh") && !b.content.has(serverDir+"/server.d/register.json") {
		b.say.warn("the bundle has no registry: server.d/register.sh creates it at each start. " +
			"Set MCPBASH_ALLOW_PROJECT_HOOKS=true in the client, or list the items in server.d/register.json")
		return false
	}
	return true
}

func (o *offered) toolNames() (names []string) {
	for _, t := range o.tools {
		names = append(names, rawjson.TextOf(t, "name"))
	}
	return names
}
