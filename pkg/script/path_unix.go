//go:build unix

package script

import "os"

const onWindows = false

var programExtensions = []string{""}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
