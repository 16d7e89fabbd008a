// Package usage reads what a program says about its own command line: its help text,
// its manual page, its answers to shells that complete. It knows nothing of processes and
// files, and what it reads may be anything: every reader is bounded, and gives less rather
// than something wrong (WRAP-20 to WRAP-29).
package usage
