// Package oracle compares the git provider with go-git (RES-121 to RES-126). The git program creates and
// packs repositories, and its http-backend serves them. The provider and go-git must read
// the same bytes.
//
// It is a separate module, so the product does not depend on go-git, nor on mcp-go, whose client runs
// the examples in the package below.
package oracle
