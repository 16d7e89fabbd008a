package handoff

// Wake does nothing. Windows has no FIFOs, so scripts poll for answers.
func (f *Folder) Wake(string) {}
