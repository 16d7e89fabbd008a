// Package confine limits a thread, and all processes that it forks, to a profile. A Landlock domain
// controls files. A seccomp filter controls sockets and operations that Landlock does not cover.
// The package knows nothing about scripts and projects.
//
// Both mechanisms belong to a thread and are inherited, so no helper process is needed. A thread is
// confined once, and forks every script of that profile. The process itself stays unconfined, with
// two exceptions: it can no longer be traced, and the confined thread cannot be signalled.
// Otherwise scripts could reach the process through the thread, which is in their domain (CF-21).
package confine
