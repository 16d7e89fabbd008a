// Package cli holds what every command of the family does alike: the version,
// exit codes, how options are read, how errors are told, and what a terminal
// is (cli chapter 1).
package cli
