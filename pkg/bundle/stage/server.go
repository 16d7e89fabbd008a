package stage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mcp-bash/pkg/bundle/mcpb"
	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/registry/lock"
	"mcp-bash/pkg/wire/mcp"
)

// FindRuntimes finds the server's programs for the chosen systems.
func (s *Stage) FindRuntimes(ctx context.Context) error {
	find := runtimes.Source{
		Env: s.Project.Env, RuntimeDir: s.RuntimeDir, Home: s.Home, Offline: s.Offline, Runner: s.runner,
		Work: s.WorkDir("built"), Note: func(line string) { s.Detail("%s", line) }, Bar: s.Bar,
	}
	targets := s.Targets
	if s.Apart {
		targets = []runtimes.Target{runtimes.Host}
	}
	var err error
	s.Binaries, err = find.Find(ctx, targets)
	var missing *runtimes.MissingError
	if !errors.As(err, &missing) {
		return err
	}
	fatal := s.AllTargets || s.Strict || len(s.Binaries) == 0
	headline, detail := s.Warn, s.Detail
	if fatal {
		headline, detail = s.Fault, func(format string, args ...any) { s.Note("  "+format, args...) }
	}
	headline("%v", missing)
	for _, reason := range missing.Reasons {
		detail("%s", reason)
	}
	s.Note("  %s", missing.Searched())
	for _, way := range missing.Ways {
		s.Note("  → %s", way)
	}
	if fatal {
		return s.Fail(ErrRuntime)
	}
	return nil
}

// addRuntime adds the server's programs for the chosen systems, and the scripts that start them.
func (s *Stage) addRuntime(ctx context.Context) error {
	if err := s.FindRuntimes(ctx); err != nil {
		return err
	}
	isHost := func(bin runtimes.Binary) bool { return bin.Target == runtimes.Host }
	if !s.Apart && len(s.Binaries) < len(s.Targets) && !slices.ContainsFunc(s.Binaries, isHost) {
		return s.Reject(ErrRuntime, &runtimes.MissingError{Targets: []runtimes.Target{runtimes.Host}})
	}
	files := append(runtimes.Layout(ServerDir+"/"+runtimes.Dir, s.Tree, s.Binaries), runtimes.Launcher(EntryPoint))
	size := int64(0)
	for _, f := range files {
		size += f.Size
		if err := s.Content.Add(f); err != nil {
			return s.Reject(ErrValidation, err)
		}
	}
	if !s.Apart {
		s.Done("Bundled framework (%s)", cli.Size(size))
	}
	return nil
}

// Supported returns the systems that the product is for.
func (s *Stage) Supported() (list []runtimes.Target) {
	if s.Apart {
		return s.Targets
	}
	for _, bin := range s.Binaries {
		list = append(list, bin.Target)
	}
	return list
}

// Platforms returns the systems that the product is for, by their names in bundles.
func (s *Stage) Platforms() (list []string) {
	for _, t := range s.Supported() {
		list = append(list, t.Platform())
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// buildRegistry opens the staged tree as a project, and lists its items. It adds the registry files, with which a
// server starts without a scan. It does not change the project.
func (s *Stage) buildRegistry(ctx context.Context) error {
	env := project.Env{}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT"} {
		if v, ok := s.Project.Env[name]; ok {
			env[name] = v
		}
	}
	env["MCPBASH_TMP_ROOT"] = s.work.Path
	s.Staged = project.Open(filepath.Join(s.work.Path, "stage", ServerDir), env, s.work.Path, func(string) {})
	var reasons []string
	catalog := registry.NewCatalog(s.Staged, registry.Options{
		Log: func(level mcp.Level, _, message string) {
			if level >= mcp.Warning {
				reasons = append(reasons, message)
			}
		},
		Now: func() time.Time { return s.Modified },
	})
	report, err := catalog.Refresh(ctx, registry.RefreshOptions{})
	if err != nil {
		return err
	}
	for _, reason := range reasons {
		s.Warn("%s", reason)
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
					s.Tools = append(s.Tools, item.JSON)
				case kinds.Prompts:
					s.Prompts = append(s.Prompts, item.JSON)
				default:
					s.resources++
				}
			}
		}
	}
	if err := s.addLock(ctx, catalog); err != nil {
		return err
	}
	s.Static = s.wantsStatic()
	files := map[string][]byte{}
	for _, k := range report.Kinds {
		text, err := catalog.Portable(k.Kind, s.Project.Root, s.Modified)
		if err = errors.Join(k.Err, err); err != nil && s.Static {
			s.Warn("Failed to pre-generate registries for static mode")
			s.Note("  %v", err)
			s.Note("  Bundle will work but may have slower cold start")
			s.Static = false
		}
		files[k.Kind.File] = text
	}
	if err := os.RemoveAll(s.Staged.Dirs.Registry); err != nil || !s.Static {
		return err
	}
	s.Detail("Registry cache generated successfully")
	for _, k := range report.Kinds {
		name := ServerDir + "/" + cacheDir + "/" + k.Kind.File
		if err := s.Content.Add(mcpb.Bytes(name, false, files[k.Kind.File])); err != nil {
			return err
		}
	}
	return nil
}

// addLock adds the lock of the staged project, and replaces one of the project. It warns if a file cannot be locked.
func (s *Stage) addLock(ctx context.Context, catalog *registry.Catalog) error {
	pinned, err := lock.Of(ctx, s.Staged, catalog, s.Project.Root)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		s.Warn("no %s: %v", lock.FileName, err)
		return nil
	}
	return s.Content.Add(mcpb.Bytes(ServerDir+"/"+lock.FileName, false, pinned.AppendJSON(nil)))
}

// wantsStatic reports whether the bundle contains the registry, so that the server does not look for items.
func (s *Stage) wantsStatic() bool {
	switch strings.ToLower(s.Config.conf["MCPB_STATIC"]) {
	case "false", "0", "no", "off":
		return false
	}
	if s.Content.Has(ServerDir+"/server.d/register.sh") && !s.Content.Has(ServerDir+"/server.d/register.json") {
		s.Warn("the bundle has no registry: server.d/register.sh creates it at each start. " +
			"Set MCPBASH_ALLOW_PROJECT_HOOKS=true in the client, or list the items in server.d/register.json")
		return false
	}
	return true
}
