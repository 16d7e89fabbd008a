package danger

import (
	"regexp"
	"strings"
	"testing"
)

// WRAP-26: programs that execute their arguments, with any version in their names.
func TestPrograms(t *testing.T) {
	l := Load()
	for program, wants := range map[string][2]bool{
		"python3": {true, true}, "python3.13": {true, true}, "/usr/bin/perl": {true, true}, "node": {true, true},
		"xargs": {false, true}, "sqlite3": {false, true}, "docker": {false, true}, "find": {false, true},
		"sort": {false, false}, "rg": {false, false}, "m4": {false, true}, "7z": {false, false},
	} {
		if got := [2]bool{l.Interpreter(program), l.Program(program) != ""}; got != wants {
			t.Errorf("%s: %v", program, got)
		}
	}
}

// WRAP-26: the options of the issue, by name or by description.
func TestOptions(t *testing.T) {
	l := Load()
	for _, c := range []struct {
		program, name, help string
		takes               bool
	}{
		{"any", "--config", "", true}, {"curl", "-K", "read config from a file", true}, {"tar", "--to-command", "", true},
		{"restic", "-o", "set extended option", true}, {"docker", "--volume", "bind mount", true},
		{"any", "-x", "Execute a command for each result", true}, {"any", "-p", "pipe the output through PROG", true},
		{"any", "-c", "path of the configuration file", true}, {"any", "--with", "load the plugin NAME", true},
	} {
		if l.Option(c.program, []string{c.name}, c.help, c.takes) == "" {
			t.Errorf("%s %s (%s) is offered", c.program, c.name, c.help)
		}
	}
	for _, c := range []struct {
		program, name, help string
		takes               bool
	}{
		{"any", "-c", "print only a count", false}, {"any", "--reverse", "reverse the result", false},
		{"any", "-i", "ignore case", false}, {"any", "--output", "print all the output", false},
		{"any", "--out-dir", "", true}, {"any", "-w", "write the result to FILE", true}, {"sort", "-o", "", true},
		{"grep", "-f", "take patterns from FILE", true}, {"any", "-n", "the number of lines to print", true},
	} {
		if why := l.Option(c.program, []string{c.name}, c.help, c.takes); why != "" {
			t.Errorf("%s %s (%s): %s", c.program, c.name, c.help, why)
		}
	}
}

// The list is data: each entry has a reason, and each expression is valid.
func TestList(t *testing.T) {
	l := Load()
	for name, why := range l.Options {
		if !strings.HasPrefix(name, "-") || why == "" {
			t.Errorf("%s: %q", name, why)
		}
	}
	for program, options := range l.Programs {
		for name, why := range options {
			if !strings.HasPrefix(name, "-") || why == "" {
				t.Errorf("%s %s: %q", program, name, why)
			}
		}
	}
	for _, text := range l.Texts {
		if _, err := regexp.Compile(text.Pattern); err != nil || text.Why == "" {
			t.Error(err)
		}
	}
}
