// Package sandbox decides what the scripts of a project may do, and has the kernel
// hold them to it: from what a tool declares, the roots of a call and the operator's
// mode it makes a profile (confine.md), gives the script a private directory, and finds
// the thread that forks it.
//
// What the kernel can hold is package confine's concern; the threads are those of
// package script.
package sandbox
