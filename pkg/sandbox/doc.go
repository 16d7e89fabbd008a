// Package sandbox confines the scripts of a project to their permissions (confine.md).
//
// It makes a profile from the declaration of a tool, the roots of a call and the operator's
// mode. It also creates a private directory for the script and selects the confined thread
// that starts the script. Package confine translates a profile for the kernel, and package
// script manages the threads.
package sandbox
