package settings

import (
	"slices"
	"strings"

	"mcp-bash/pkg/cli"
)

// prefix begins the names that belong to mcp-bash.
const prefix = "MCPBASH_"

// Unknown returns a line for each variable that begins with MCPBASH_ and that no program reads. The line has the known
// name that it resembles (E-13). The project itself uses the names of but.
func Unknown(env map[string]string, but []string) (lines []string) {
	var known []string
	for name := range env {
		own, ok := strings.CutPrefix(name, prefix)
		if !ok || Find(name) != nil || slices.Contains(but, name) {
			continue
		}
		if known == nil {
			known = suffixes()
		}
		line := name + " is not a variable of mcp-bash, so only scripts see it"
		if near := cli.Nearest(own, known); near != "" {
			line += cli.Meant(prefix + near)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// suffixes returns the names that programs read, without the prefix.
func suffixes() (list []string) {
	for v := range where(func(v *Variable) bool { return v.Kind != Export && strings.HasPrefix(v.Name, prefix) }) {
		list = append(list, v.Name[len(prefix):])
	}
	return list
}
