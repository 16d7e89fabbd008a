package calls

import (
	"math"
	"testing"
)

// P-1401: the step is so small that the next report is still larger, and large enough for a client
// to distinguish.
func TestStepUp(t *testing.T) {
	for _, from := range []float64{-1e300, -100, -1e-9, 0, 5e-324, 0.5, 1, 50, 99, 1e6, 1 << 53, 1e300} {
		for value, n := from, 0; n < 1000; n++ {
			next := stepUp(value)
			if next <= value || from != 0 && math.Abs(next-from) > max(math.Abs(from), 1)*1e-9 {
				t.Fatalf("%v: %v after %v", from, next, value)
			}
			value = next
		}
	}
	if stepUp(0) < 1e-300 || !math.IsInf(stepUp(math.MaxFloat64), 1) {
		t.Error(stepUp(0), stepUp(math.MaxFloat64))
	}
}
