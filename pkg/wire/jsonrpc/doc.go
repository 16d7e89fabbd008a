// Package jsonrpc transports JSON-RPC 2.0 messages over a pair of byte streams, one message
// on each line. It splits the input into lines, classifies messages, and writes whole lines
// from many goroutines (protocol sections 4 and 5).
package jsonrpc
