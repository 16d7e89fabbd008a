//go:build !linux

package serve

// shield does nothing: other systems do not show the descriptors of a process in the file system,
// and have no such setting for what they do show.
func shield() {}
