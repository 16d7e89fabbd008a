//go:build !linux

package project

// checkStraight cannot tell here.
func checkStraight(toolsDir, script string) (decided bool, err error) { return false, nil }
