//go:build !linux

package project

// killOrphans does nothing, because without /proc the owner of a process is unknown. On Windows, a job object ends
// with its owner.
func killOrphans(dir string) {}

func runningFor(dir string) []int { return nil }

func programOf(pid int) string { return "" }
