//go:build !linux

package script

import (
	"context"
	"errors"
	"os"

	"mcp-bash/pkg/run/confine"
)

type confinements struct{}

// A Confined is the use of a confinement, for [Spec]. This system has no confinements.
type Confined struct{}

// Confine fails, because this system cannot confine scripts.
func (r *Runner) Confine(k confine.Kernel, p *confine.Profile) (*Confined, error) {
	return nil, k.Enter(p)
}

// Prepared runs prepare. Scripts do not start on separate threads on this system.
func (r *Runner) Prepared(prepare func() error) (*Confined, error) {
	return nil, prepare()
}

// Threads returns 0.
func (r *Runner) Threads() int { return 0 }

// Release ends the use of a confinement.
func (u *Confined) Release() {}

// OpenRegular fails, because this system has no confinements.
func (u *Confined) OpenRegular(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// CollectOrphans does nothing: only Linux has containers whose process 1 is a server.
func (r *Runner) CollectOrphans(context.Context) {}

// AdoptOrphans does nothing: only Linux lets a process adopt others.
func AdoptOrphans() {}

func (r *Runner) killOrphans() bool { return false }
