package script

import "os"

const onWindows = true

const nonblock = 0

var programExtensions = []string{".exe", ".com", ".bat", ".cmd"}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
