//go:build !linux

package script

import "context"

// CollectOrphans does nothing: only Linux has containers whose process 1 is a server.
func (r *Runner) CollectOrphans(context.Context) {}
