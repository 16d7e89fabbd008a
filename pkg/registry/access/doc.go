// Package access decides which tools a server offers (registry section 20).
//
// A tool declares capabilities, and a project is used at a security [Level], which
// covers a set of capabilities. A level does not sandbox a tool. [Confinement]
// selects the tools that the kernel confines to their declarations.
package access
