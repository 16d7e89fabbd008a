package policy

import (
	"slices"

	"mcp-bash/pkg/cli"
)

// Allow has the options of a command with which a person lets tools run (CLI-802).
type Allow struct {
	names     []string
	self, all bool
}

// AddTo adds the options to those of a command. tools completes the names of tools.
func (a *Allow) AddTo(f *cli.Flags, tools cli.Completion) {
	f.Bool(&a.self, "allow-self", "let this tool run, even if MCPBASH_TOOL_ALLOWLIST does not include it")
	f.Strings(&a.names, "allow", "TOOL", "let TOOL run; may be repeated").Completes(tools).
		Missing("--allow requires a tool name")
	f.Bool(&a.all, "allow-all", "let every tool run")
}

// Check returns an error of wrong usage for an empty name.
func (a *Allow) Check() error {
	if slices.Contains(a.names, "") {
		return cli.Usagef("--allow requires a tool name")
	}
	return nil
}

// List returns the names that replace the operator's list for calls of some tools, or nil without such an option.
func (a *Allow) List(tools ...string) []string {
	switch {
	case a.all:
		return []string{"*"}
	case a.self:
		return slices.Concat(tools, a.names)
	}
	return a.names
}
