package script

// Prepare makes what scripts need, unless that was done before. Run does it
// too; it is for those who put something in place for a script first.
func (r *Runner) Prepare() error {
	if r.Ready == nil {
		return nil
	}
	return r.Ready()
}
