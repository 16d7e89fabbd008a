//go:build !race

package httpd

import "testing"

// Requests that start no script need few allocations. net/http is not included. The race detector empties pools at
// random.
func TestFewAllocations(t *testing.T) {
	for _, q := range quickRequests(t) {
		for i, send := range q.send {
			if n := testing.AllocsPerRun(200, send); n > q.most[i] {
				t.Errorf("%s %d: %v allocations, at most %v are expected", q.method, i, n, q.most[i])
			}
		}
	}
}
