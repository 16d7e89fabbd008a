//go:build !unix

package cli

// Width returns otherwise, because this system does not report the width.
func Width(_ any, otherwise int) int { return otherwise }
