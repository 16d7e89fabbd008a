// Package observe records the operations of a script without another program. A seccomp filter
// reports system calls that open files, start programs and contact hosts to a listener in this
// process. The package knows nothing about tools.
//
// The filter belongs to a thread, and forked processes inherit it. Each reported call waits until
// the listener has read its arguments, and then continues. The result is a report and not a
// barrier: the text behind a pointer may change before the kernel reads it.
package observe
