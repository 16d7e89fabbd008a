package registry

import (
	"encoding/json"
	"iter"
	"runtime"
)

// shareSize is the size of the items of one part, in bytes.
const shareSize = 64 << 10

// parts calls write for every item and yields the buffers in order. It divides long lists
// among the processors, and limits the number of buffers in memory.
func parts(items []json.RawMessage, write func(dst []byte, i int, item json.RawMessage) []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var ahead []chan []byte
		for start := 0; start < len(items) || len(ahead) > 0; {
			for start < len(items) && len(ahead) < 2*runtime.GOMAXPROCS(0) {
				from, to, size := start, start, 0
				for to < len(items) && size < shareSize {
					size += len(items[to])
					to++
				}
				start = to
				part := func() []byte {
					buf := make([]byte, 0, 2*size)
					for i := from; i < to; i++ {
						buf = write(buf, i, items[i])
					}
					return buf
				}
				if from == 0 && to == len(items) {
					yield(part())
					return
				}
				done := make(chan []byte, 1)
				ahead = append(ahead, done)
				go func() { done <- part() }()
			}
			if !yield(<-ahead[0]) {
				return
			}
			ahead = ahead[1:]
		}
	}
}
