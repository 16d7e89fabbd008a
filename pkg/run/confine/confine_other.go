//go:build !linux

package confine

// Offered returns what the running kernel offers: nothing, on this system (CF-32).
func Offered() Kernel { return Kernel{} }

// Key tells profiles apart.
func (p *Profile) Key() string { return "" }

// Enter confines the calling thread, which cannot be done on this system.
func (k Kernel) Enter(*Profile) error { return errNotAvailable }

// IsSystem reports whether everything confined may read and start a program.
func IsSystem(string) bool { return false }
