package project

import "io/fs"

const nonblock = 0

// distrust finds nothing wrong: Windows has neither mode bits nor owners of this
// kind.
func distrust(path string, info fs.FileInfo, shared bool) string { return "" }
