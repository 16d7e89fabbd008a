package script

// A Waker does nothing on Windows, where Watch is called at each interval.
type Waker struct{}

// NewWaker returns a Waker.
func NewWaker() (*Waker, error) { return &Waker{}, nil }

// Wake does nothing.
func (*Waker) Wake() {}

// Close does nothing.
func (*Waker) Close() {}
