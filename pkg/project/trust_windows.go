package project

import "io/fs"

const nonblock = 0

// DistrustMode finds nothing wrong: Windows has neither mode bits nor owners
// of this kind.
func DistrustMode(fs.FileInfo) string { return "" }
