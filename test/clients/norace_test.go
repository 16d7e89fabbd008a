//go:build !race

package clients

var raceFlag []string
