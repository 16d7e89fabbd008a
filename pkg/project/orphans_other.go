//go:build !linux

package project

// killOrphans cannot tell whose a process is where there is no /proc. On Windows a job object ends with its
// owner.
func killOrphans(dir string) {}

func runningFor(dir string) []int { return nil }

func programOf(pid int) string { return "" }
