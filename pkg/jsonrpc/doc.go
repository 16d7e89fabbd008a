// Package jsonrpc moves JSON-RPC 2.0 messages over a pair of byte streams, one
// message a line: it finds the lines, says what each one is, and writes whole
// lines from many goroutines without mixing them (protocol sections 4 and 5).
package jsonrpc
