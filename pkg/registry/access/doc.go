// Package access decides which tools may be offered: by the capabilities that a
// tool declares, and the security level at which a project is used (registry
// chapter 20).
//
// A level covers a set of capabilities. It is a gate and no sandbox: which
// tools the kernel holds to what they declare is their [Confinement].
package access
