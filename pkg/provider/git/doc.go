// Package git is the provider of git+https:// resources (resources section 12):
// one file of one commit of a repository, fetched over the smart HTTP protocol
// into memory.
//
// It speaks just as much of the protocol as that takes (version 2, and the
// older one where a server knows no other): list the refs, fetch one commit
// without its history and, where the server can leave them out, without its
// files, then the one file. Nothing is written to disk, no program is run, no
// configuration is read, no credentials are sent; submodules, LFS, attributes and
// hooks mean nothing here. What is received is hashed, and only what hashes to
// the id that leads to it is used.
//
// Why not a library: docs/ARCHITECTURE.md.
package git
