package settings

import (
	_ "embed"
	"strings"
)

// ignored are the variables of the Bash edition without effect here. A row is "setting" or "state", then names. The
// other columns are as in variables.txt. A name that ends in * stands for all names with this prefix.
//
//go:embed ignored.txt
var ignored string

// Ignored returns the names of variables that have no effect (CLI-1023). People can set settings. The server of the
// Bash edition keeps its state in the others, which no program sets here.
func Ignored() (settings, state []string) {
	for row := range strings.Lines(ignored) {
		cells := strings.Split(row, " | ")
		if cells[0] == "state" {
			state = append(state, strings.Fields(cells[1])...)
		} else {
			settings = append(settings, strings.Fields(cells[1])...)
		}
	}
	return settings, state
}
