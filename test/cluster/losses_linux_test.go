//go:build cluster

package cluster

import (
	"flag"
	"testing"
)

var (
	lossCalls    = flag.Int("calls", 10_000, "calls of each kind in each setup")
	lossRestarts = flag.Int("restarts", 20, "restarts in each setup")
)

// H-60: kept connections lose no call when servers restart.
func TestLosses(t *testing.T) {
	for _, b := range balancers {
		t.Run(b.name, func(t *testing.T) { testBalancer(t, b, *lossCalls, *lossRestarts) })
	}
	t.Run("socket", func(t *testing.T) { testSocket(t, *lossCalls, *lossRestarts) })
}
