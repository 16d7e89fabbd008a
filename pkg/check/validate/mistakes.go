package validate

import (
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"mcp-bash/pkg/check/finding"
	"mcp-bash/pkg/check/validate/internal/bash32"
	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/registry/access"
	"mcp-bash/pkg/registry/kinds"
	"mcp-bash/pkg/registry/requirements"
	"mcp-bash/pkg/run/script"
	"mcp-bash/pkg/sandbox"
	"mcp-bash/pkg/text/lazyregexp"
)

// interpreter checks the program that a script's first line names.
func (c *check) interpreter(label string, text []byte, words []string) {
	if len(words) == 0 {
		return
	}
	line := strings.TrimRight(string(firstLine(text)), "\r\n")
	switch {
	case isPlainShell(words[0]) && needsBash.Match(text):
		c.atLine("script.plain_shell", label, 1, "line 1 (%s) starts a plain shell, and the script needs Bash", line)
	case strings.HasSuffix(words[0], "\r"): // script.crlf
	case script.Locate(words[0], c.p.Env["PATH"]) == "":
		c.atLine("script.interpreter", label, 1, "line 1 (%s) names %s, which is not installed", line, words[0])
	}
}

// isPlainShell reports whether a program is a shell that may lack features of Bash.
func isPlainShell(program string) bool {
	return slices.Contains([]string{"sh", "dash", "ash"}, path.Base(program))
}

// needsBash matches syntax that Bash has, but not every sh.
var needsBash = lazyregexp.New(`(?m)^[^#\n]*(\[\[ |tool-sdk\.sh|\bpipefail\b|\bmapfile\b|\bdeclare -|\bmcp_\w+ )`)

// mistakes returns the mistakes in a script that make a tool fail although Bash can parse it.
func (c *check) mistakes(s *shellScript, parsed *bash32.Script) (list []finding.Finding) {
	if s.as == serverScript {
		return nil
	}
	add := func(id string, line int, format string, args ...any) {
		list = append(list, finding.Finding{ID: id, Path: s.label, Line: line, Message: fmt.Sprintf(format, args...)})
	}
	if s.as == toolScript && path.Base(s.label) != smokeScript {
		process := parsed.Process()
		for _, n := range process.Terminal {
			add("script.input", n.Line, "reads /dev/tty, but tools have no terminal")
		}
		for _, n := range process.Input {
			add("script.input", n.Line, "%s reads standard input, which is empty for tools", n.Name)
		}
		for _, n := range process.Stray {
			add("script.stray_output", n.Line, "%s prints text on standard output, which has the result of the tool", n.Name)
		}
		if !endsProcesses.Match(s.text) {
			for _, n := range process.Background {
				add("script.background", n.Line, "%s runs in the background, and nothing waits for it", n.Name)
			}
		}
	}
	loads, loadsSDK := false, false
	for _, command := range parsed.Commands {
		if word := command.Words[0]; word == "source" || word == "." {
			isSDK := len(command.Words) > 1 && isSDKFile.MatchString(command.Words[1])
			loads, loadsSDK = loads || !isSDK, loadsSDK || isSDK
		}
	}
	list = append(list, c.tooSmall(s, parsed)...)
	if loads { // a sourced file may define or load anything
		return list
	}
	list = append(list, c.unpassed(s, parsed)...)
	seen := map[string]bool{}
	for _, command := range parsed.Commands {
		name := command.Words[0]
		if seen[name] || parsed.Defines(name) > 0 || strings.ContainsAny(name, "$/") {
			continue
		}
		seen[name] = true
		switch isFunction := strings.HasPrefix(name, "mcp_"); {
		case isFunction && s.as != toolScript: // a program of the author may have this name
		case isFunction && !slices.Contains(c.sdk, name):
			if loadsSDK {
				add("script.unknown_function", command.Line, "%s is not a function of the SDK%s", name,
					cli.DidYouMean(name, c.sdk))
			}
		case isFunction && !loadsSDK:
			if seen["the SDK"] {
				continue
			}
			seen["the SDK"] = true
			add("script.no_sdk", command.Line, "calls %s without loading the SDK", name)
		case isFunction || isBuiltin(name) || checksFor(parsed, name) || c.isRequired(name):
		case isProgramName.MatchString(name) && script.Locate(name, c.p.Env["PATH"]) == "":
			add("script.missing_program", command.Line, "uses %s, which is not installed", name)
		}
	}
	return list
}

// unpassed returns the variables that a script needs and does not set, and that the server does not pass on.
func (c *check) unpassed(s *shellScript, parsed *bash32.Script) (list []finding.Finding) {
	rule := &c.p.Scripts.Providers
	if s.tool != "" {
		rule = &c.p.Scripts.Tools
	}
	if rule.Inherits() || path.Base(s.label) == smokeScript || c.mayBeRegistered() {
		return nil
	}
	seen := map[string]bool{}
	for _, set := range parsed.Settings {
		seen[set.Name.Name] = true
	}
	add := func(n bash32.Name, here string) {
		if seen[n.Name] || !isVariableName.MatchString(n.Name) || alwaysSet.MatchString(n.Name) || !rule.Drops(n.Name) {
			return
		}
		seen[n.Name] = true
		list = append(list, finding.Finding{ID: "env.not_passed", Path: s.label, Line: n.Line,
			Message: fmt.Sprintf("reads %s, which %sthe server does not pass on to %s", n.Name, here, rule.Scope.Label),
			Fix:     rule.Remedy(n.Name)})
	}
	for _, n := range parsed.Needs {
		add(n, "")
	}
	for _, n := range parsed.Reads { // the default of an unset variable is used now
		if rule.DropsValue(n.Name, c.p.Env) {
			add(n, "is set here and ")
		}
	}
	return list
}

var (
	isVariableName = lazyregexp.New(`^[A-Z][A-Z0-9_]*$`)
	// alwaysSet matches variables that Bash or the server sets.
	alwaysSet = lazyregexp.New(`^(MCP.*|BASH.*|COMP_.*|COPROC.*|DIRSTACK|EPOCH.*|EUID|FUNCNAME|GROUPS|HOSTNAME|HOSTTYPE|` +
		`IFS|LINENO|MACHTYPE|MAPFILE|OPTARG|OPTIND|OPTERR|OSTYPE|PIPESTATUS|PPID|RANDOM|READLINE_.*|REPLY|SECONDS|` +
		`SHELL|SHELLOPTS|SRANDOM|UID)$`)
)

const smokeScript = "smoke.sh"

var (
	isSDKFile     = lazyregexp.New(`(^|/)(tool|ui)-sdk\.sh$`)
	endsProcesses = lazyregexp.New(`(?m)^[^#\n]*\b(wait|kill)\b`) // also in the text of a trap
	isProgramName = lazyregexp.New(`^[A-Za-z0-9_][\w.+-]*$`)
)

var builtins = sync.OnceValue(func() []string {
	return strings.Fields(`: . [ alias bg bind break builtin caller cd command compgen complete compopt continue
	coproc declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local
	logout mapfile popd printf pushd pwd read readarray readonly return select set shift shopt source suspend test time
	times trap true type typeset ulimit umask unalias unset wait`)
})

func isBuiltin(name string) bool { return slices.Contains(builtins(), name) }

func checksFor(s *bash32.Script, program string) bool {
	return slices.ContainsFunc(s.Commands, func(c bash32.Command) bool {
		return slices.Contains([]string{"command", "type", "hash", "which"}, c.Words[0]) &&
			slices.Contains(c.Words[1:], program)
	})
}

// isRequired reports whether server.d/requirements.json lists a program, which requirements.missing reports.
func (c *check) isRequired(program string) bool {
	r, _ := requirements.Read(c.p)
	return r != nil && slices.ContainsFunc(r.Dependencies, func(d requirements.Dependency) bool {
		return slices.ContainsFunc(d.Programs, func(name string) bool { return filepath.Base(name) == program })
	})
}

// confine checks the entries of a tool's "confine".
func (c *check) confine(doc json.RawMessage, label string) {
	needs, err := access.DeclarationOf(doc)
	if err != nil {
		return // reported as unreadable
	}
	faults, err := c.sandbox.Faults(&needs)
	if err != nil {
		c.at("confine.no_effect", label, "%v", err)
	}
	for _, f := range faults {
		id := "confine.no_effect"
		if f.Missing() {
			id = "confine.missing"
		}
		c.at(id, label, "confine.%s: %s %v", f.List, f.Entry, f.Err)
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

// tooSmall returns the commands of a script that its declaration does not permit.
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
		case !c.sandbox.Starts(subject, n.Name):
			add(n, "starts "+n.Name+", which its declaration does not permit", access.ProgramRemedy(n.Name))
		case !network && usesNetwork(command.Words):
			add(n, n.Name+" talks to other hosts, which its declaration does not permit", access.NetworkRemedy)
		}
	}
	if !s.needs.Has(access.FileSystem) && !s.needs.Has(access.Edit) && len(s.needs.Write) == 0 {
		moves := parsed.Calls("cd") || parsed.Calls("pushd") // the script may change to its private directory
		for _, n := range parsed.Written {
			if moves && !path.IsAbs(n.Name) {
				continue
			}
			add(n, "writes "+n.Name+", which its declaration does not permit", access.FileRemedy(string(access.Edit)))
		}
	}
	return list
}

// isJSONTool reports whether every tool can start a program, because the server passes it on.
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
