// Package swap puts one directory into the place of another.
package swap

import "errors"

// errUnsupported is returned where the system, or the file system, cannot exchange
// two names.
var errUnsupported = errors.New("two names cannot be exchanged in one step here")

// Exchange has two paths of one file system name each other's files, in one step:
// whoever looks meanwhile finds something whole under either (CLI-1710).
func Exchange(a, b string) error { return exchange(a, b) }
