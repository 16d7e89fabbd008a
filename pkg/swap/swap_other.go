//go:build !linux && !darwin

package swap

func exchange(string, string) error { return errUnsupported }
