//go:build !race

package endurance

var raceFlag []string
