//go:build race

package checkout

// Race reports whether the tests run with the race detector.
const Race = true
