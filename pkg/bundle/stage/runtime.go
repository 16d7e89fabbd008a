package stage

import (
	"context"
	"errors"
	"slices"

	"mcp-bash/pkg/bundle/runtimes"
	"mcp-bash/pkg/cli"
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

// AddRuntime adds the server's programs for the chosen systems, and the scripts that start them.
func (s *Stage) AddRuntime(ctx context.Context) error {
	if err := s.FindRuntimes(ctx); err != nil {
		return err
	}
	isHost := func(bin runtimes.Binary) bool { return bin.Target == runtimes.Host }
	if !s.Apart && len(s.Binaries) < len(s.Targets) && !slices.ContainsFunc(s.Binaries, isHost) {
		s.Fault("No runtime for: %s", runtimes.Host)
		return s.Fail(ErrRuntime)
	}
	files := append(runtimes.Layout(ServerDir+"/"+runtimes.Dir, s.Tree, s.Binaries), runtimes.Launcher(EntryPoint))
	size := int64(0)
	for _, f := range files {
		size += f.Size
		if err := s.Content.Add(f); err != nil {
			s.Fault("%v", err)
			return s.Fail(ErrValidation)
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

// RunsOn reports whether the product is for a system, by the name of the system in Go.
func (s *Stage) RunsOn(system string) bool {
	return slices.ContainsFunc(s.Supported(), func(t runtimes.Target) bool { return t.OS == system })
}

// Platforms returns the systems that the product is for, by their names in bundles.
func (s *Stage) Platforms() (list []string) {
	for _, platform := range runtimes.Platforms {
		if slices.ContainsFunc(s.Supported(), func(t runtimes.Target) bool { return t.Platform() == platform }) {
			list = append(list, platform)
		}
	}
	return list
}
