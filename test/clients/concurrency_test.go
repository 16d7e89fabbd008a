//go:build unix

package clients

import (
	"fmt"
	"sync"
	"testing"

	"mcp-bash/test/checkout"
)

// Many calls at a time: each gets its own answer and its own progress (protocol
// P-1802, T-49).
func TestConcurrentCalls(t *testing.T) {
	t.Parallel()
	s := open(t, checkout.Example(t, "00-hello"), opening{})
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			name := fmt.Sprint("number ", i)
			result, err := s.request(s.deadline(), "hello", arguments{"name": name})
			if err != nil {
				t.Error(err)
			} else if got := text(t, result); got != "Hello, "+name+"!" {
				t.Errorf("%q for %s", got, name)
			}
		})
	}
	wg.Wait()
}
