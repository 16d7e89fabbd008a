package scaffold

import (
	"bytes"
	"path/filepath"

	"mcp-bash/pkg/files/boundedfile"
	"mcp-bash/pkg/text/lazyregexp"
)

// maxHead limits how much of a program is read.
const maxHead = 4 << 10

// execLine matches the line of a shell script that runs another program in its place.
var execLine = lazyregexp.New(`(?m)^[ \t]*exec ["']?(/[^"'\s$]+)["']?(?:[ \t]|$)`)

// inPlace returns the program that a script runs in its place, or "" (WRAP-36).
func inPlace(file string) string {
	resolved, err := filepath.EvalSymlinks(file)
	if err != nil {
		return ""
	}
	head, _ := boundedfile.ReadHead(resolved, maxHead)
	if m := execLine.FindSubmatch(head); m != nil && bytes.HasPrefix(head, []byte("#!")) {
		return string(m[1])
	}
	return ""
}
