// Package endurance runs a server under mixed load and injects faults. Scripts attack their hand-off
// files. Scripts and the server get SIGKILL. FIFOs replace files of the project. A client
// stops reading.
//
// The server answers every request exactly once, except cancelled ones. It leaves no process, file or
// descriptor behind, and its memory does not grow. The same holds for a server over HTTP, to which 1,000 clients and
// more come and from which they leave.
//
//	go test -race ./test/endurance              a few seconds
//	go test -race ./test/endurance -for 30m     half an hour
package endurance
