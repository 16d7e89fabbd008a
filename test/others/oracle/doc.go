// Package oracle compares the git provider with go-git (RES-121 to RES-126). The git program creates and
// packs repositories, and its http-backend serves them. The provider and go-git must read
// the same bytes.
package oracle
