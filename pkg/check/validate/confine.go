package validate

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate/internal/bash32"
	"mcp-bash/pkg/engine"
	"mcp-bash/pkg/project"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/wire/mcp"
)

// confine checks the entries of a tool's "confine" (CF-17).
func (c *check) confine(doc json.RawMessage, label string) {
	needs, err := access.DeclarationOf(doc)
	if err != nil {
		return // reported as unreadable
	}
	faults, err := c.sandbox().Faults(&needs)
	if err != nil {
		c.at("confine.no_effect", label, err.Error())
	}
	for _, f := range faults {
		id := "confine.no_effect"
		if f.Missing() {
			id = "confine.missing"
		}
		c.at(id, label, fmt.Sprintf("confine.%s: %s %v", f.List, f.Entry, f.Err))
	}
}

// declare adds the declarations of tools to their scripts.
func (c *check) declare(list []shellScript) {
	for _, o := range c.offered.items[kinds.Tools] {
		needs, err := access.DeclarationOf(o.json)
		if err != nil || !needs.Given {
			continue
		}
		file := abs(c.p.Tools, path.Clean(o.path))
		for i := range list {
			if list[i].tool == file {
				list[i].needs = &needs
			}
		}
	}
}

// tooSmall returns the commands of a script that its declaration does not permit (CLI-1065).
func (c *check) tooSmall(s *shellScript, parsed *bash32.Script) (list []finding.Finding) {
	if s.needs == nil {
		return nil
	}
	seen := map[string]bool{}
	add := func(n bash32.Name, message, remedy string) {
		if !seen[n.Name] {
			seen[n.Name] = true
			list = append(list, finding.Finding{ID: "confine.too_small", Path: s.label, Line: n.Line,
				Message: message, Fix: "declare " + remedy})
		}
	}
	subject := &sandbox.Subject{Script: s.tool, Needs: *s.needs}
	network := s.needs.Has(access.Network) || len(s.needs.Connect) > 0
	for _, command := range parsed.Commands {
		n := bash32.Name{Name: command.Words[0], Line: command.Line}
		switch {
		case parsed.Defines(n.Name) > 0 || isBuiltin(n.Name) || !isProgramName.MatchString(n.Name) || isJSONTool(n.Name),
			strings.HasPrefix(n.Name, "mcp_"):
		case !c.sandbox().Starts(subject, n.Name):
			add(n, "starts "+n.Name+", which its declaration does not permit", access.ProgramRemedy(n.Name))
		case !network && usesNetwork(command.Words):
			add(n, n.Name+" talks to other hosts, which its declaration does not permit", access.NetworkRemedy)
		}
	}
	if !s.needs.Has(access.FileSystem) && !s.needs.Has(access.Edit) && len(s.needs.Write) == 0 {
		moves := parsed.Calls("cd") || parsed.Calls("pushd") // perhaps to its private directory
		for _, n := range parsed.Written {
			if moves && !path.IsAbs(n.Name) {
				continue
			}
			add(n, "writes "+n.Name+", which its declaration does not permit", access.FileRemedy(string(access.Edit)))
		}
	}
	return list
}

// isJSONTool reports whether every tool can start a program, because the server passes it on (CF-15).
func isJSONTool(program string) bool { return program == "jq" || program == "gojq" }

// usesNetwork reports whether a command is one of the common programs that talk to other hosts.
func usesNetwork(words []string) bool {
	switch words[0] {
	case "curl", "wget", "ssh", "scp", "sftp", "ftp", "telnet", "ping", "dig", "nslookup", "host", "nc", "ncat":
		return true
	case "git":
		return len(words) > 1 && slices.Contains([]string{"clone", "fetch", "pull", "push", "ls-remote"}, words[1])
	}
	return false
}

// sandbox returns a sandbox of the project, which confines nothing here.
func (c *check) sandbox() *sandbox.Sandbox {
	if c.confinement == nil {
		c.confinement = sandbox.New(sandbox.Config{
			Project: c.p, State: &project.State{}, Mode: access.Confinement{Declared: true},
			Log: func(mcp.Level, string, string) {},
			Listed: func() ([]sandbox.Listed, error) {
				var completions []string
				for _, o := range c.offered.items[kinds.Completions] {
					completions = append(completions, o.path)
				}
				return engine.Listed(c.p, c.offered.entries(kinds.Tools), completions), nil
			},
		})
	}
	return c.confinement
}
