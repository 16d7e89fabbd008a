//go:build !linux

package boundedfile

// ReadDirect reads nothing on this system.
func ReadDirect(string, int) (text []byte, ok bool) { return nil, false }
