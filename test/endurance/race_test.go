//go:build race

package endurance

// raceFlag: what is tested with the race detector is built with it.
var raceFlag = []string{"-race"}
