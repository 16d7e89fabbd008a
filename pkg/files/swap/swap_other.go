//go:build !linux && !darwin

package swap

import "os"

func exchange(*os.File, string, string) error { return ErrUnsupported }
