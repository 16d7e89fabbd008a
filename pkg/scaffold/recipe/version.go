package recipe

import (
	"cmp"
	"strconv"
	"strings"

	"mcp-bash/pkg/text/lazyregexp"
)

// A Version is a range of versions: From is the first for which the recipe is right, Below the first for which it is
// not. Words make the program print its version.
type Version struct {
	Words []string `json:"words,omitempty"`
	From  string   `json:"from,omitempty"`
	Below string   `json:"below,omitempty"`
}

// Versions in the output of a program: with dots, or else a number.
var (
	dotted = lazyregexp.New(`[0-9]+(?:\.[0-9]+)+`)
	number = lazyregexp.New(`[0-9]+`)
)

// VersionIn returns the first version in the output of a program, or "".
func VersionIn(output string) string {
	return cmp.Or(dotted.FindString(output), number.FindString(output))
}

// CommandLine returns the words that make the program print its version.
func (v *Version) CommandLine() []string {
	if len(v.Words) > 0 {
		return v.Words
	}
	return []string{"--version"}
}

// Contains reports whether the range has a version.
func (v *Version) Contains(version string) bool {
	return version != "" && (v.From == "" || compare(version, v.From) >= 0) &&
		(v.Below == "" || compare(version, v.Below) < 0)
}

// String describes the range: "from 13 below 16".
func (v *Version) String() string {
	var parts []string
	if v.From != "" {
		parts = append(parts, "from "+v.From)
	}
	if v.Below != "" {
		parts = append(parts, "below "+v.Below)
	}
	return strings.Join(parts, " ")
}

// compare compares two versions, number by number. A missing number is 0.
func compare(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		m, _ := strconv.ParseUint(cmp.Or(x, "0"), 10, 64) // too large a number is the largest
		n, _ := strconv.ParseUint(cmp.Or(y, "0"), 10, 64)
		if c := cmp.Compare(m, n); c != 0 {
			return c
		}
	}
	return 0
}
