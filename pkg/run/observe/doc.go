// Package observe sees what a script does, without another program: a seccomp filter tells a
// listener in this process of the system calls by which files are opened, programs
// started and hosts contacted (confine.md chapter 6). It knows nothing of tools.
//
// The filter belongs to a thread and is inherited by what that forks. Each call that it tells of
// waits until we have looked at its arguments, and then goes on as if nothing were. What is seen is
// what the script meant to do then; it is a report and no barrier, as the text behind a pointer may be
// another one by the time that the kernel reads it.
package observe
