package debian

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed programs.txt
var programs string

// PackageOf returns the package that contains a program. Most packages have the name of their program.
func PackageOf(program string) string {
	for line := range strings.Lines(programs) {
		name, list, _ := strings.Cut(line, ":")
		if slices.Contains(strings.Fields(list), program) {
			return name
		}
	}
	return program
}
