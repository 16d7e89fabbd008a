// Package endurance keeps a server under mixed load while faults are injected:
// scripts that attack their hand-off files, scripts and the server killed with
// SIGKILL, pipes in place of the project's files, a client that does not read,
// and more. Whatever happens, every request is answered exactly once unless it
// was cancelled, and nothing is left behind: no process, no file, no descriptor,
// no memory.
//
//	go test -race ./test/endurance              a few seconds
//	go test -race ./test/endurance -for 30m     as long as that
package endurance
