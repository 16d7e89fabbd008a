package output

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"mcp-bash/pkg/cli"
	"mcp-bash/test/checkout"
	"mcp-bash/test/pty"
)

var (
	// isUnit matches a line with one unit: a word, an option with its value, or a quoted text.
	isUnit = regexp.MustCompile("^ *(?:\\S+|\\[?--?[\\w-]+ [A-Z\\[][^a-z ]*|[(]?(?:\"[^\"]*\"|`[^`]*`|'[^']*')\\S*)$")
	// isCut matches the end of a line with an option before a line with its value.
	isCut = regexp.MustCompile(`(?m)^.*[ (\[]--[\w-]+\n *[A-Z][A-Z0-9_,.|:=]*\]?(?:\s|$).*$`)
	// leftOut matches an option with its value in the left column of a help text.
	leftOut = regexp.MustCompile(`(?m)^  (?:-\w, )?(--[\w-]+(?: \S+)?)(?:  .*)?$`)
	// isOption matches a line that has only an option, whose explanation follows.
	isOption = regexp.MustCompile(`^  (?:-\w, )?--[\w-]+$`)
)

// on returns what a command prints on a terminal of a width.
func (p place) on(t *testing.T, columns uint16, script string) string {
	t.Helper()
	_, screen := pty.StartWide(t, p.command(t, script), columns).Wait()
	return strings.ReplaceAll(screen, "\r\n", "\n")
}

// checkWidth reports lines that are too long although they can be broken, and options without their values.
func checkWidth(t *testing.T, command, text string, columns int) {
	t.Helper()
	section := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line != "" && line[0] != ' ' {
			section = line
		}
		isExample := section == "Examples:" && !strings.HasPrefix(line, "  #")
		if cli.Columns(line) > columns && !isExample && !isUnit.MatchString(line) {
			t.Errorf("%s: %d columns of %d: %s", command, cli.Columns(line), columns, line)
		}
	}
	for _, cut := range isCut.FindAllString(text, -1) {
		if first, _, _ := strings.Cut(cut, "\n"); !isOption.MatchString(first) {
			t.Errorf("%s at %d columns: an option without its value:\n%s", command, columns, cut)
		}
	}
}

// CLI-1160: no help text has a line that is too long for the terminal, or separates an option from its value.
func TestHelpWidths(t *testing.T) {
	home := checkout.Directory(t)
	p := place{home, home}
	leaves, groups := commands(t, p)
	options := map[string][]string{} // of a group: those of its commands
	for _, command := range slices.Concat(leaves, groups) {
		for _, m := range leftOut.FindAllStringSubmatch(p.on(t, 120, command+" --help"), -1) {
			options[command] = append(options[command], m[1])
		}
		for _, columns := range []uint16{40, 80} {
			text := p.on(t, columns, command+" --help")
			checkWidth(t, command, text, int(columns))
			for _, option := range options[command] {
				if !strings.Contains(text, option) {
					t.Errorf("%s at %d columns: %s is separated", command, columns, option)
				}
			}
		}
	}
	if len(options["mcp-runtool"]) < 20 {
		t.Fatalf("%q", options)
	}
}

// CLI-126: warnings, findings and errors fit the terminal, and keep options and their values together.
func TestMessageWidths(t *testing.T) {
	home := checkout.Directory(t)
	p := place{home, home}
	const project = `mkdir -p server.d tools/greet && echo '{"name":"demo"}' >server.d/server.meta.json
		echo '{"name":"greet","arguments":{}}' >tools/greet/tool.meta.json
		printf '#!/usr/bin/env bash\nread -r name\necho "$GREETING_KEY"\n' >tools/greet/tool.sh
		chmod +x tools/greet/tool.sh`
	if out, err := p.command(t, project).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for command, want := range map[string]string{
		"mcp-bash validate":                         "add \"description\":",
		"mcp-bash doctor":                           "Project (if in project directory)",
		"mcp-runtool greet --allow-self":            "Line 2 (read -r name)",
		"MCPBASH_TOOL_ALLOWLIST= mcp-runtool greet": "mcp-bash run-tool greet --allow-self",
		"mcp-bundle bundle --platform nowhere":      "nowhere",
		"mcp-scaffold config --client no-client":    "no-client",
		"mcp-bash run-tool greet --no-such":         `"mcp-bash run-tool --help"`,
	} {
		for _, columns := range []uint16{40, 80} {
			screen := p.on(t, columns, "export GREETING_KEY=a NO_COLOR=1; "+command)
			checkWidth(t, command, screen, int(columns))
			if joined := strings.Join(strings.Fields(screen), " "); !strings.Contains(joined, want) {
				t.Errorf("%s at %d columns does not print %q:\n%s", command, columns, want, screen)
			}
		}
	}
}
