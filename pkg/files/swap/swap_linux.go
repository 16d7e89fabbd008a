package swap

import "golang.org/x/sys/unix"

const unsupported = unix.ENOSYS

func rename(at int, a, b string) error { return unix.Renameat2(at, a, at, b, unix.RENAME_EXCHANGE) }
