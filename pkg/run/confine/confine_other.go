//go:build !linux

package confine

// Offered returns the features of the running kernel: none on this system.
func Offered() Kernel { return Kernel{} }

// Key identifies a profile.
func (p *Profile) Key() string { return "" }

// Enter fails, because this system cannot confine threads.
func (k Kernel) Enter(*Profile) error { return errNotAvailable }

// IsSystem reports whether every confined script may read and start a program.
func IsSystem(string) bool { return false }
