//go:build unix && !linux

package clients

import "syscall"

func (s *session) asNobody(string) *syscall.SysProcAttr { return nil }
