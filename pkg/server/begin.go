package server

import "sync"

// begin starts to work something out, and returns a function that waits for
// what it came to.
func begin[T any](f func() (T, error)) func() (T, error) {
	result := sync.OnceValues(f)
	go result()
	return result
}
