//go:build unix

package clients

import (
	"testing"
	"time"
)

// eventually waits for a condition that another process makes true without a signal. It fails
// after patience.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(patience); !happened(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}
