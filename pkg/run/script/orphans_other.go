//go:build !linux

package script

import "context"

// CollectOrphans does nothing: only Linux has containers whose process 1 is a server.
func (r *Runner) CollectOrphans(context.Context) {}

// AdoptOrphans does nothing: only Linux lets a process adopt others.
func AdoptOrphans() {}

func (r *Runner) killOrphans() bool { return false }
