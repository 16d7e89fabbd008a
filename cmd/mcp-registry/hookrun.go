package main

import (
	"errors"
	"path/filepath"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/project/tree"
	"mcp-bash/pkg/registry"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/declare"
	"mcp-bash/pkg/run/confine"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
)

// A hookRun is the environment of one run of register.sh. It exists only while the script runs.
type hookRun struct {
	p      *project.Project
	warn   func(line string)
	state  *project.State
	runner script.Runner
}

func (h *hookRun) options(s cli.Streams, quiet bool) registry.Options {
	level := h.p.Logging.Level
	if quiet || h.p.Logging.Quiet {
		level = max(level, mcp.Err)
	}
	log := logTo(s, level)
	return registry.Options{
		Log: log, Warn: h.warn,
		Runner: &h.runner, HookEnv: h.env, Private: h.dir,
		Confine: func(spec *script.Spec, files ...string) (release func(), err error) {
			confined := sandbox.New(sandbox.Config{
				Project: h.p, Mode: access.EffectiveConfinement(h.p, log), Kernel: confine.Offered, Runner: &h.runner,
				State: h.state, Log: log,
			})
			return confined.Hook(filepath.Join(h.p.Server, declare.HookFile))(spec, files...)
		},
	}
}

func (h *hookRun) dir() (string, error) {
	if h.state == nil {
		state, dir, err := project.NewState(h.p.Env, &h.p.Settings)
		if err == nil {
			state.UseMCPBash(h.p)
			err = state.Make()
		}
		if err != nil {
			return "", errors.New("unable to create state directory: " + dir)
		}
		h.state = state
	}
	return h.state.Dir, nil
}

// env returns the environment of register.sh.
func (h *hookRun) env() project.Env {
	dir, err := h.dir()
	helper := ""
	if err == nil {
		helper = h.state.Helper()
	}
	homeDir := ""
	home, err := project.FindHome(h.p.Env, tree.Embedded, h.warn)
	if err == nil {
		homeDir, err = home.Dir, home.Make()
	}
	if err != nil {
		h.warn(err.Error())
	}
	return h.p.ForHooks(h.p.Common(homeDir, helper, h.p.JSONTool(helper, h.warn)), dir)
}

// remove ends processes that the hook left running (P-908), and removes the private directory.
func (h *hookRun) remove() {
	if h.state == nil {
		return
	}
	h.state.EndScripts(&h.runner, h.warn)
	switch {
	case h.p.Preserve:
		h.state.Release()
	default:
		h.state.Remove()
	}
}
