package script

// Prepare calls Ready if it is set. Run calls it too. Callers that create files for a script call it first.
func (r *Runner) Prepare() error {
	if r.Ready == nil {
		return nil
	}
	return r.Ready()
}
