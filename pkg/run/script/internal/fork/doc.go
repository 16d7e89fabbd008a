// Package fork starts a program in a process group that a descriptor already owns.
//
// The kernel can signal a process group when a pipe changes, also at the end of this process (see
// pkg/run/script, lifeline). It has to know the group before the program can start another process.
// The group is new, so only the new process itself can name it in time. [syscall.ForkExec] has no
// such step. This package does the same work with it.
package fork
