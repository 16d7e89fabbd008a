// Package server serves one client over standard input and output: it follows
// the session's life, gives requests to the kinds, bounds how many run, carries
// questions to the client, and ends everything in order (protocol, all of it).
//
// How a message travels. One goroutine at a time reads: it cuts a line, says
// what it is, and answers at once what costs nothing. A request that may take
// time gets the reading goroutine for itself, which first starts another one
// to read on; so no request waits for a goroutine to wake up. Answers go into
// one queue that whoever finds it idle empties.
package server
