// Package invoke recognises command lines that ask for a helper of mcp-bash, and hands them to
// mcp-bash. Programs other than mcp-bash import it instead of the helpers, whose jq and network
// client would make each of them 4 to 5 MB larger.
package invoke

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mcp-bash/pkg/run/script"
)

// Flag is the first argument of a command line that asks for a helper.
const Flag = "--helper"

// program is the file name of a link to a program that is to act as the JSON helper.
const program = "mcp-jq"

// Is reports whether a command line, which begins with the program's name, asks for a helper.
// Either its first argument is [Flag], or the program is called mcp-jq.
func Is(argv []string) bool {
	return len(argv) > 1 && argv[1] == Flag ||
		len(argv) > 0 && strings.TrimSuffix(filepath.Base(argv[0]), ".exe") == program
}

// Forward runs a command line with the mcp-bash next to this program, or on PATH. It returns the
// exit code, and on Unix it returns only after an error.
func Forward(argv []string) int {
	path := script.Find("mcp-bash", os.Getenv("PATH"))
	if path == "" {
		fmt.Fprintln(os.Stderr, "scripts need mcp-bash, which is neither next to this program nor on PATH")
		return 127
	}
	if argv[min(1, len(argv)-1)] != Flag {
		argv = append([]string{argv[0], Flag, "jq"}, argv[1:]...)
	}
	code, err := script.Replace(path, argv, os.Environ())
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
		return 127
	}
	return code
}
