// Package serve is a running server: it opens the project, connects the client on standard input
// and output, and ends everything in order.
package serve
