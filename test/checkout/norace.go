//go:build !race

package checkout

// Race says whether the tests run with the race detector.
const Race = false
