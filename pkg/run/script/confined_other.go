//go:build unix && !linux

package script

import (
	"errors"
	"os"
	"syscall"

	"mcp-bash/pkg/run/confine"
)

type confinements struct{}

// A Confined is the use of a confinement, for [Spec]; there is none on this system.
type Confined struct{}

// Confine fails: scripts cannot be confined on this system (CF-32).
func (r *Runner) Confine(k confine.Kernel, p *confine.Profile) (*Confined, error) {
	return nil, k.Enter(p)
}

// Prepared does not start scripts on threads of their own on this system.
func (r *Runner) Prepared(prepare func() error) (*Confined, error) {
	return nil, prepare()
}

// Release says that the script has ended.
func (u *Confined) Release() {}

// OpenRegular fails, as there is no confinement on this system.
func (u *Confined) OpenRegular(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func (u *Confined) forkExec(program string, argv []string, attr *syscall.ProcAttr) (int, error) {
	return syscall.ForkExec(program, argv, attr)
}
