package script

import "os"

const onWindows = true

var programExtensions = []string{".exe", ".com", ".bat", ".cmd"}

func isProgram(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}
