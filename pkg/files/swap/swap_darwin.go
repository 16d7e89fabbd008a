package swap

import "golang.org/x/sys/unix"

const unsupported = unix.ENOTSUP

func rename(at int, a, b string) error { return unix.RenameatxNp(at, a, at, b, unix.RENAME_SWAP) }
