package server

import "errors"

// clientGone is the end when the client has closed our output (P-904).
var clientGone = exit{code: 1, kill: true, silent: true, say: "mcp-bash: stdout closed; exiting"}

// writeFailed ends the server after any failure of standard output: a message is missing or cut off,
// and the client cannot notice (P-1103).
func (s *Server) writeFailed(err error, _ int) {
	if errors.Is(err, errHangup) {
		s.leave(clientGone)
		return
	}
	lost := exit{code: 1, kill: true, silent: true, say: "mcp-bash: write standard output: " + err.Error() + "; exiting"}
	s.lost.Store(&lost)
	s.leave(lost)
}
