package jq

import (
	"fmt"
	"strings"
)

const helpHead = `jq - the JSON processor of mcp-bash, compatible with jq 1.7

Usage:
  jq [OPTION...] [FILTER [FILE...]]
  jq [OPTION...] -f FILTER-FILE [FILE...]
  jq [OPTION...] FILTER --args [STRING...]
  jq [OPTION...] FILTER --jsonargs [JSON...]

Applies FILTER to each JSON value in the files, or in standard input, and
writes the results. Without a filter, or with the filter ".", it writes its
input. Short options can be combined: -rc.

Examples:
  jq -r .name config.json
  jq -n --arg name World '{greeting: ("Hello " + $name)}'
  jq -c '.items[] | select(.size > 10)' < list.json

Options:
`

const helpTail = `
Exit codes:
  0  success
  1  with -e: the last result is false or null
  2  wrong options, or a file that cannot be read
  3  the filter does not compile
  4  with -e: there are no results
  5  the filter failed, or the input is not JSON

The language is described at https://jqlang.org/manual. This jq differs in four
ways. Integers of any size keep their digits. Paths such as .a.b[0] keep the order
of an object's members, and other filters sort them. Regular expressions have no
look-around and no back-references. There are no --seq, --stream and --color-output.
`

func help() string {
	var b strings.Builder
	b.WriteString(helpHead)
	for _, f := range flagList() {
		short := "    "
		if f.short != 0 {
			short = fmt.Sprintf("-%c, ", f.short)
		}
		fmt.Fprintf(&b, "  %s%-26s %s\n", short, strings.TrimSpace("--"+f.long+" "+f.words), f.help)
	}
	b.WriteString(helpTail)
	return b.String()
}
