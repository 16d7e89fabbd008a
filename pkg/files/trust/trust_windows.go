package trust

import "io/fs"

// distrust always returns nil, because Windows has neither mode bits nor numeric owners.
func distrust(path string, info fs.FileInfo, shared bool, owner int) error { return nil }
