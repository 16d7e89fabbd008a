package guard

// Challenge returns the value of WWW-Authenticate for a token that lacks a scope (H-423).
func (g *Guard) Challenge(scope string) string {
	return g.challenge("insufficient_scope", "the token lacks a scope", []string{scope})
}
