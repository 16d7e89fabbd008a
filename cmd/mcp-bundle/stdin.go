package main

import (
	"bufio"

	"mcp-bash/pkg/cli"
	"mcp-bash/pkg/project"
)

// maxStdin is how large a bundle on standard input may be, in bytes.
const maxStdin = 2 << 30

// stdin is the operand that names standard input.
const stdin = "-"

// inputFile returns the file that an operand names: for "-" a copy of standard input, until remove is
// called (CLI-118).
func inputFile(s cli.Streams, operand string) (file string, remove func(), err error) {
	if operand != stdin {
		return operand, func() {}, nil
	}
	in := bufio.NewReader(s.In)
	name := "stdin.mcpb"
	if head, _ := in.Peek(1); string(head) == "{" {
		name = "stdin.json" // a manifest by itself
	}
	return project.Spool(project.OSEnv(), in, name, maxStdin)
}
