package cli

import (
	"fmt"
	"io"
	"strings"

	"mcp-bash/pkg/json/rawjson"
)

// Version is the release of the commands and the SDK (README decision 13).
const Version = "2.0.0"

// stamp is in the binary of every program, so that the version of binaries for other systems can be found.
var stamp = "[mcp-bash " + Version + "]"

// Stamp returns the text that binaries of this release contain.
func Stamp() string { return stamp }

// commit is the commit of the sources, with [modified] if files differed from it. release/commit.sh prints it, and
// the linker sets it. It is "" if it is unknown.
var commit string

const modified = "-dirty"

// printVersion prints the version of a program, for asJSON with its commit.
func printVersion(w io.Writer, program string, asJSON bool) error {
	version := strings.TrimPrefix(strings.Trim(stamp, "[]"), "mcp-bash ")
	if !asJSON {
		_, err := fmt.Fprintf(w, "%s %s\n", program, version)
		return err
	}
	var b rawjson.Builder
	b.Object().Name("name").String(program).Name("version").String(version)
	if id, changed := strings.CutSuffix(commit, modified); id != "" {
		b.Name("commit").String(id).Name("modified").Bool(changed)
	}
	_, err := fmt.Fprintf(w, "%s\n", b.End().Bytes())
	return err
}

// Programs are the names of the programs of an installation, in the order of lists.
var Programs = []string{"mcp-bash", "mcp-runtool", "mcp-registry", "mcp-bundle", "mcp-scaffold", "mcp-doctor"}
