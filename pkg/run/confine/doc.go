// Package confine has the kernel hold a thread, and all that it forks, to what a
// profile allows: files by a Landlock domain, sockets and what Landlock does not
// know by a seccomp filter (confine.md). It knows nothing of scripts or projects.
//
// Both belong to a thread and are inherited, so no helper process is needed: a
// thread is confined once, and forks every script of that profile. This process
// as a whole stays as it is, with two exceptions, without which a script could
// get at it through the confined thread, with which it shares a domain: nobody
// may trace it any more, and that thread cannot be signalled (CF-21).
package confine
