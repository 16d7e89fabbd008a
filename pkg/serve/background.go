package serve

import "sync"

// background calls a function on another goroutine. It returns a function that waits for the
// result.
func background[T any](f func() (T, error)) func() (T, error) {
	result := sync.OnceValues(f)
	go result()
	return result
}
