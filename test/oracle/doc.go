// Package oracle holds the git provider against others: repositories are made
// and packed by the git program, served by its http-backend, and read by the
// provider and by go-git, which must come to the same bytes (RES-121 to
// RES-126).
//
// It is a module of its own, so that the product does not depend on go-git, nor on mcp-go,
// whose client runs the examples in the package below.
package oracle
