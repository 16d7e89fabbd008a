// Package git is the provider of git+https:// resources. It fetches one file of one commit over the
// smart HTTP protocol, into memory.
//
// The package speaks version 2 of the protocol, and version 0 or 1 with older servers. It lists the
// refs and fetches one commit without history. If the server supports filters, it fetches only the
// requested file. It writes nothing to disk, starts no program, reads no Git configuration and
// sends no credentials. It ignores submodules, LFS, attributes and hooks. Each object is verified
// by its hash.
//
// docs/decisions/libraries.md explains why the package uses no Git library.
package git
